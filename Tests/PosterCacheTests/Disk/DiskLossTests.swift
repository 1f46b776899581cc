import FoundationEssentials
import Glibc
import PosterServer
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// A pipeline whose cache directory goes away or fills up while it runs.
@Suite(.timeLimit(.minutes(10)))
struct DiskLossTests {
  private let directory = TemporaryDirectory()
  private let origin: DemoOrigin
  private let warnings = Warnings()

  /// What a pipeline warned of.
  private final class Warnings: Sendable {
    private let list = Mutex<[PosterError]>([])
    var all: [PosterError] { list.withLock { $0 } }
    func add(_ warning: PosterError) { list.withLock { $0.append(warning) } }
  }

  init() throws {
    origin = try DemoOrigin()
  }

  private var cache: String { "\(directory.path)/cache" }

  @Test func `a directory deleted while in use is made anew, with one warning`() async throws {
    let pipeline = try await usedPipeline(cache)
    try FileManager.default.removeItem(atPath: cache)
    try await askUntilStored(pipeline, in: cache)
    await pipeline.shutdown()
    try DiskInspection(cache).expectSound("made anew")
  }

  @Test func `so is one of which only the contents were deleted`() async throws {
    let pipeline = try await usedPipeline(cache)
    for name in try FileManager.default.contentsOfDirectory(atPath: cache) {
      try FileManager.default.removeItem(atPath: "\(cache)/\(name)")
    }
    try await askUntilStored(pipeline, in: cache)
    await pipeline.shutdown()
    try DiskInspection(cache).expectSound("made anew")
  }

  @Test func `of many posters on their way at that moment all come, and what was stored stays`()
    async throws
  {
    let pipeline = try await usedPipeline(cache)
    // Arrived all at once, they wait for the same writer.
    let held = origin.hold("/t/p/*")
    let names = (0..<24).map { "many\($0).jpg" }
    let outcomes = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      for name in names {
        let request = try request(name)
        // Some are looked at, and some are only to be stored.
        group.addTask { (name, (try? await pipeline.warm(request)) != nil) }
        let seen = try self.request("seen-\(name)")
        group.addTask { ("", try await pipeline.poster(for: seen).source == .network) }
      }
      await held.waitForRequests(1)
      try FileManager.default.removeItem(atPath: cache)
      held.release()
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(warnings.all.count == 1, "\(warnings.all)")
    try await askUntilStored(pipeline, in: cache)
    for name in names where outcomes[name] == true {
      #expect(try await pipeline.warm(request(name)) == .hit, "\(name)")
    }
    await pipeline.shutdown()
    try DiskInspection(cache).expectSound("made anew")
  }

  @Test func `a directory replaced by another one is left, and the other one used`() async throws {
    let pipeline = try await usedPipeline(cache)
    let known = try request("known.jpg")
    do {
      let other = try DiskCache(
        directory: "\(directory.path)/other", limit: ByteSize(bytes: 9 << 20))
      let metadata = PosterMetadata(
        address: known.address, type: .jpeg, storedAt: Date(), expiresAt: Date() + 10_000)
      let body = PosterBody(copying: DemoPoster.encode(name: "known.jpg", size: .w92))
      #expect(other.storing(StoredPoster(metadata: metadata, body: body)) == nil)
      other.close()
    }
    let old = "\(directory.path)/old"
    #expect(rename(cache, old) == 0)
    #expect(rename("\(directory.path)/other", cache) == 0)
    try await askUntilStored(pipeline, in: cache, beyond: 1)
    #expect(try await pipeline.poster(for: known).source == .disk)
    #expect(origin.requestCount(of: "/t/p/w92/known.jpg") == 0)
    await pipeline.shutdown()
    for path in [cache, old] { try DiskInspection(path).expectSound(path) }
    // The limit is the directory's, and nobody has named another one.
    #expect(try DiskCache(directory: cache).statistics().limit == 9 << 20)
    #expect(try DiskCache(directory: old).statistics().entries >= 5)
  }

  @Test func `where the directory cannot be made anew, pictures still come, with one warning`()
    async throws
  {
    let pipeline = try await usedPipeline(cache)
    try FileManager.default.removeItem(atPath: cache)
    // A file in its place.
    #expect(FileManager.default.createFile(atPath: cache, contents: Data("mine".utf8)))
    for number in 0..<20 { try await ask(pipeline, "blocked\(number).jpg") }
    // The loss is one kind of news; that it lasts is none.
    #expect(warnings.all.count == 1, "\(warnings.all)")
    #expect(try Data(contentsOf: URL(filePath: cache)) == Data("mine".utf8))
    unlink(cache)
    try await askUntilStored(pipeline, in: cache)
    await pipeline.shutdown()
  }

  @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
  func `on a disk that fills up pictures still come, with one warning, and storing resumes`()
    async throws
  {
    let disk = try #require(SmallDisk(megabytes: 6))
    let path = "\(disk.path)/cache"
    let pipeline = try await usedPipeline(path)
    let ballast = disk.fillWithBallast()
    for number in 0..<20 { try await ask(pipeline, "full\(number).jpg") }
    #expect(warnings.all.map(\.code) == [.notStored], "\(warnings.all)")
    unlink(ballast)
    try await askUntilStored(pipeline, in: path, beyond: 5)
    await pipeline.shutdown()
    try DiskInspection(path).expectSound("after a full disk")
  }

  // MARK: -

  /// A pipeline that has stored five posters without a warning.
  private func usedPipeline(_ path: String) async throws -> PosterPipeline {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = path
    configuration.onWarning = { [warnings] in warnings.add($0) }
    let pipeline = try PosterPipeline(configuration)
    for number in 0..<5 {
      #expect(try await pipeline.warm(request("before\(number).jpg")) != .hit)
    }
    #expect(warnings.all.isEmpty)
    return pipeline
  }

  /// Asks for poster after poster, all of which must come, until the cache in `path` has more than so
  /// many of them; there has been one warning by then, and what is stored from then on is found again.
  private func askUntilStored(
    _ pipeline: PosterPipeline, in path: String, beyond entries: Int = 0
  ) async throws {
    var number = 0
    while number < 50, count(path) <= entries {
      try await ask(pipeline, "after\(number).jpg")
      number += 1
    }
    #expect(count(path) > entries, "nothing was stored after \(number) requests")
    #expect(warnings.all.count == 1, "\(warnings.all)")
    for number in 0..<5 {
      #expect(try await pipeline.warm(request("again\(number).jpg")) != .hit)
      #expect(try await pipeline.warm(request("again\(number).jpg")) == .hit)
    }
    #expect(count(path) >= entries + 5)
    #expect(warnings.all.count == 1, "\(warnings.all)")
  }

  /// Looks at one poster and warms another one.
  private func ask(_ pipeline: PosterPipeline, _ name: String) async throws {
    let poster = try await pipeline.poster(for: request(name))
    let drawn = DemoPoster.encode(name: name, size: .w92)
    #expect(poster.body == PosterBody(copying: drawn), "\(name)")
    // What cannot be stored is told; that is what this waits for.
    _ = try? await pipeline.warm(request("warm-\(name)"))
  }

  private func count(_ path: String) -> Int {
    // Where there is none, nothing is stored.
    (try? DiskCache(directory: path, creating: false).statistics().entries) ?? 0
  }

  private func request(_ name: String) throws(PosterError) -> PosterRequest {
    try PosterRequest(path: name, size: .w92, images: origin.images)
  }
}
