import Glibc

/// What a transfer takes in instructions, allocations, copies and system calls.
extension FetchSuite {
  func counts(_ http: HTTP, _ addresses: [String], authorities: String?) throws -> FigureTable {
    BenchContext.progress("\(Self.name): counting, \(http.title)")
    let list = "\(context.disk.path)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    let programs = try [CountedWork.Kind.fetch, .loop].map { kind in
      try CountedProgram(
        directory: try context.disk.makeNew("counted-\(kind.rawValue)")
      ) { _ in
        CountedWork.arguments(
          kind, [("--list", list)] + (authorities.map { [("--authorities", $0)] } ?? []))
      }
    }
    let bytes = CountedWork.meanBytes(context.corpus)
    func row(
      _ name: String, _ count: CountedProgram.Count, per unit: Double = 1, isGuarded: Bool = true
    ) -> FigureTable.Row {
      FigureTable.Row(
        name: name,
        values: programs.map { program in
          program.further(count, CountedWork.few, CountedWork.many).map { $0 / unit }
        }, isGuarded: isGuarded)
    }
    let rows = [
      row("instructions", .instructions), row("allocations", .allocations),
      row("allocations of 8 KiB or more", .largeAllocations),
      row("bytes allocated", .allocatedBytes),
      row("bytes copied for a byte of a body", .copiedBytes, per: bytes),
      row("connections opened", .connections),
      row("system calls", .systemCalls),
      row("of which receiving", .call(["recvfrom", "read"])),
      row("of which sending", .call(["sendto", "write"])),
      row("of which waiting", .call(["epoll_wait", "poll"]), isGuarded: false),
      row("besides: futex", .call(["futex"]), isGuarded: false),
    ]
    return FigureTable(
      title: "\(http.title): counted of a transfer",
      conditions: """
        \(CountedWork.connections) at once. What \(CountedWork.manyTransfers) transfers take beyond what \
        \(CountedWork.fewTransfers) do, from the start of a fetcher to its shutdown, over all threads. \
        Copies are counted from 1 KiB on. Under `strace` programs are slow, so that more waits for them \
        when they look.
        """,
      columns: ["Fetcher", "bare libcurl loop"], rows: rows, isCounted: true,
      absent: programs[0].absent,
      demands: [
        FigureTable.Demand(
          text: "one allocation for each body",
          value: rows[2].values[0].flatMap { ours in rows[2].values[1].map { ours - $0 } },
          bound: 1.05),
        FigureTable.Demand(
          text: "one copy of each body beside the bare loop's",
          value: rows[4].values[0].flatMap { ours in rows[4].values[1].map { ours - $0 } },
          bound: 1.05),
      ])
  }
}

extension CountedWork {
  /// The mean size of the posters by which the second phase of transfers exceeds the first.
  static func meanBytes(_ corpus: PosterCorpus) -> Double {
    let sizes = corpus.sizes[fewTransfers..<manyTransfers]
    return Double(sizes.reduce(0, +)) / Double(sizes.count)
  }
}
