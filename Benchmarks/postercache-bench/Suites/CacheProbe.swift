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
    /// Bytes passed to writing calls, divided by the bytes of the bodies stored; 0 without inserts.
    var writtenPerStored = 0.0
  }

  /// The phases that system calls are counted by.
  enum Phase: String {
    case opening, hits, misses, inserts, closing
  }

  /// Inserts are made in batches of this many posters of this size, each waited for.
  static let batchPosters = 25
  static let posterBytes = 40_000

  /// The cache's directory.
  var directory: String
  /// It holds the posters 0 to this, and no others.
  var entries: Int
  /// Hits, as many misses, and batches of inserts.
  var hits: Int
  var batches = 0

  /// Runs it as a process and returns what it found.
  func run() throws -> Findings {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError(call: "pipe", "") }
    defer { close(ends[0]) }
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    let child: Command.Child
    do {
      defer { close(ends[1]) }
      child = try Command(BenchOptions.ownPath, arguments).start(standardOutput: ends[1])
    }
    var text = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(ends[0], &text, text.count)
    var usage = rusage()
    let status = try child.wait(&usage)
    guard status == 0, count > 0 else { throw BenchError("a probe ended with status \(status)") }
    return try JSONDecoder().decode(Findings.self, from: Data(text[..<count]))
  }

  /// Counts its system calls; `nil` without `strace`.
  func systemCalls(log: String) throws(BenchError) -> SystemCalls? {
    try SystemCalls(of: arguments, log: log)
  }

  private var arguments: [String] {
    [Self.word, directory, "\(entries)", "\(hits)", "\(batches)"]
  }

  /// Does what `arguments` ask for and prints the findings.
  static func main(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments.dropFirst())
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard words.count == 4, numbers.count == 3 else { throw BenchError("\(word): wrong arguments") }
    let probe = CacheProbe(
      directory: words[0], entries: numbers[0], hits: numbers[1], batches: numbers[2])
    let text = try JSONEncoder().encode(probe.work())
    Console.output(String(decoding: text, as: UTF8.self))
  }

  private func work() throws -> Findings {
    var findings = Findings()
    var generator = SplitMix64(seed: 7)
    let present = try (0..<hits).map { _ in
      try SmallPoster.request(Int.random(in: 0..<entries, using: &generator))
    }
    let missing = try (0..<hits).map { try SmallPoster.request(1 << 40 + $0) }
    let posters = try (0..<batches * Self.batchPosters).map {
      try SmallPoster.make(1 << 41 + $0, bytes: Self.posterBytes)
    }
    // What one use of everything brings into memory is not the cache's.
    try warmUp()
    findings.anonymousBefore = try ProcessFigures.anonymousBytes()

    SystemCalls.begin(Phase.opening.rawValue)
    let stopwatch = Stopwatch()
    let cache = try DiskCache(directory: directory)
    findings.opening = stopwatch.sample().seconds
    SystemCalls.begin("between")
    findings.anonymousAfterOpening = try ProcessFigures.anonymousBytes()

    // The descriptors of segments are opened by the first hit in each.
    try read(present, from: cache)
    SystemCalls.begin(Phase.hits.rawValue)
    try read(present, from: cache)
    SystemCalls.begin(Phase.misses.rawValue)
    for request in missing {
      guard try cache.poster(for: request) == nil else { throw BenchError("a hit: \(request)") }
    }
    SystemCalls.begin("between")
    try cache.flush()
    // What was asked for must not be given back between the two looks at memory.
    findings.anonymousAfterHits = try withExtendedLifetime((present, missing, posters)) {
      try ProcessFigures.anonymousBytes()
    }

    let written = try ProcessFigures.writtenBytes()
    SystemCalls.begin(Phase.inserts.rawValue)
    for start in stride(from: 0, to: posters.count, by: Self.batchPosters) {
      for poster in posters[start..<start + Self.batchPosters] { cache.insert(poster) }
      try cache.flush()
    }
    SystemCalls.begin(Phase.closing.rawValue)
    if !posters.isEmpty {
      findings.writtenPerStored =
        Double(try ProcessFigures.writtenBytes() - written)
        / Double(posters.count * Self.posterBytes)
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
