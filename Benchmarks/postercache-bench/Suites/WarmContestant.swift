import Glibc
import PosterCache

/// The warm suite's work of ours, also as a program of its own, which is measured like the rivals':
/// `postercache-bench contestant warm|loop --list FILE --connections N [--to DIR]`.
struct WarmContestant {
  /// The first argument that means this rather than a suite.
  static let word = "contestant"

  private let work: String
  private let list: String
  private let connections: Int
  private let directory: String?

  init(arguments: ArraySlice<String>) throws(BenchError) {
    var rest = arguments
    var values: [String: String] = [:]
    guard let work = rest.popFirst() else { throw BenchError("which contestant?") }
    while let name = rest.popFirst(), let value = rest.popFirst() { values[name] = value }
    guard let list = values["--list"],
      let connections = values["--connections"].flatMap({ Int($0) })
    else { throw BenchError("a contestant needs --list and --connections") }
    self.work = work
    self.list = list
    self.connections = connections
    directory = values["--to"]
  }

  /// The program that warms a cache in `directory` from the addresses in the file `list`.
  static func command(list: String, directory: String, connections: Int) -> Command {
    Command(
      BenchOptions.ownPath,
      [word, "warm", "--list", list, "--connections", "\(connections)", "--to", directory])
  }

  func run() async throws {
    let addresses = try TextFile.lines(list)
    switch (work, directory) {
    case ("warm", let directory?):
      try await Self.warm(addresses, into: directory, connections: connections)
    case ("loop", nil):
      _ = try BareCurlLoop.fetch(addresses, connections: connections)
    default:
      throw BenchError("no contestant \(work)")
    }
  }

  /// Warms a cache from opening it to shutting it down, as the command does: with so many posters
  /// asked for at once.
  static func warm(
    _ addresses: [String], into directory: String, connections: Int
  ) async throws {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory
    configuration.fetching.connectionsPerHost = connections
    let pipeline = try PosterPipeline(configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var outstanding = 0
      for address in addresses {
        let request = try PosterRequest(address, priority: .background)
        if outstanding == 4 * connections + 64 {
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
}
