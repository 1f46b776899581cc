import Glibc
import PosterCache

extension WarmSuite {
  /// What one poster of a list takes, from the network onto the disk.
  ///
  /// - Returns: what is the same in every run, and what depends on what waits for a slow program.
  func counts(_ server: WebServer) throws -> [FigureTable] {
    BenchContext.progress("\(Self.name): counting")
    let directory = try context.disk.makeEmpty("counted-warm")
    let names = context.corpus.names
    let addresses = names.map { "\(server.base)/\(PosterCorpus.folder)/\($0)" }
    let list = "\(directory)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    let pipeline = try CountedProgram(directory: try context.disk.makeEmpty("counted-pipeline")) {
      CountedWork.arguments(.warm, [("--list", list), ("--to", $0)])
    }
    let loop = try CountedProgram(directory: try context.disk.makeEmpty("counted-loop")) { _ in
      CountedWork.arguments(.loop, [("--list", list)])
    }
    var absent = pipeline.absent
    var rivals: [CountedRival] = []
    for kind in CountedRival.Kind.allCases {
      if let rival = try CountedRival(kind, Array(zip(addresses, names)), directory) {
        rivals.append(rival)
      } else {
        absent.append(Absentee(name: kind.title, reason: "not installed"))
      }
    }
    let bytes = CountedWork.meanBytes(context.corpus)
    func row(_ name: String, _ count: CountedProgram.Count, per unit: Double = 1) -> FigureTable.Row
    {
      let values =
        [pipeline, loop].map { $0.further(count, CountedWork.few, CountedWork.many) }
        + rivals.map { $0.further(count) }
      return FigureTable.Row(name: name, values: values.map { $0.map { $0 / unit } })
    }
    let connections =
      [pipeline, loop].map { $0.total(.connections, CountedWork.many) }
      + rivals.map { $0.connections }
    let reconnects = connections.map { opened in
      opened.map {
        ($0 - Double(CountedWork.connections)) / Double(CountedWork.manyTransfers) * 1000
      }
    }
    let columns = ["PosterPipeline", "bare libcurl loop"] + rivals.map(\.kind.title)
    let exact = FigureTable(
      title: "Counted of a poster",
      conditions: """
        \(CountedWork.connections) connections, HTTP/1.1. What \(CountedWork.manyTransfers) posters take \
        beyond what \(CountedWork.fewTransfers) do, over all threads; of rivals, of whole programs, which store \
        files. Copies are counted from 1 KiB on; aria2c and wget2 may copy by functions of their own. \
        Reconnects are connections opened beyond the first \(CountedWork.connections).
        """,
      columns: columns,
      rows: [
        row("instructions", .instructions), row("allocations", .allocations),
        row("allocations of 8 KiB or more", .largeAllocations),
        row("bytes allocated", .allocatedBytes),
        row("bytes copied for a byte of a body", .copiedBytes, per: bytes),
        row("bytes written for a byte stored", .writtenBytes, per: bytes),
        FigureTable.Row(name: "reconnects of 1,000 requests", values: reconnects),
      ], isCounted: true, absent: absent,
      demands: [
        FigureTable.Demand(
          text: "reconnects of 1,000 requests", value: reconnects[0], bound: 0)
      ])
    let traced = FigureTable(
      title: "System calls of a poster",
      conditions: """
        Under `strace`, which makes programs slow, so that more waits for them when they look: how much is \
        written together differs from run to run. Without `futex` and what gets memory.
        """,
      columns: columns, rows: [row("system calls", .systemCalls)])
    return [exact, traced]
  }
}
