import FoundationEssentials
import Glibc
import PosterCache
import PosterServer

/// The posters that every suite uses: the demo origin's, w342, under names like TMDB's and as heavy as
/// TMDB's are.
///
/// Drawn once and written below a directory as `t/p/w342/NAME`, where a web server can serve them;
/// a directory that has them already is used as it is.
struct PosterCorpus: Sendable {
  /// The directory a web server's root would be.
  let root: String
  /// The file names, in the order in which they are asked for.
  let names: [String]
  /// The size of each file.
  let sizes: [Int]

  /// The sum of the sizes.
  var bytes: Int { sizes.reduce(0, +) }

  /// The place of the poster whose size is nearest to 40,000 bytes.
  var typical: Int {
    sizes.indices.min { abs(sizes[$0] - 40_000) < abs(sizes[$1] - 40_000) } ?? 0
  }

  /// How many there are and how heavy, for the report.
  var description: String { Self.description(ofSizes: sizes) }

  /// The same of some of them.
  static func description(ofSizes sizes: [Int]) -> String {
    let sorted = sizes.sorted()
    guard let least = sorted.first, let most = sorted.last else { return "no posters" }
    func kilobytes(_ bytes: Int) -> Int { (bytes + 500) / 1000 }
    return """
      \(sizes.count) posters (\(ByteSize(bytes: sizes.reduce(0, +)))): JPEGs of \
      \(kilobytes(least)) to \(kilobytes(most)) KB, the median \
      \(kilobytes(sorted[sorted.count / 2])), the 99th percentile \
      \(kilobytes(sorted[sorted.count * 99 / 100]))
      """
  }

  /// The directory of the files, below the root.
  static let folder = "t/p/w342"

  init(root: String, count: Int, progress: (String) -> Void) throws(BenchError) {
    var generator = SplitMix64(seed: 342)
    names = (0..<count).map { _ in Self.name(&generator) }
    guard mkdir(root, 0o755) == 0 || errno == EEXIST else { throw BenchError(call: "mkdir", root) }
    self.root = try Self.absolute(root)
    var directory = root
    for part in Self.folder.split(separator: "/") {
      directory += "/\(part)"
      guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
        throw BenchError(call: "mkdir", directory)
      }
    }
    let missing = try Self.missing(names, in: directory)
    if !missing.isEmpty {
      progress("drawing \(missing.count) posters into \(directory)")
      try Self.draw(missing, into: directory)
    }
    sizes = try names.map { name throws(BenchError) in
      var status = stat()
      guard stat("\(directory)/\(name)", &status) == 0 else {
        throw BenchError(call: "stat", "\(directory)/\(name)")
      }
      return Int(status.st_size)
    }
  }

  /// The path of a poster's file.
  func path(_ name: String) -> String { "\(root)/\(Self.folder)/\(name)" }

  /// The posters under their addresses at a host, as they would have been received from it.
  func load(host: String) throws -> [StoredPoster] {
    try names.map { name in
      let address = try PosterAddress("http://\(host)/\(Self.folder)/\(name)")
      let now = PosterClock.system.now()
      return StoredPoster(
        metadata: PosterMetadata(
          address: address, type: .jpeg, etag: "\"5f3e1c2a-b4d1\"",
          lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", storedAt: now,
          expiresAt: now + 31_536_000),
        body: PosterBody(copying: try TextFile.read(path(name))))
    }
  }

  /// The path without reference to the working directory: a web server has its own.
  private static func absolute(_ path: String) throws(BenchError) -> String {
    guard let resolved = realpath(path, nil) else { throw BenchError(call: "realpath", path) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// 27 letters and digits, as TMDB's names are.
  private static func name(_ generator: inout SplitMix64) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    return String((0..<27).map { _ in letters.randomElement(using: &generator)! }) + ".jpg"
  }

  /// Which of `names` have to be drawn: those without a file, or all of them where one of a few files is
  /// not what would be drawn now.
  private static func missing(
    _ names: [String], in directory: String
  ) throws(BenchError) -> [String] {
    // From all parts of the list: a run with fewer posters may have drawn the first ones anew, and only
    // those. Several, since not every change of the recipe changes every poster.
    let samples = stride(from: 0, to: names.count, by: max(1, names.count / 8))
    let isCurrent = samples.allSatisfy { place in
      (try? TextFile.read("\(directory)/\(names[place])"))
        == WeightedPoster.encode(name: names[place])
    }
    return isCurrent ? names.filter { access("\(directory)/\($0)", R_OK) != 0 } : names
  }

  private static func draw(_ names: [String], into directory: String) throws(BenchError) {
    let work = Monitor((next: 0, failure: BenchError?.none))
    let threads = (0..<sysconf(CInt(_SC_NPROCESSORS_ONLN))).map { _ in
      WorkerThread(name: "bench-draw") {
        while true {
          let place = work.withLock { work -> Int? in
            guard work.failure == nil, work.next < names.count else { return nil }
            work.next += 1
            return work.next - 1
          }
          guard let place else { return }
          do throws(BenchError) {
            // Under its own name only once it is whole: an interrupted run leaves no half poster.
            let path = "\(directory)/\(names[place])"
            try TextFile.write(WeightedPoster.encode(name: names[place]), to: path + ".new")
            guard rename(path + ".new", path) == 0 else { throw BenchError(call: "rename", path) }
          } catch {
            work.withLock { $0.failure = error }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    if let failure = work.withLock({ $0.failure }) { throw failure }
  }
}
