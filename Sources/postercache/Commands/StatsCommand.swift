import PosterCache

/// `stats`: the cache's totals and counters, over all processes that ever used it.
struct StatsCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    let statistics = try disk.statistics()
    if session.console.output.isJSON {
      try session.console.result(Self.json(statistics))
    } else {
      try session.console.result(Self.text(statistics))
    }
    return .success
  }

  static func json(_ statistics: DiskStatistics) -> JSON {
    .object([
      ("entries", .integer(statistics.entries)),
      ("bytes", .integer(statistics.bytes)),
      ("limit", .integer(statistics.limit)),
      ("segments", .integer(statistics.segments)),
      ("hits", .integer(statistics.hits)),
      ("misses", .integer(statistics.misses)),
      ("evictions", .integer(statistics.evictions)),
      ("corrupt", .integer(statistics.corrupt)),
      ("pinned_bytes", .integer(statistics.pinnedBytes)),
      ("disk_bytes", .integer(statistics.occupiedBytes)),
    ])
  }

  static func text(_ statistics: DiskStatistics) -> String {
    let size = ByteSize(bytes: statistics.bytes)
    let limit = ByteSize(bytes: statistics.limit)
    return """
      entries    \(statistics.entries)
      size       \(size) of \(limit)
      pinned     \(ByteSize(bytes: statistics.pinnedBytes))
      on disk    \(ByteSize(bytes: statistics.occupiedBytes)) really occupied
      segments   \(statistics.segments)
      hits       \(statistics.hits)
      misses     \(statistics.misses)
      evictions  \(statistics.evictions)
      corrupt    \(statistics.corrupt)

      """
  }
}
