import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// How much memory a process takes that decodes a lot: measured in processes of their own, because the
/// largest amount so far is all that the system tells.
@Suite(.timeLimit(.minutes(3)))
struct DecodeMemoryTests {
  private static let variable = "POSTERCACHE_MEMORY_CHILD"
  private static let isChild = ProcessInfo.processInfo.environment[variable] != nil
  private static let allowance = 64 << 20

  @Test(
    // AddressSanitizer keeps what has been freed, hundreds of MiB of it.
    .enabled(if: !isChild && postercache_allocated_bytes() > 0),
    arguments: ["DecodeMemoryTests/prefetching", "DecodeMemoryTests/decoding"])
  func `a process that decodes a lot stays within its limits and 64 MiB`(
    test: String
  ) async throws {
    let child = RunningCommand(
      path: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      arguments: ["--testing-library", "swift-testing", "--no-parallel", "--filter", test],
      environment: ProcessInfo.processInfo.environment.merging([Self.variable: "1"]) { $1 })
    let result = await child.result()
    #expect(result.status == 0, "\(result.output)")
    // It did run.
    #expect(result.output.contains("MiB more"), "\(result.output)")
  }

  @Test(.enabled(if: isChild)) func prefetching10000Posters() async throws {
    let directory = TemporaryDirectory()
    let (count, now) = (10_000, Date(timeIntervalSince1970: 1_800_000_000))
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    configuration.memoryLimit = ByteSize(bytes: 8 << 20)
    configuration.bitmapLimit = ByteSize(bytes: 16 << 20)
    configuration.decodeWorkers = 2
    configuration.isOffline = true
    configuration.clock = PosterClock { now }
    let size = PixelSize(width: 154, height: 231)
    let pipeline = try PosterPipeline(configuration) { (_, _, _) throws(PosterError) in
      let bitmap = Bitmap(size, alpha: .premultiplied, isOpaque: true) { pixels in
        // Every page is touched; a loop takes minutes in debug builds.
        _ = pixels.baseAddress.map { memset($0, 200, pixels.count) }
      }
      return PosterImage(
        bitmap: bitmap, fullSize: size, type: .jpeg, colorProfile: nil, isComplete: true,
        averageColor: PosterColor(red: 0, green: 0, blue: 0))
    }
    let disk = try #require(pipeline.disk)
    for number in 0..<count {
      disk.insert(SamplePoster.make(number, bytes: 8000))
      if number % 1000 == 999 { try disk.flush() }
    }
    let before = Self.largestResidentBytes
    let decoded = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<count {
        group.addTask {
          var request = SamplePoster.request(number)
          request.priority = .prefetch
          // An error is a failure of the test.
          return (try? await pipeline.image(for: request, fitting: size)) != nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(decoded == count)
    let growth = Self.largestResidentBytes - before
    print("10,000 posters took \(growth >> 20) MiB more")
    #expect(growth < (24 << 20) + Self.allowance)
    await pipeline.shutdown()
  }

  @Test(.enabled(if: isChild)) func decodingFortyLargePictures() async throws {
    let body = PosterBody(copying: try SamplePicture(greySide: 4000).jpeg())
    var configuration = PosterPipeline.Configuration()
    configuration.memoryLimit = ByteSize(bytes: 32 << 20)
    configuration.bitmapLimit = ByteSize(bytes: 16 << 20)
    configuration.decodeWorkers = 2
    let pipeline = try PosterPipeline(configuration)
    let now = Date()
    for number in 0..<40 {
      let metadata = PosterMetadata(
        address: SamplePoster.request(number).address, type: .jpeg, storedAt: now,
        expiresAt: now + 3600)
      pipeline.memory.insert(StoredPoster(metadata: metadata, body: body))
    }
    // What making the picture took has been given back.
    Self.forgetLargest()
    let before = Self.largestResidentBytes
    let decoded = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask {
          let size = PixelSize(width: 500, height: 500)
          // An error is a failure of the test.
          let image = try? await pipeline.image(for: SamplePoster.request(number), fitting: size)
          return image?.bitmap.size == size
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(decoded == 40)
    let growth = Self.largestResidentBytes - before
    print("40 pictures of 16 megapixels took \(growth >> 20) MiB more")
    #expect(growth < (16 << 20) + Self.allowance)
    await pipeline.shutdown()
  }

  /// The most memory that this process has had in RAM (`VmHWM`: proc(5)).
  private static var largestResidentBytes: Int {
    // It is there on every Linux.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let number = line.flatMap { Int($0.dropFirst(6).filter { $0.isASCII && $0.isNumber }) }
    return (number ?? 0) << 10
  }

  /// Has the most begin anew with what there is now (`clear_refs`: proc(5)).
  private static func forgetLargest() {
    let file = open("/proc/self/clear_refs", O_WRONLY)
    defer { close(file) }
    precondition(write(file, "5", 1) == 1, "clear_refs: \(String(cString: strerror(errno)))")
  }
}

extension SamplePicture {
  /// A grey square.
  fileprivate init(greySide side: Int) {
    width = side
    height = side
    pixels = [UInt8](repeating: 128, count: side * side * 4)
  }
}
