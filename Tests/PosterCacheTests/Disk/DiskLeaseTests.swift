import CTestSupport
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// Descriptors given out, evictions beside readers, and children made by `fork`.
@Suite(.timeLimit(.minutes(10)))
struct DiskLeaseTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }
  private var files: CacheFiles { CacheFiles(path) }

  private func bytes(of lease: PosterLease) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: lease.count)
    let count = pread(lease.fileDescriptor, &bytes, bytes.count, off_t(lease.offset))
    return count == bytes.count ? bytes : []
  }

  private func isRight(_ lease: PosterLease, _ number: Int, bytes count: Int) -> Bool {
    bytes(of: lease) == Array(SamplePoster.make(number, bytes: count).body.data)
  }

  @Test func `a lease keeps an evicted poster's bytes in place until it ends`() throws {
    let cache = try DiskCache(directory: path)
    for number in 0..<3 { cache.insert(SamplePoster.make(number, bytes: 30_000)) }
    // Also one that waits to be written.
    var lease = try cache.lease(SamplePoster.request(1))
    var second = try cache.lease(SamplePoster.request(1))
    try cache.evict([SamplePoster.request(0), SamplePoster.request(1)])
    try cache.flush()
    #expect(try cache.poster(for: SamplePoster.request(1)) == nil)
    #expect(try cache.lease(SamplePoster.request(1)) == nil)
    // Nobody holds on to number 0, whose blocks are free.
    #expect(files.segmentBytes == 2 * 32_768)
    #expect(try #require(lease).metadata == SamplePoster.make(1).metadata)
    #expect(isRight(try #require(lease), 1, bytes: 30_000))
    // What is held counts against the limit.
    #expect(try cache.statistics().bytes == 2 * 32_768)
    lease = nil
    cache.close()
    #expect(files.segmentBytes == 2 * 32_768)
    #expect(isRight(try #require(second), 1, bytes: 30_000))
    second = nil
    // The next one to open the directory, or a second that passes, gives it back.
    let next = try DiskCache(directory: path)
    try next.flush()
    #expect(try next.statistics().bytes == 32_768)
    #expect(files.segmentBytes == 32_768)
  }

  @Test func `a lease keeps a whole segment that is cleared`() throws {
    let cache = try DiskCache(directory: path)
    for number in 0..<3 { cache.insert(SamplePoster.make(number, bytes: 30_000)) }
    var lease = try cache.lease(SamplePoster.request(1))
    try cache.removeAll()
    try cache.flush()
    #expect(isRight(try #require(lease), 1, bytes: 30_000))
    #expect(try cache.statistics().bytes == files.segmentBytes)
    lease = nil
    cache.close()
    let next = try DiskCache(directory: path)
    try next.flush()
    #expect(try next.statistics().bytes == 0)
    #expect(files.segments == [])
  }

  @Test func `what is held makes no room, and the limit holds all the same`() throws {
    let cache = try DiskCache(directory: path, limit: ByteSize(bytes: 10 * 32_768))
    for number in 0..<10 { cache.insert(SamplePoster.make(number, bytes: 30_000)) }
    let leases = try (0..<4).map { try cache.lease(SamplePoster.request($0)) }
    try cache.evict((0..<4).map { SamplePoster.request($0) })
    for number in 10..<20 {
      #expect(cache.store(SamplePoster.make(number, bytes: 30_000)) == nil)
      #expect(try cache.statistics().bytes <= 10 * 32_768)
      #expect(files.segmentBytes <= 10 * 32_768)
    }
    #expect(try cache.numbers() == [19, 18, 17, 16, 15, 14])
    for (number, lease) in leases.enumerated() {
      #expect(isRight(try #require(lease), number, bytes: 30_000))
    }
    // A poster that needs more than is left beside them.
    #expect(cache.store(SamplePoster.make(30, bytes: 250_000))?.code == .notStored)
  }

  @Test func `another process's eviction waits for a lease as well`() async throws {
    let cache = try DiskCache(directory: path)
    for number in 0..<3 { cache.insert(SamplePoster.make(number, bytes: 30_000)) }
    let lease = try #require(try cache.lease(SamplePoster.request(2)))
    let result = await PosterCacheBinary.run(["clear", "--cache-dir", path])
    #expect(result.status == 0)
    #expect(isRight(lease, 2, bytes: 30_000))
    #expect(try cache.numbers() == [])
    #expect(cache.store(SamplePoster.make(5)) == nil)
    #expect(isRight(lease, 2, bytes: 30_000))
  }

  /// How far the threads of a test have come.
  private final class Progress: Sendable {
    let isDone = Atomic(false)
    let hits = Atomic(0)
    let leases = Atomic(0)
    let wrong = Atomic(0)
  }

  @Test func `readers get the right bytes or a miss while their posters are evicted`() throws {
    let cache = try DiskCache(directory: path, limit: ByteSize(bytes: 6 * 32_768))
    let other = try DiskCache(directory: path)
    let progress = Progress()
    let right = (0..<12).map { number in
      (0..<2).map { SamplePoster.make(number, bytes: 30_000, version: $0) }
    }
    let threads = (0..<3).map { role in
      WorkerThread(name: "evict-read-\(role)") {
        if role == 2 {
          // Versions of the same few posters, which evict each other all the time.
          for version in 0..<1500 {
            let poster = right[version % 12][version / 12 % 2]
            (version.isMultiple(of: 2) ? cache : other).insert(poster)
            if version.isMultiple(of: 16) {
              _ = try? cache.evict([SamplePoster.request(version % 12 / 2)])
            }
          }
          return progress.isDone.store(true, ordering: .releasing)
        }
        var number = 0
        while !progress.isDone.load(ordering: .acquiring) {
          number = (number + 5) % 12
          let request = SamplePoster.request(number)
          let read: [UInt8]?
          if role == 0 {
            read = (try? cache.poster(for: request)).flatMap { $0.map { Array($0.body.data) } }
            if read != nil { progress.hits.add(1, ordering: .relaxed) }
          } else {
            let lease = (try? other.lease(request)).flatMap { $0 }
            read = lease.map { self.bytes(of: $0) }
            if read != nil { progress.leases.add(1, ordering: .relaxed) }
          }
          if let read, !right[number].contains(where: { $0.body.data.elementsEqual(read) }) {
            progress.wrong.add(1, ordering: .relaxed)
          }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(progress.wrong.load(ordering: .relaxed) == 0)
    #expect(progress.hits.load(ordering: .relaxed) > 0)
    #expect(progress.leases.load(ordering: .relaxed) > 0)
    // Nobody found a good record damaged.
    #expect(try cache.statistics().corrupt == 0)
    cache.close()
    other.close()
    #expect(try DiskCache.verify(directory: path).isSound)
  }

  #if POSTERCACHE_THREAD_SANITIZER
    private static let canRunInChild = false
  #else
    private static let canRunInChild = true
  #endif

  @Test(
    .enabled(
      if: canRunInChild,
      "with ThreadSanitizer, Swift's runtime now and then hangs in a child of a process with threads"
    ))
  func `a child made by fork gets errors and harms nothing`() throws {
    let cache = try DiskCache(directory: path)
    #expect(cache.store(SamplePoster.make(1)) == nil)
    // Locks that other threads hold at the moment of the fork must not matter either.
    final class Context: @unchecked Sendable {  // handed to one child, used by nobody else
      let cache: DiskCache
      let path: String
      init(cache: DiskCache, path: String) {
        self.cache = cache
        self.path = path
      }
    }
    // In the parent first, on another cache: what Swift's runtime does only once must be done before the
    // fork, as another thread may be about it at that moment.
    let other = TemporaryDirectory()
    let rehearsal = Context(cache: try DiskCache(directory: other.path), path: other.path)
    #expect(Self.firstAllowed(rehearsal.cache, path: rehearsal.path) == 1)
    try cache.flush()
    let context = Context(cache: cache, path: path)
    let status = postercache_run_in_child(
      { pointer in
        // Passed below.
        let context = Unmanaged<Context>.fromOpaque(pointer!).takeUnretainedValue()
        return Self.firstAllowed(context.cache, path: context.path)
      }, Unmanaged.passUnretained(context).toOpaque())
    #expect(status == 0)
    // The parent goes on.
    #expect(try cache.hasSample(1))
    #expect(cache.store(SamplePoster.make(3)) == nil)
    #expect(try cache.numbers() == [3, 1])
  }

  /// The number of the first call on `cache` that was not refused as one in a child made by `fork`, 0 if
  /// all were.
  private static func firstAllowed(_ cache: DiskCache, path: String) -> CInt {
    func isRefused(_ body: () throws -> Void) -> Bool {
      do { try body() } catch { return (error as? PosterError)?.code == .forkedProcess }
      return false
    }
    let request = SamplePoster.request(1)
    let isInsertRefused = Monitor(false)
    let isConfirmRefused = Monitor(false)
    // For the rehearsal, in which nothing is refused.
    _ = isRefused { throw ForkGuard.error }
    let checks = [
      isRefused { _ = try cache.poster(for: request) },
      isRefused { _ = try cache.lease(request) },
      isRefused { try cache.flush() },
      isRefused { _ = try cache.statistics() },
      isRefused { try cache.forEachEntry { _ in true } },
      isRefused { try cache.evict([request]) },
      isRefused { try cache.removeAll() },
      isRefused { _ = try cache.absence(of: request) },
      isRefused { _ = try DiskCache(directory: path) },
      isRefused { _ = try DiskCache.verify(directory: path) },
    ]
    cache.insert(SamplePoster.make(2)) { result in
      guard case .failure(let error) = result, error.code == .forkedProcess else { return }
      isInsertRefused.withLock { $0 = true }
    }
    let poster = SamplePoster.make(1)
    cache.confirm(poster, as: poster.metadata) { result in
      guard case .failure(let error) = result, error.code == .forkedProcess else { return }
      isConfirmRefused.withLock { $0 = true }
    }
    cache.noteAbsence(of: request, Absence(status: 404, notedAt: Date(), until: Date() + 600))
    cache.noteUse(of: request, isSeen: true)
    cache.close()
    guard isInsertRefused.withLock({ $0 }), isConfirmRefused.withLock({ $0 }) else {
      return CInt(checks.firstIndex(of: false) ?? checks.count) + 1
    }
    return CInt(checks.firstIndex(of: false).map { $0 + 1 } ?? 0)
  }
}
