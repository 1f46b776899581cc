import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// What counts against the limit, and what gives back what when.
@Suite(.timeLimit(.minutes(10)))
struct DiskAccountingTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/cache" }
  private var files: CacheFiles { CacheFiles(path) }

  @Test func `a directory that was deleted keeps the limit that was asked for`() throws {
    let tier = try DiskTier(
      path, limit: ByteSize(bytes: 8 << 20), isRequired: true, warnings: WarningGate { _ in })
    store(0, in: tier)
    #expect(rename(path, "\(directory.path)/gone") == 0)
    store(1, in: tier)
    #expect(try DiskCache(directory: path).statistics().limit == 8 << 20)
    tier.close()
  }

  private func store(_ number: Int, in tier: DiskTier) {
    let result = Monitor<Bool?>(nil)
    tier.insert(SamplePoster.make(number), isSeen: true) { _ in
      result.withLock { $0 = true }
      result.signal()
    }
    _ = result.wait(untilNanoseconds: { _ in nil }, for: { $0 })
  }

  @Test func `a large poster that replaces its earlier version stays within the limit`() throws {
    let limit = 24 << 20
    let cache = try DiskCache(directory: path, limit: ByteSize(bytes: limit))
    let versions = (0..<2).map { SamplePoster.make(1, bytes: 16 << 20, version: $0) }
    #expect(cache.store(versions[0]) == nil)
    let isDone = Atomic(false)
    let most = Atomic(0)
    let poller = WorkerThread(name: "poller") { [path] in
      while !isDone.load(ordering: .relaxed) {
        most.max(CacheFiles(path).segmentBytes, ordering: .relaxed)
      }
    }
    for round in 1...10 { #expect(cache.store(versions[round % 2]) == nil) }
    isDone.store(true, ordering: .relaxed)
    poller.join()
    #expect(most.load(ordering: .relaxed) <= limit + 2 << 20)
  }

  @Test func `a lease on one poster does not keep a cleared cache full`() throws {
    let cache = try DiskCache(directory: path, limit: ByteSize(bytes: 16 << 20))
    for number in 0..<15 { #expect(cache.store(SamplePoster.make(number, bytes: 1 << 20)) == nil) }
    let lease = try cache.lease(SamplePoster.request(3))
    try cache.removeAll()
    // One MiB of 16 is held.
    for number in 20..<30 {
      #expect(cache.store(SamplePoster.make(number, bytes: 1 << 20)) == nil)
    }
    #expect(try cache.statistics().entries == 10)
    _ = lease
  }

  @Test func `what one cache holds for a lease counts for the others at once`() throws {
    let limit = 16 << 20
    let caches = try (0..<2).map { _ in
      try DiskCache(directory: path, limit: ByteSize(bytes: limit))
    }
    let requests = (0..<14).map { SamplePoster.request($0) }
    for number in 0..<14 {
      #expect(caches[0].store(SamplePoster.make(number, bytes: 1 << 20)) == nil)
    }
    let leases = try requests.map { try caches[0].lease($0) }
    try caches[0].evict(requests)
    for number in 20..<30 { _ = caches[1].store(SamplePoster.make(number, bytes: 1 << 20)) }
    #expect(files.segmentBytes <= limit + 2 * 2 << 20)
    _ = leases
  }

  @Test func `what a lease held is noted as given back without another change`() throws {
    let directory = try CacheDirectory(path, creating: true, prepare: IndexRecovery.prepare)
    let index = try Index.acquire(in: directory.index)
    defer { Index.release(index) }
    let segments = SegmentFiles(directory: directory)
    let editor = DirectoryEditor(
      index: index, directory: directory, files: segments, counters: DiskCounters())
    editor.begin()
    let insertions = (0..<2).compactMap {
      DiskQueue.Insertion(SamplePoster.make($0), isSeen: true) { _ in }
    }
    _ = editor.perform(insertions.map { .insert($0) })
    var lease = try segments.leased(1, 0..<4096)
    #expect(lease != nil)
    _ = editor.perform([.edit(.remove([SamplePoster.request(0).key])) { _ in }])
    for _ in 0..<3 {
      editor.lastCareAt = 0
      editor.takeCare()
    }
    lease = nil
    for _ in 0..<3 {
      editor.lastCareAt = 0
      editor.takeCare()
    }
    let pending = try index.read { rows throws(PosterError) in try rows.pendingExtents() }
    #expect(pending == [])
    // Nothing is left that would have to be looked at every second.
    #expect(editor.nextCare == nil)
  }

  @Test func `a segment of small posters can be emptied`() throws {
    let directory = try CacheDirectory(path, creating: true, prepare: IndexRecovery.prepare)
    let cache = try DiskCache(in: directory)
    for number in 0..<600 { cache.insert(SamplePoster.make(number, bytes: 500)) }
    try cache.flush()
    cache.close()
    try cache.index.edit { editor throws(PosterError) in try editor.closeSegment(1) }
    let editor = DirectoryEditor(
      index: cache.index, directory: directory, files: SegmentFiles(directory: directory),
      counters: DiskCounters())
    let before = files.segmentBytes
    // Every record fits into one call, and what is written twice into what a batch may be.
    #expect(throws: Never.self) { try editor.empty(1) }
    editor.noteRelease()
    #expect(try cache.index.read { rows throws(PosterError) in try rows.segment(1) } == nil)
    #expect(files.segmentBytes == before)
    #expect(try cache.hasSample(599, bytes: 500))
  }

  @Test func `the last of two users that close at once notes that all is synced`() throws {
    do {
      let caches = try (0..<2).map { _ in try DiskCache(directory: path) }
      for (number, cache) in caches.enumerated() {
        #expect(cache.store(SamplePoster.make(number)) == nil)
      }
      for cache in caches { cache.close() }
    }
    // Otherwise every segment is read again after the next start, and the order of use is lost.
    let state = try String(contentsOfFile: "\(path)/state", encoding: .utf8)
    #expect(state.contains("\nsynced"))
  }

  @Test func `a cache given by a relative path survives a change of the working directory`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      precondition(chdir(directory.path) == 0)
      let cache = try DiskCache(directory: "cache")
      #expect(cache.store(SamplePoster.make(1)) == nil)
      precondition(chdir("/") == 0)
      #expect(cache.store(SamplePoster.make(2)) == nil)
    }
  }
}
