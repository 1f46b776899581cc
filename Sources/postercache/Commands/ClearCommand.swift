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
    try session.report(removed: try disk.removeAll())
    return .success
  }
}
