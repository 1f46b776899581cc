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
    let (entries, bytes) = try disk.removeAll()
    if session.console.output.isJSON {
      try session.console.result(
        .object([("removed", .integer(entries)), ("bytes", .integer(bytes))]))
    } else {
      try session.console.summary(
        "removed \(counted(entries, "poster")), \(ByteSize(bytes: bytes))\n")
    }
    return .success
  }
}
