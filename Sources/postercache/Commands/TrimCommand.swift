import PosterCache

/// `trim`: evicts in the usual order until the cache is at most so large; its limit stays.
struct TrimCommand {
  private let session: Session
  private let size: ByteSize

  init(_ session: Session, to size: ByteSize) {
    self.session = session
    self.size = size
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    let change = try disk.trim(to: size)
    let statistics = try disk.statistics()
    if statistics.bytes > size.bytes, statistics.pinnedBytes > 0 {
      let (pinned, total) = (statistics.pinnedBytes, statistics.bytes)
      session.console.note(
        "pinned posters (\(ByteSize(bytes: pinned))) keep the cache at \(ByteSize(bytes: total)),"
          + " above \(size)")
    }
    try session.report(removed: change)
    return .success
  }
}

extension Session {
  /// Prints what was removed.
  func report(removed change: DiskChange) throws(OutputError) {
    if console.output.isJSON {
      try console.result(
        .object([("removed", .integer(change.posters)), ("bytes", .integer(change.bytes))]))
    } else {
      try console.summary(
        "removed \(counted(change.posters, "poster")), \(ByteSize(bytes: change.bytes))\n")
    }
  }
}
