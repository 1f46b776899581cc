import Glibc
import PosterCache

/// Work of the suites as a program of its own, which is measured like the rivals', or run where the
/// suite itself is not: `postercache-bench contestant WORK --OPTION VALUE ...`.
///
/// - `warm --list FILE --to DIR`: a list into a cache;
/// - `fetch --list FILE [--bytes N]`: a list through the fetcher, nothing kept; fails unless so many bytes come;
/// - `loop --list FILE [--to FILE] [--bytes N]`: the same with a bare loop of libcurl, which may append what
///   comes to a file.
///
/// `--connections N` and `--authorities FILE` are understood by these. There are also `priority`, whose options
/// are those of ``PriorityProgram``, `counted`, those of ``CountedWork``, and `thumbnails`, those of
/// ``ThumbnailProgram``.
struct ContestantProgram {
  /// The first argument that means this rather than a suite.
  static let word = "contestant"

  private let work: String
  private let values: [String: String]

  init(arguments: ArraySlice<String>) throws(BenchError) {
    var rest = arguments
    guard let work = rest.popFirst() else { throw BenchError("which contestant?") }
    self.work = work
    var values: [String: String] = [:]
    while let name = rest.popFirst(), let value = rest.popFirst() { values[name] = value }
    self.values = values
  }

  /// The program that does `work`.
  static func command(_ work: String, _ values: [(name: String, value: String)]) -> Command {
    Command(BenchOptions.ownPath, arguments(work, values))
  }

  /// The arguments with which this program does `work`.
  static func arguments(_ work: String, _ values: [(name: String, value: String)]) -> [String] {
    [word, work] + values.flatMap { [$0.name, $0.value] }
  }

  func run() async throws {
    if work == "priority" { return try PriorityProgram(values).run() }
    if work == "counted" { return try await CountedWork(values).run() }
    if work == "thumbnails" { return try ThumbnailProgram(values).run() }
    guard let list = values["--list"] else { throw BenchError("a contestant needs --list") }
    let addresses = try TextFile.lines(list)
    switch work {
    case "warm":
      guard let directory = values["--to"] else { throw BenchError("where to?") }
      try await Self.warm(addresses, into: directory, fetching)
    case "fetch":
      let requests = try addresses.map {
        FetchRequest(try PosterAddress($0), priority: .background)
      }
      try check(try Self.fetch(requests, fetching))
    case "loop":
      try check(
        try BareCurlLoop.fetch(
          addresses, connections: fetching.connectionsPerHost,
          authoritiesFile: fetching.certificateAuthoritiesFile, storingIn: values["--to"]))
    default:
      throw BenchError("no contestant \(work)")
    }
  }

  private func check(_ bytes: Int) throws(BenchError) {
    guard bytes == number("--bytes") ?? bytes else { throw BenchError("\(bytes) bytes arrived") }
  }

  private func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

  private var fetching: FetchConfiguration {
    var fetching = FetchConfiguration()
    if let connections = number("--connections") { fetching.connectionsPerHost = connections }
    fetching.certificateAuthoritiesFile = values["--authorities"]
    return fetching
  }

  /// Warms a cache from opening it to shutting it down, as the command does: with so many posters
  /// asked for at once.
  static func warm(
    _ addresses: [String], into directory: String, _ fetching: FetchConfiguration
  ) async throws {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory
    configuration.fetching = fetching
    let pipeline = try PosterPipeline(configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var outstanding = 0
      for address in addresses {
        let request = try PosterRequest(address, priority: .background)
        if outstanding == 4 * fetching.connectionsPerHost + 64 {
          try await group.next()
          outstanding -= 1
        }
        outstanding += 1
        group.addTask { _ = try await pipeline.warm(request) }
      }
      try await group.waitForAll()
    }
    await pipeline.shutdown()
  }

  /// Fetches everything through a fetcher of its own, from starting it to shutting it down; returns
  /// how many bytes of bodies came. Each body is let go of as soon as it is there.
  static func fetch(
    _ requests: [FetchRequest], _ configuration: FetchConfiguration
  ) throws -> Int {
    let fetcher = try Fetcher(configuration)
    let state = Monitor((left: requests.count, bytes: 0, failure: PosterError?.none))
    for request in requests {
      fetcher.fetch(request) { result in
        let isLast = state.withLock { state in
          switch result {
          case .success(let response): state.bytes += response.body.count
          case .failure(let error): state.failure = error
          }
          state.left -= 1
          return state.left == 0
        }
        if isLast { state.signal() }
      }
    }
    state.wait(untilNanoseconds: { _ in nil }, for: { $0.left == 0 ? () : nil })
    fetcher.shutdown()
    let (bytes, failure) = state.withLock { ($0.bytes, $0.failure) }
    if let failure { throw failure }
    return bytes
  }
}
