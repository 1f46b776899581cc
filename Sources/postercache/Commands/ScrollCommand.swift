import PosterCache

/// `scroll`: replays a scroll, and tells what a viewer would have seen.
struct ScrollCommand {
  private let session: Session
  private let options: Settings.Scroll

  init(_ session: Session, _ options: Settings.Scroll) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    .success
  }
}
