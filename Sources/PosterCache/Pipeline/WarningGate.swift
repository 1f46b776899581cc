/// Passes warnings on, but the same kind of fault only once in a row: a full disk is one piece of
/// news, not one for each poster.
final class WarningGate: Sendable {
  private let handler: @Sendable (PosterError) -> Void
  private let latest = Lock<PosterError.Code?>(nil)

  init(_ handler: @escaping @Sendable (PosterError) -> Void) {
    self.handler = handler
  }

  func warn(_ error: PosterError) {
    let isNews = latest.withLock { latest in
      defer { latest = error.code }
      return latest != error.code
    }
    if isNews { handler(error) }
  }

  /// Notes that what was warned of last has passed: should it come again, it is news.
  func faultIsOver() {
    latest.withLock { $0 = nil }
  }
}
