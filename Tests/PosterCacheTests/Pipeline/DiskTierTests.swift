import Glibc
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// A cache directory that goes away under a pipeline.
@Suite(.timeLimit(.minutes(1)))
struct DiskTierTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/cache" }
  private let warnings = Monitor<[PosterError]>([])

  private func pipeline(_ origin: DemoOrigin, isRequired: Bool = true) throws -> PosterPipeline {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = path
    configuration.isDirectoryRequired = isRequired
    configuration.onWarning = { [warnings] error in warnings.withLock { $0.append(error) } }
    return try PosterPipeline(configuration)
  }

  private func request(_ number: Int, _ origin: DemoOrigin) throws -> PosterRequest {
    try PosterRequest(
      path: "/poster\(number).jpg", size: .w92, images: origin.images, priority: .background)
  }

  private var codes: [PosterError.Code] { warnings.withLock { $0.map(\.code) } }

  @Test(arguments: [false, true])
  func `storing goes on in a directory that was deleted or replaced`(isReplaced: Bool) async throws
  {
    let origin = try DemoOrigin(DemoOrigin.Configuration())
    defer { origin.shutdown() }
    let pipeline = try pipeline(origin)
    for round in 0..<3 {
      let first = 10 * round
      for number in first..<first + 3 { try await pipeline.warm(request(number, origin)) }
      #expect(try DiskCache(directory: path).statistics().entries == 3 + (round > 0 ? 1 : 0))
      #expect(rename(path, "\(directory.path)/gone\(round)") == 0)
      if isReplaced { _ = try DiskCache(directory: path) }
      // What was there is served as long as it can be; what comes is stored at the new place, the
      // very first of it included.
      try await pipeline.warm(request(first + 5, origin))
      #expect(try DiskCache(directory: path).statistics().entries == 1)
      #expect(codes.count == round + 1)
    }
    #expect(codes.allSatisfy { $0 == .directoryUnavailable })
    await pipeline.shutdown()
    #expect(try DiskCache.verify(directory: path).isSound)
  }

  @Test func `whoever closes returns when everything is stored, also as the second`() throws {
    for round in 0..<20 {
      let tier = try DiskTier(
        "\(directory.path)/\(round)", limit: nil, isRequired: true, warnings: WarningGate { _ in })
      let stored = Monitor(0)
      for number in 0..<200 {
        tier.insert(SamplePoster.make(number, bytes: 4000), isSeen: false) { result in
          if case .success = result { stored.withLock { $0 += 1 } }
        }
      }
      let counts = Monitor<[Int]>([])
      let closers = (0..<3).map { _ in
        WorkerThread(name: "closer") {
          tier.close()
          let count = stored.withLock { $0 }
          counts.withLock { $0.append(count) }
        }
      }
      for closer in closers { closer.join() }
      #expect(counts.withLock { $0 } == [200, 200, 200])
      #expect(tier.cache == nil)
    }
  }

  @Test func `a directory that cannot be used costs a warning, and no poster`() async throws {
    let origin = try DemoOrigin(DemoOrigin.Configuration())
    defer { origin.shutdown() }
    // A file stands in its place.
    close(open(path, O_CREAT | O_WRONLY, 0o644))
    let error = #expect(throws: PosterError.self) { try self.pipeline(origin) }
    #expect(error?.code == .directoryUnavailable)
    let pipeline = try pipeline(origin, isRequired: false)
    for number in 0..<5 {
      let poster = try await pipeline.poster(for: request(number, origin))
      #expect(poster.source == .network)
    }
    #expect(codes == [.directoryUnavailable])
    #expect(pipeline.disk == nil)
    await pipeline.shutdown()
  }

  @Test func `a directory that cannot be made anew costs one more`() async throws {
    let origin = try DemoOrigin(DemoOrigin.Configuration())
    defer { origin.shutdown() }
    let pipeline = try pipeline(origin)
    try await pipeline.warm(request(0, origin))
    #expect(rename(path, "\(directory.path)/gone") == 0)
    close(open(path, O_CREAT | O_WRONLY, 0o644))
    let error = await #expect(throws: PosterError.self) {
      try await pipeline.warm(request(1, origin))
    }
    #expect(error?.code == .directoryUnavailable)
    for number in 2..<6 {
      _ = try await pipeline.poster(for: request(number, origin))
    }
    #expect(codes == [.directoryUnavailable])
    await pipeline.shutdown()
  }
}
