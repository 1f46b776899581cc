import TestSupport
import Testing

@testable import PosterCache

/// Smallest bodies that pass as complete pictures.
enum TestPicture {
  /// Start of image, one scan with `filler` bytes, end of image.
  static func jpeg(filler: Int = 100) -> [UInt8] {
    [0xFF, 0xD8, 0xFF, 0xDA, 0x00, 0x02] + [UInt8](repeating: 0x55, count: filler) + [0xFF, 0xD9]
  }

  static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    + [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]

  static let webp: [UInt8] = Array("RIFF".utf8) + [4, 0, 0, 0] + Array("WEBP".utf8)
}

/// Collects completions, which come on the fetch thread.
final class Completions: Sendable {
  typealias Outcome = Result<FetchResponse, PosterError>

  private let outcomes = Monitor<[Outcome]>([])

  func add(_ outcome: Outcome) {
    outcomes.withLock { $0.append(outcome) }
    outcomes.signal()
  }

  var count: Int { outcomes.withLock { $0.count } }

  /// Waits for `count` completions.
  func wait(_ count: Int) -> [Outcome] {
    outcomes.wait(untilNanoseconds: { _ in nil }, for: { $0.count >= count ? $0 : nil })
  }
}

extension Fetcher {
  /// Starts fetching `text` into `completions`.
  @discardableResult
  func fetch(
    _ text: String, kind: FetchRequest.Kind = .picture, into completions: Completions
  ) throws -> Ticket {
    let request = FetchRequest(try PosterAddress(text), kind: kind)
    return fetch(request) { completions.add($0) }
  }

  /// Fetches `text` and waits for it.
  func outcome(of text: String, kind: FetchRequest.Kind = .picture) throws -> Completions.Outcome {
    let completions = Completions()
    try fetch(text, kind: kind, into: completions)
    return completions.wait(1)[0]
  }
}

extension Result where Success == FetchResponse, Failure == PosterError {
  var code: PosterError.Code? { if case .failure(let error) = self { error.code } else { nil } }

  var message: String { if case .failure(let error) = self { error.message } else { "success" } }

  var response: FetchResponse? { if case .success(let value) = self { value } else { nil } }
}

extension PosterBody {
  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension FetchConfiguration {
  /// One try, so that a failure shows at once.
  static let once: FetchConfiguration = {
    var configuration = FetchConfiguration()
    configuration.tries = 1
    return configuration
  }()
}

/// Runs `body` with a server and a fetcher, and stops both.
func withServer(
  _ configuration: FetchConfiguration = FetchConfiguration(),
  answer: @escaping @Sendable (ScriptedServer.Request) -> [ScriptedServer.Step],
  run body: (ScriptedServer, Fetcher) throws -> Void
) throws {
  let server = ScriptedServer(answer)
  defer { server.stop() }
  let fetcher = try Fetcher(configuration)
  defer { fetcher.shutdown() }
  try body(server, fetcher)
}
