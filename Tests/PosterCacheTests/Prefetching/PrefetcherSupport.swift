import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// A clock that stands still until a test says otherwise.
final class StandingClock: Sendable {
  private struct State {
    var now = 0.0
    var waiting: [UInt64: (time: Double, continuation: CheckedContinuation<Void, Never>)] = [:]
    var last: UInt64 = 0
    var cancelled: Set<UInt64> = []
  }

  private let state = Lock(State())

  var clock: PrefetchClock {
    PrefetchClock(
      now: { [self] in state.withLock { $0.now } }, wait: { [self] in await wait(until: $0) })
  }

  func advance(by seconds: Double) {
    let due = state.withLock { state in
      state.now += seconds
      let due = state.waiting.filter { $0.value.time <= state.now }
      for number in due.keys { state.waiting[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  private func wait(until time: Double) async {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          guard state.now < time, !state.cancelled.contains(number) else { return false }
          state.waiting[number] = (time, continuation)
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.cancelled.insert(number)
        return state.waiting.removeValue(forKey: number)?.continuation
      }
      continuation?.resume()
    }
  }
}

/// A list whose pages a test answers one by one.
struct ScriptedFeed: FeedSource {
  typealias Answer = Result<[FeedItem], PosterError>

  /// What a test says and sees.
  final class Script: Sendable {
    private struct State {
      var asked: [Int] = []
      var pending: [CheckedContinuation<Answer, Never>] = []
      var answers: [Answer] = []
    }

    private let state = Monitor(State())

    /// The pages asked for so far.
    var asked: [Int] { state.withLock { $0.asked } }

    /// Waits until pages have been asked for so many times.
    func waitUntilAsked(_ count: Int) {
      state.wait(untilNanoseconds: { _ in nil }, for: { $0.asked.count >= count ? () : nil })
    }

    /// Answers the oldest question that has no answer, or the next one.
    func answer(_ answer: Answer) {
      let continuation = state.withLock { state in
        if state.pending.isEmpty { state.answers.append(answer) }
        return state.pending.isEmpty ? nil : state.pending.removeFirst()
      }
      continuation?.resume(returning: answer)
    }

    fileprivate func ask(_ page: Int) async -> Answer {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Answer? in
          state.asked.append(page)
          if !state.answers.isEmpty { return state.answers.removeFirst() }
          state.pending.append(continuation)
          return nil
        }
        state.signal()
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }

  let script: Script
  let pageCount: Int
  private var page = 1

  init(_ script: Script, pages: Int = 3) {
    self.script = script
    pageCount = pages
  }

  var hasNextPage: Bool { page <= pageCount }

  mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard hasNextPage else { return nil }
    let items = try await script.ask(page).get()
    page += 1
    return FeedPage(number: page - 1, items: items, itemCount: items.count, skipped: .init())
  }

  mutating func skipFailedPage() { page += 1 }
}

/// A prefetcher with all that it needs.
final class PrefetchStage: Sendable {
  static let grid = VisibleWindow.Layout.grid(columns: 3, rowLength: 180)

  let origin: DemoOrigin
  let pipeline: PosterPipeline
  let clock = StandingClock()
  let configuration: Prefetcher.Configuration

  init(
    connections: Int = 16, wishLimit: Int = 6,
    _ change: (inout Prefetcher.Configuration) -> Void = { _ in }
  ) throws {
    origin = try DemoOrigin()
    var configuration = PosterPipeline.Configuration()
    configuration.fetching.connectionsPerHost = connections
    configuration.fetching.prefetchWindow = .unlimited
    pipeline = try PosterPipeline(configuration)
    var own = Prefetcher.Configuration()
    own.size = .w92
    own.images = ImageHost(origin.images)
    own.wishLimit = wishLimit
    change(&own)
    self.configuration = own
  }

  /// A prefetcher with one section of `count` items that are there.
  func prefetcher(_ count: Int? = nil) async -> Prefetcher {
    let prefetcher = Prefetcher(pipeline, configuration, clock: clock.clock)
    if let count {
      prefetcher.appendSection(FixedFeed([]), layout: Self.grid)
      prefetcher.setItems(Self.items(count), in: 0)
      await prefetcher.finish()
    }
    return prefetcher
  }

  static func items(_ count: Int, name: String = "p", blanks: Bool = false) -> [FeedItem] {
    (0..<count).map {
      FeedItem(id: "\($0)", kind: .movie, posterPath: blanks ? nil : "/\(name)\($0).jpg")
    }
  }

  func request(_ name: String) throws -> PosterRequest {
    try PosterRequest(path: name, size: .w92, images: origin.images)
  }

  func slot() -> PosterSlot {
    PosterSlot(pipeline: pipeline, rendition: Rendition(.full))
  }

  func end() async {
    await pipeline.shutdown()
    origin.shutdown()
  }
}

extension PosterSlot {
  /// Waits for the picture, or for the failure.
  func picture() async -> PosterImage? {
    for await state in states {
      if case .image(let image) = state { return image }
      if case .failed = state { return nil }
    }
    return nil
  }

  var isEmpty: Bool { if case .empty = state { true } else { false } }
}

/// The paths of items of a section.
func paths(_ items: some Sequence<Int>, section: Int = 0) -> [IndexPath] {
  items.map { IndexPath(item: $0, section: section) }
}
