import PosterCache

/// `clear`: removes every poster.
struct ClearCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    let removed = try disk.removeAll()
    if session.console.output.isJSON {
      try session.console.result(
        .object([("removed", .integer(removed.posters)), ("bytes", .integer(removed.bytes))]))
    } else {
      try session.console.summary(
        "removed \(counted(removed.posters, "poster")), \(ByteSize(bytes: removed.bytes))\n")
    }
    return .success
  }
}
