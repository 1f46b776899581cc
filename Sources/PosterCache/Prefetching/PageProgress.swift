/// Decides when a section's next page is asked for: once at a time, never past the end, and again after a
/// failure when the end is reached anew or a back-off is over.
struct PageProgress {
  /// Names a page that was asked for; never used again.
  typealias Number = UInt64

  private enum State {
    case idle
    case loading(Number)
    case failed(retryAt: Double)
    case ended
  }

  /// The first wait after a failure, in seconds; doubled with each further one.
  static let firstBackOffSeconds = 1.0
  /// The longest one.
  static let longestBackOffSeconds = 30.0
  /// How many pages in a row may bring no item before the list counts as ended.
  static let emptyPageLimit = 3

  private var state: State
  /// The end of what is there has been reached, and no page has come since.
  private var isWanted = false
  private var failuresInRow = 0
  private var emptyPagesInRow = 0

  /// - Parameter hasPages: whether there is a page to ask for.
  init(hasPages: Bool) {
    state = hasPages ? .idle : .ended
  }

  /// The page on its way.
  var loading: Number? { if case .loading(let number) = state { number } else { nil } }
  /// Whether the last page asked for could not be had.
  var hasFailed: Bool { if case .failed = state { true } else { false } }
  /// Whether no further page will be asked for.
  var hasEnded: Bool { if case .ended = state { true } else { false } }
  /// Whether a page may be wanted: none is on its way.
  var canBeAsked: Bool { loading == nil && !hasEnded }

  /// When time alone leads to a question.
  var retryAt: Double? {
    guard isWanted, case .failed(let time) = state, time < .infinity else { return nil }
    return time
  }

  // MARK: - Events

  /// The end of what is there is near, or still is; `true` if the page is to be asked for now.
  mutating func endIsNear(at seconds: Double) -> Bool {
    let isNews = !isWanted
    isWanted = true
    switch state {
    case .idle: return true
    case .failed(let retryAt): return isNews || seconds >= retryAt
    case .loading, .ended: return false
    }
  }

  /// The end of what is there is far away.
  mutating func endIsFar() {
    isWanted = false
  }

  /// Somebody wants a page that failed to be tried again; `true` if it is to be asked for now.
  mutating func retryWasWanted() -> Bool {
    guard hasFailed else { return false }
    isWanted = true
    return true
  }

  /// The page was asked for.
  mutating func pageWasAsked(_ number: Number) {
    state = .loading(number)
  }

  /// The page came.
  ///
  /// - Parameter hasMore: whether the list goes on behind it.
  mutating func pageDidLoad(itemCount: Int, hasMore: Bool) {
    failuresInRow = 0
    emptyPagesInRow = itemCount == 0 ? emptyPagesInRow + 1 : 0
    state = hasMore && emptyPagesInRow < Self.emptyPageLimit ? .idle : .ended
    // The end is where it was if nothing came.
    if itemCount > 0 { isWanted = false }
  }

  /// Whether the page that came brought nothing, so that the next one is wanted at once.
  var isStillWanted: Bool { if case .idle = state { isWanted } else { false } }

  /// The page could not be had.
  mutating func pageDidFail(_ failure: PageFailure, at seconds: Double) {
    switch failure {
    case .refused: state = .ended
    case .hopeless: state = .failed(retryAt: .infinity)
    case .mayPass:
      let wait = min(
        Self.firstBackOffSeconds * Double(1 << min(failuresInRow, 10)), Self.longestBackOffSeconds)
      failuresInRow += 1
      state = .failed(retryAt: seconds + wait)
    }
  }

  /// The page on its way is not wanted any more; its number, if there is one.
  mutating func wasStopped() -> Number? {
    isWanted = false
    guard let number = loading else { return nil }
    state = .idle
    return number
  }
}

/// What kind of failure a page met.
enum PageFailure {
  /// Trying again later may help.
  case mayPass
  /// It will not help until somebody says so: the pipeline is offline or ends.
  case hopeless
  /// The server refused the credentials.
  case refused

  init(_ error: PosterError) {
    switch error.code {
    case .unauthorized: self = .refused
    case .cancelled, .offline, .forkedProcess, .invalidAddress, .invalidConfiguration:
      self = .hopeless
    default: self = .mayPass
    }
  }
}
