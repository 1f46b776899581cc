import PosterCache

extension DiskSuite {
  /// Instructions, allocations, copies, system calls and bytes written of hits, misses and inserts.
  func counts() throws -> FigureTable {
    BenchContext.progress("\(Self.name): counting")
    let program = try CountedProgram(directory: try context.disk.makeEmpty("counted-disk")) {
      CountedWork.arguments(.disk, [("--to", $0)])
    }
    let names = CountedWork.diskNames
    func phases(_ operation: String, _ names: [String?]) -> [String?] {
      names.map { $0.map { CountedWork.phase(operation, $0) } }
    }
    let own: [(name: String, count: CountedProgram.Count)] = [
      ("system calls", .systemCalls), ("pread", .call(["pread64"])),
    ]
    // What the writer's thread does once is not always done before.
    let insertCounts: [(name: String, count: CountedProgram.Count)] = [
      ("instructions", .instructions), ("allocations", .allocations),
      ("allocations of 8 KiB or more", .largeAllocations), ("bytes copied", .copiedBytes),
      ("system calls", .systemCalls),
    ]
    let (hits, misses, inserts) = (
      phases("hit", names), phases("miss", [names[0], names[1], nil]),
      phases("insert", [names[0], names[1], nil])
    )
    let written = inserts.map { phase in
      phase.flatMap { program.each(.writtenBytes, $0) }.map { $0 / Double(CountedWork.posterBytes) }
    }
    return FigureTable(
      title: "Counted",
      conditions: """
        Of one operation, over \(CountedWork.posters) posters of \(CountedWork.posterBytes) bytes. Hits and \
        misses on one thread, in random order. Inserts in batches of \(CountedWork.batchPosters), which are \
        written together; their counts are those of all threads, of system calls without `futex` and what \
        gets memory. Copies are counted from 1 KiB on. Written is what was passed to `write` and its kind \
        (`wchar` of `/proc/self/io`): bodies, headers, blocks filled up, index pages.
        """,
      columns: names,
      rows: program.rows("hit", hits, CountedProgram.ordinaryCounts + own)
        + program.rows("miss", misses, CountedProgram.ordinaryCounts + own.prefix(1))
        + program.rows("insert", inserts, insertCounts, ownThread: false)
        + [FigureTable.Row(name: "insert: bytes written for a byte stored", values: written)],
      isCounted: true, absent: program.absent,
      demands: [
        FigureTable.Demand(
          text: "a hit is one `pread`",
          value: hits[0].flatMap { program.each(.systemCalls, $0, ownThread: true) },
          bound: 1),
        FigureTable.Demand(
          text: "bytes written for a byte stored", value: written[0], bound: 1.19),
      ])
  }
}
