import CLinux
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// What a review found: each test states what should hold.
@Suite(.timeLimit(.minutes(2)))
struct DiskReviewTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/cache" }
  private var files: CacheFiles { CacheFiles(path) }

  // MARK: - The limit

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
    let directory = try CacheDirectory(path, creating: true) { _ in }
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
    let directory = try CacheDirectory(path, creating: true) { _ in }
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

  // MARK: - Files that are not ours

  @Test func `a rebuild does not follow a symbolic link in the directory`() throws {
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(1)) == nil) }
    let other = "\(directory.path)/other"
    mkdir(other, 0o755)
    close(open("\(other)/data.mdb", O_CREAT | O_WRONLY, 0o644))
    #expect(symlink(other, "\(path)/index/rebuilt") == 0)
    unlink("\(path)/index/data.mdb")
    _ = try? DiskCache.verify(directory: path, repairing: true)
    #expect(access("\(other)/data.mdb", F_OK) == 0)
  }

  @Test func `a segment of the last number does not spoil a rebuilt index`() throws {
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(1)) == nil) }
    close(open("\(path)/segments/4294967295.seg", O_CREAT | O_WRONLY, 0o644))
    unlink("\(path)/index/data.mdb")
    #expect(throws: Never.self) { try DiskCache.verify(directory: self.path, repairing: true) }
    #expect(throws: Never.self) { _ = try DiskCache(directory: self.path) }
  }

  // MARK: - Power cuts

  @Test func `a verification that changes the index says so before`() throws {
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(1)) == nil) }
    func index() throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/index/data.mdb")) }
    let state = try String(contentsOfFile: "\(path)/state", encoding: .utf8)
    #expect(state.contains("\nsynced"))
    let before = try index()
    let modified = try status("index/data.mdb").st_mtim
    #expect(try DiskCache.verify(directory: path).isSound)
    // Written to and never synced, and `state` says that all is well.
    let after = try status("index/data.mdb").st_mtim
    #expect(try index() == before, "the index has been written to")
    #expect(after.tv_sec == modified.tv_sec && after.tv_nsec == modified.tv_nsec)
  }

  private func status(_ file: String) throws -> stat {
    try FileDescriptor(opening: "\(path)/\(file)", flags: O_RDONLY).status()
  }

  @Test func `a file format that did not reach the disk does not cost the cache`() throws {
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(1)) == nil) }
    #expect(truncate("\(path)/format", 0) == 0)
    let cache = try DiskCache(directory: path)
    #expect(try cache.hasSample(1))
  }

  @Test func `covering an index that has grown meanwhile does not cut it`() throws {
    mkdir(path, 0o755)
    close(open("\(path)/data.mdb", O_CREAT | O_WRONLY, 0o644))
    let files = IndexFiles(directory: try CacheDirectory.openDirectory(path))
    // What another process has committed since the size was asked for.
    truncate("\(path)/data.mdb", 1 << 20)
    try files.cover(64 << 10)
    #expect(files.dataBytes == 1 << 20)
  }

  @Test func `looking for records reads a damaged segment about once`() throws {
    do {
      let cache = try DiskCache(directory: path)
      #expect(cache.store(SamplePoster.make(1, bytes: 32 << 20)) == nil)
    }
    files.flip("segments/00000001.seg", at: 0)
    unlink("\(path)/index/data.mdb")
    let before = try bytesRead()
    _ = try DiskCache.verify(directory: path, repairing: false)
    #expect(try bytesRead() - before < 4 * 32 << 20)
  }

  private func bytesRead() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let words = text.split(whereSeparator: \.isWhitespace)
    return Int(words[1]) ?? 0
  }

  // MARK: - Threads

  @Test func `a completion may close a cache that is being closed`() async throws {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let directory = TemporaryDirectory()
      for number in 0..<300 {
        let cache = try DiskCache(directory: directory.path)
        cache.insert(SamplePoster.make(number)) { _ in cache.close() }
        cache.close()
      }
    }
  }

  // MARK: - Damaged rows

  @Test func `a segment's count that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskReviewTests.damaging { transaction throws(PosterError) in
        var row = SegmentRow(committedEnd: 4096, liveBytes: 4096)
        row.liveCount = .max
        try transaction.put(.segments, SegmentKey(1), row)
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `a sequence number that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      let key = SamplePoster.request(1).key
      try DiskReviewTests.damaging { transaction throws(PosterError) in
        guard var row = try transaction.entry(key) else { return }
        row.sequence = .max
        try transaction.put(.entries, key, row)
      } then: { cache in
        _ = try DiskCache.verify(directory: cache.directory.path)
      }
    }
  }

  @Test func `a pending extent that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskReviewTests.damaging { transaction throws(PosterError) in
        try transaction.put(.pending, PendingKey(segment: 1, offset: .max), NumberRow(4096))
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `held bytes that cannot be are no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskReviewTests.damaging { transaction throws(PosterError) in
        for number in UInt32(10)..<20 {
          try transaction.put(
            .pending, PendingKey(segment: number, offset: 0), NumberRow(.max / 2))
        }
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `a time that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      let key = SamplePoster.request(1).key
      try DiskReviewTests.damaging { transaction throws(PosterError) in
        guard var row = try transaction.entry(key) else { return }
        row.expiresAt = .max
        try transaction.put(.entries, key, row)
      } then: { cache in
        guard let poster = try cache.peek(at: SamplePoster.request(1)) else { return }
        _ = cache.store(poster)
      }
    }
  }

  @Test func `a date that cannot be is no trap for a listing`() async throws {
    await #expect(processExitsWith: .success) {
      print(Date(milliseconds: .max).formatted(.iso8601))
    }
  }

  @Test func `a list of free pages that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) { try DiskReviewTests.damageFreePages() }
  }

  private static func damageFreePages() throws {
    let directory = TemporaryDirectory()
    for number in 0..<3 {
      try DiskCache(directory: directory.path).insert(SamplePoster.make(number))
    }
    let index = "\(directory.path)/index/data.mdb"
    var bytes = try Data(contentsOf: URL(filePath: index))
    func number<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Int {
      Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) })
    }
    // The newer of the first two pages, and in it the root of the table of free pages.
    let meta = number(144, UInt64.self) > number(4096 + 144, UInt64.self) ? 0 : 4096
    let root = number(meta + 80, UInt64.self) * 4096
    let node = root + number(root + 16, UInt16.self)
    let value = node + 8 + number(node + 6, UInt16.self)
    withUnsafeBytes(of: 1 << 60) { bytes.replaceSubrange(value..<value + 8, with: $0) }
    try bytes.write(to: URL(filePath: index))
    do {
      _ = try DiskCache(directory: directory.path).statistics()
    } catch {
      print(error)
    }
  }

  // MARK: - Want of descriptors

  @Test func `a repair without descriptors drops nothing that is intact`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      do {
        let cache = try DiskCache(
          in: CacheDirectory(directory.path, creating: true) { _ in }, canPunch: false)
        try cache.setLimit(ByteSize(bytes: 16 << 20))
        for number in 0..<8 { _ = cache.store(SamplePoster.make(number, bytes: 900_000)) }
      }
      for count in 10..<40 {
        var old = rlimit()
        getrlimit(__rlimit_resource_t(7), &old)
        var low = rlimit(rlim_cur: rlim_t(count), rlim_max: old.rlim_max)
        setrlimit(__rlimit_resource_t(7), &low)
        _ = try? DiskCache.verify(directory: directory.path, repairing: true)
        setrlimit(__rlimit_resource_t(7), &old)
        let left = try DiskCache(directory: directory.path).statistics().entries
        #expect(left == 8, "with \(count) descriptors")
        guard left == 8 else { return }
      }
    }
  }

  /// A cache with a poster whose index is damaged by `body`, and opened again.
  static func damaging(
    _ body: (IndexTransaction) throws(PosterError) -> Void, then: (DiskCache) throws -> Void
  ) throws {
    let directory = TemporaryDirectory()
    do {
      let cache = try DiskCache(directory: directory.path)
      _ = cache.store(SamplePoster.make(1))
      cache.close()
      try cache.index.write(body)
    }
    do {
      try then(DiskCache(directory: directory.path))
    } catch let error as PosterError {
      // Saying so is right.
      print(error)
    }
  }
}
