import Glibc
import PosterCache

/// What a dry run finds out: which posters would be fetched, and about how much that is.
///
/// Looks into the cache if there is one, creates and changes nothing in it, and is no use of it.
struct Foresight: Sendable {
  /// Posters that were looked for.
  private(set) var looked = 0
  /// Those of them that a server would be asked for.
  private(set) var wouldFetch = 0
  /// About how many bytes those have.
  private(set) var bytes = 0
  /// Whether pictures that are stored told how large others are.
  var isMeasured: Bool { weights.isMeasured }

  /// The cache that is looked into, `nil` if there is none.
  let disk: DiskCache?
  private let size: PosterSize
  private var weights = PictureWeights()
  /// The posters that count: enough for a mean, and few enough to wait for.
  private static let weighed = 2_000

  /// - Parameters:
  ///   - directory: the cache directory, which need not exist; `nil` if there is none.
  ///   - size: the size that is wanted.
  /// - Throws: what opening the cache fails with, as it would without a dry run.
  init(directory: String?, size: PosterSize) throws(PosterError) {
    self.size = size
    guard let directory, access("\(directory)/format", F_OK) == 0 else {
      disk = nil
      return
    }
    let disk = try DiskCache(directory: directory, creating: false)
    self.disk = disk
    var weights = weights
    var left = Self.weighed
    try disk.forEachEntry { entry in
      weights.add(entry.metadata.address, bytes: entry.bytes)
      left -= 1
      return left > 0 && !Task.isCancelled
    }
    self.weights = weights
  }

  /// Whether a server would be asked for the poster, which counts then.
  mutating func wouldFetch(
    _ request: PosterRequest, through pipeline: PosterPipeline
  ) throws(PosterError) -> Bool {
    looked += 1
    guard try pipeline.wouldAsk(for: request, given: disk) else { return false }
    wouldFetch += 1
    bytes += weights.bytes(of: request.address, wanted: size)
    return true
  }

  /// The result for people.
  var text: String {
    let basis =
      isMeasured
      ? "by those that are stored" : "by what posters of that size usually have"
    return "would fetch \(wouldFetch) of \(counted(looked, "poster")), about"
      + " \(ByteSize(bytes: bytes)) (estimated \(basis))"
  }
}
