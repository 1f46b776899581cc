import PosterCache

extension MemorySuite {
  /// Instructions, allocations and system calls of hits and inserts.
  func counts() throws -> FigureTable {
    BenchContext.progress("\(Self.name): counting")
    let memory = try CountedProgram(directory: try context.disk.makeEmpty("counted-memory")) { _ in
      CountedWork.arguments(.memory, [])
    }
    let requests = try CountedProgram(
      instruments: [.instructions],
      directory: try context.disk.makeEmpty("counted-address")
    ) { _ in CountedWork.arguments(.requests, []) }
    let names = CountedWork.memoryNames
    // The pipeline's lookups have rows of their own: the first column is what the baseline guards.
    let others = [names[0]] + names.dropFirst(2)
    func phases(_ operation: String, _ names: [String?]) -> [String?] {
      names.map { $0.map { CountedWork.phase(operation, $0) } }
    }
    let calls: (String, CountedProgram.Count) = ("system calls", .systemCalls)
    let nobody = [String?](repeating: nil, count: others.count - 1)
    return FigureTable(
      title: "Counted",
      conditions: """
        Of one operation on one thread, over \(CountedWork.posters) posters of \
        \(CountedWork.posterBytes) bytes in random order. Inserts are those of posters in turn, twice as \
        many as there is room for, so that each evicts one. Copies are counted from 1 KiB on. An address \
        is parsed, brought into canonical form and hashed into a key.
        """,
      columns: others,
      rows: memory.rows("hit", phases("hit", others), CountedProgram.ordinaryCounts + [calls])
        + memory.rows(
          "hit through \(names[1])", phases("hit", [names[1]] + nobody),
          CountedProgram.ordinaryCounts + [calls])
        + memory.rows("insert at the limit", phases("insert", others))
        + requests.rows(
          "address to key", ["address"] + nobody,
          [("instructions", .instructions), ("allocations", .allocations)]),
      isCounted: true, absent: memory.absent,
      demands: [
        FigureTable.Demand(
          text: "allocations of a hit",
          value: memory.each(.allocations, CountedWork.phase("hit", names[0]), ownThread: true),
          bound: 0),
        FigureTable.Demand(
          text: "system calls of a hit",
          value: memory.each(.systemCalls, CountedWork.phase("hit", names[0]), ownThread: true),
          bound: 0),
      ])
  }
}
