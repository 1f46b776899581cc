import FoundationEssentials
import Glibc
import PosterCache

/// A program of its own that opens a cache of small posters and uses it in phases, for what can only
/// be seen in a fresh process: memory, and system calls under `strace`.
struct CacheProbe {
  /// The first argument that makes the benchmark this program.
  static let word = "probe-cache"

  /// What it found, printed as JSON.
  struct Findings: Codable {
    /// Seconds that opening took.
    var opening = 0.0
    /// Bytes of anonymous resident memory: before opening, after it, and after the hits.
    var anonymousBefore = 0
    var anonymousAfterOpening = 0
    var anonymousAfterHits = 0
  }

  /// The phase that system calls are counted of.
  static let opening = "opening"

  /// The cache's directory.
  var directory: String
  /// It holds the posters 0 to this, and no others.
  var entries: Int
  var hits: Int

  /// Runs it as a process and returns what it found.
  func run() throws -> Findings {
    let text = try Command(BenchOptions.ownPath, arguments).output()
    return try JSONDecoder().decode(Findings.self, from: Data(text))
  }

  /// Counts its system calls; `nil` without `strace`.
  func systemCalls(log: String) throws(BenchError) -> SystemCalls? {
    try SystemCalls(of: BenchOptions.ownPath, arguments, log: log)
  }

  private var arguments: [String] {
    [Self.word, directory, "\(entries)", "\(hits)"]
  }

  /// Does what `arguments` ask for and prints the findings.
  static func main(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments.dropFirst())
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard words.count == 3, numbers.count == 2 else { throw BenchError("\(word): wrong arguments") }
    let probe = CacheProbe(directory: words[0], entries: numbers[0], hits: numbers[1])
    let text = try JSONEncoder().encode(probe.work())
    Console.output(String(decoding: text, as: UTF8.self))
  }

  private func work() throws -> Findings {
    var findings = Findings()
    var generator = SplitMix64(seed: 7)
    let present = try (0..<hits).map { _ in
      try SmallPoster.request(Int.random(in: 0..<entries, using: &generator))
    }
    // What one use of everything brings into memory is not the cache's.
    try warmUp()
    findings.anonymousBefore = try ProcessFigures.anonymousBytes()

    SystemCalls.begin(Self.opening)
    let stopwatch = Stopwatch()
    let cache = try DiskCache(directory: directory)
    findings.opening = stopwatch.sample().seconds
    SystemCalls.begin(CountedPhases.between)
    findings.anonymousAfterOpening = try ProcessFigures.anonymousBytes()

    // The descriptors of segments are opened by the first hit in each.
    try read(present, from: cache)
    try read(present, from: cache)
    try cache.flush()
    // What was asked for must not be given back between the two looks at memory.
    findings.anonymousAfterHits = try withExtendedLifetime(present) {
      try ProcessFigures.anonymousBytes()
    }

    cache.close()
    return findings
  }

  private func read(_ requests: [PosterRequest], from cache: DiskCache) throws {
    for request in requests where try cache.poster(for: request) == nil {
      throw BenchError("a miss: \(request)")
    }
  }

  /// Uses another cache, of one poster, once.
  private func warmUp() throws {
    let other = try DiskCache(directory: directory + ".other")
    defer { other.close() }
    other.insert(try SmallPoster.make(0))
    try other.flush()
    guard try other.poster(for: SmallPoster.request(0)) != nil else { throw BenchError("a miss") }
  }
}
