import PosterCache

extension DiskSuite {
  /// Entries of the cache in which calls are counted.
  private static let entries = 1000
  private static let hits = 1000
  private static let batches = 40

  /// System calls of hits, misses and inserts, and bytes written for each byte stored.
  func counts() throws -> FigureTable {
    BenchContext.progress("counting system calls")
    let written = try probe("counted-bytes").run().writtenPerStored
    let calls = try probe("counted-calls").systemCalls(log: "\(context.disk.path)/calls")
    let inserts = Self.batches * CacheProbe.batchPosters
    func row(_ name: String, _ phase: CacheProbe.Phase, _ operations: Int) -> FigureTable.Row {
      let phase = phase.rawValue
      return FigureTable.Row(
        name: name,
        values: [calls.map { $0.total(phase) / Double(operations) }]
          + ["pread64", "pwritev", "pwrite64", "fallocate", "openat"].map { call in
            calls.map { $0.count(call, phase) / Double(operations) }
          })
    }
    return FigureTable(
      title: "System calls",
      conditions: """
        Counted by `strace` over all threads of a process, `futex` and what gets memory left out. \
        Inserts: batches of \(CacheProbe.batchPosters) posters of \(CacheProbe.posterBytes) bytes, \
        each flushed. For each byte of a body stored, \(Self.text(written)) bytes were passed to \
        calls that write (`wchar` of `/proc/self/io`): headers, blocks filled up, index pages.
        """,
      columns: ["all", "pread", "pwritev", "pwrite", "fallocate", "openat"],
      rows: [
        row("a hit", .hits, Self.hits), row("a miss", .misses, Self.hits),
        row("an insert", .inserts, inserts),
      ],
      demands: [
        FigureTable.Demand(
          text: "a hit is one `pread`",
          value: calls.map { $0.total(CacheProbe.Phase.hits.rawValue) / Double(Self.hits) },
          bound: 1.01),
        FigureTable.Demand(
          text: "bytes written for a byte stored", value: written, bound: 1.25),
      ])
  }

  /// A probe of a new cache in the directory `name`: inserts are to replace nothing.
  private func probe(_ name: String) throws -> CacheProbe {
    let directory = try context.disk.makeEmpty(name)
    let cache = try DiskCache(directory: directory)
    try CacheFiller.insert(try (0..<Self.entries).map { try SmallPoster.make($0) }, into: cache)
    cache.close()
    return CacheProbe(
      directory: directory, entries: Self.entries, hits: Self.hits, batches: Self.batches)
  }

  private static func text(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let digits = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }
}
