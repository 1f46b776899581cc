import FoundationEssentials
import TestSupport

@testable import PosterCache

/// An origin whose answers a test sets, and the time as the test has it.
///
/// It tells no `Date`, so that answers are as old as `Age` says, whatever the time is.
final class CachingOrigin: Sendable {
  /// What it answers to every request.
  struct Answer: Sendable {
    var status = 200
    var headers: [String] = []
    var body = TestPicture.jpeg()
    /// Whether a request that names the `ETag` is answered with 304 and these headers.
    var confirmation: [String]?
    /// What every answer waits for.
    var gate: Gate?
  }

  let server: ScriptedServer
  private let answer: Monitor<Answer>
  private let time = Monitor(Date(timeIntervalSince1970: 1_800_000_000))

  init(_ answer: Answer = Answer()) {
    let current = Monitor(answer)
    self.answer = current
    server = ScriptedServer { request in
      let answer = current.withLock { $0 }
      let wait = answer.gate.map { [ScriptedServer.Step.wait($0)] } ?? []
      if let headers = answer.confirmation, let etag = request.headers["if-none-match"],
        answer.headers.contains(where: { $0.hasSuffix(etag) })
      {
        return wait + [.response(304, headers)]
      }
      return wait + [.response(answer.status, answer.headers, body: answer.body)]
    }
  }

  deinit { server.stop() }

  /// The time for pipelines with ``configuration(_:)``.
  var now: Date {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  func set(_ change: (inout Answer) -> Void) {
    answer.withLock { change(&$0) }
  }

  func request(
    _ path: String = "/a.jpg", priority: PosterCache.Priority = .visible
  ) throws -> PosterRequest {
    try PosterRequest(server.address(path), priority: priority)
  }

  /// Values of a header, one for each request so far.
  func values(_ name: String) -> [String?] { server.requests.map { $0.headers[name] } }

  var requestCount: Int { server.requests.count }

  /// One try, and this origin's time.
  func configuration(_ directory: TemporaryDirectory?) -> PosterPipeline.Configuration {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory?.path
    configuration.fetching = .once
    configuration.clock = PosterClock { [time] in time.withLock { $0 } }
    return configuration
  }
}

/// What a pipeline warned of.
final class Warnings: Sendable {
  private let codes = Monitor<[PosterError.Code]>([])

  var all: [PosterError.Code] { codes.withLock { $0 } }

  func add(_ error: PosterError) { codes.withLock { $0.append(error.code) } }
}

extension PosterPipeline {
  /// The source of the poster, or what asking for it failed with.
  func outcome(
    _ request: PosterRequest, mode: CacheMode? = nil
  ) async -> Result<Poster.Source, PosterError> {
    do throws(PosterError) {
      return .success(try await poster(for: request, mode: mode).source)
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Failure == PosterError {
  /// What kind of failure it is.
  var failureCode: PosterError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }

  /// The failure's message.
  var failureMessage: String {
    if case .failure(let error) = self { error.message } else { "" }
  }
}

extension Result where Success == Poster.Source, Failure == PosterError {
  /// Where the poster came from.
  var source: Poster.Source? { if case .success(let source) = self { source } else { nil } }
}
