import FoundationEssentials
import PosterCache
import PosterServer
import TestSupport

/// A cache directory and a demo origin inside the test process, and the command run against both.
struct Workplace {
  /// What every answer of the demo origin wants; no output may ever hold it.
  static let key = "5ec2e75ec2e75ec2e75ec2e75ec2e700"

  let directory = TemporaryDirectory()
  let origin: DemoOrigin

  init(_ faults: [Fault] = []) throws {
    var configuration = DemoOrigin.Configuration()
    configuration.faults = faults
    origin = try DemoOrigin(configuration)
  }

  /// The cache directory, which the first command makes.
  var cache: String { "\(directory.path)/cache" }

  /// Requests for pictures that have arrived.
  var imageRequests: Int { origin.requestCount(of: "/t/p/*") }

  /// `warm --list trending` against the origin, with JSON on standard output.
  func warmArguments(_ more: [String]) -> [String] {
    [
      "warm", "--list", "trending", "--json", "--cache-dir", cache,
      "--api", origin.api.canonical, "--images", origin.images.canonical,
    ] + more
  }

  /// Runs ``warmArguments(_:)``.
  func warm(_ more: String...) async -> PosterCacheBinary.Result {
    await PosterCacheBinary.run(
      warmArguments(more), environment: ["TMDB_API_KEY": Self.key])
  }

  /// Runs a command on the cache directory.
  func run(_ arguments: String...) async -> PosterCacheBinary.Result {
    await PosterCacheBinary.run(arguments + ["--cache-dir", cache])
  }

  /// The addresses that `warm` would fetch.
  func dryRun() async throws -> [String] {
    let result = await PosterCacheBinary.run(
      warmArguments(["--dry-run"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Self.key])
    return result.output.split(separator: "\n").map(String.init)
  }

  /// The number of posters stored.
  func storedCount() async throws -> Int {
    try await run("stats", "--json").decoded(as: [String: Int].self)["entries"] ?? -1
  }
}

extension PosterCacheBinary.Result {
  /// The JSON on standard output.
  func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(standardOutput))
  }

  /// The report of `warm --json`.
  var warmReport: WarmJSON { get throws { try decoded(as: WarmJSON.self) } }

  /// The keys of the JSON object on standard output, or of the first object of its array, as
  /// written.
  var keys: [String] {
    var keys: [String] = []
    var depth = 0
    var isInString = false
    var text = ""
    var bytes = output.unicodeScalars.drop { $0 != "{" }.makeIterator()
    while let scalar = bytes.next() {
      switch scalar {
      case "\\" where isInString: _ = bytes.next()
      case "\"":
        isInString.toggle()
        if isInString { text = "" }
      case _ where isInString: text.unicodeScalars.append(scalar)
      case "{", "[": depth += 1
      case "}", "]": depth -= 1
      case ":" where depth == 1: keys.append(text)
      default: break
      }
      if depth == 0 { break }
    }
    return keys
  }
}

/// What `warm --json` prints.
struct WarmJSON: Decodable {
  struct Skipped: Decodable, Equatable {
    var noPath: Int
    var duplicate: Int
    var unsupported: Int
    var sinceLast = 0
  }
  struct Failure: Decodable {
    /// `nil` for a page that has none.
    var url: String?
    var status: Int?
    var error: String
  }
  var list: String
  var pages: Int
  var items: Int
  var posters: Int
  var skipped: Skipped
  var hits: Int
  var fetched: Int
  var revalidated: Int
  var failed: Int
  var bytes: Int
  var seconds: Double
  var failures: [Failure]
  var lists: [List]
  var faults: [Fault]
  /// Of a search.
  var results: [Found]?
  /// Of a dry run.
  var wouldFetch: Int?
  var estimatedBytes: Int?

  struct List: Decodable {
    var list: String
    var pages: Int
    var items: Int
    var posters: Int
    var skipped: Skipped
    var failedPages: Int
  }
  struct Fault: Decodable, Equatable {
    var list: String
    var place: String
    var reason: String
  }
  struct Found: Decodable, Equatable {
    var kind: String
    var id: String?
    var title: String?
  }
}
