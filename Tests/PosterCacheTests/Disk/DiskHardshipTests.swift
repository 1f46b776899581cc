import CLinux
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// Files that are not ours, power cuts, full disks, and other things that happen to a directory.
@Suite(.timeLimit(.minutes(10)))
struct DiskHardshipTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/cache" }
  private var files: CacheFiles { CacheFiles(path) }

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

  /// What stands under a segment's name.
  enum Stranger: CaseIterable {
    case directory, link, pipe

    func take(_ path: String) {
      let status =
        switch self {
        case .directory: mkdir(path, 0o755)
        case .link: symlink("/dev/zero", path)
        case .pipe: mkfifo(path, 0o644)
        }
      #expect(status == 0)
    }
  }

  @Test(arguments: Stranger.allCases)
  func `what has the name of a segment and is none is passed over`(stranger: Stranger) throws {
    do {
      let cache = try DiskCache(directory: path)
      for number in 0..<3 { #expect(cache.store(SamplePoster.make(number)) == nil) }
    }
    #expect(unlink("\(path)/segments/00000001.seg") == 0)
    for number in 1...3 { stranger.take("\(path)/segments/0000000\(number).seg") }
    let lost = DiskVerification(checked: 3, missing: 3)
    #expect(try DiskCache.verify(directory: path) == lost)
    #expect(try DiskCache.verify(directory: path, repairing: true).repaired == 3)
    let cache = try DiskCache(directory: path)
    #expect(try cache.statistics().bytes == 0)
    #expect(cache.store(SamplePoster.make(7)) == nil)
    #expect(try cache.hasSample(7))
    #expect(files.segments.last == "00000004.seg")
    try cache.removeAll()
    cache.close()
    #expect(try DiskCache.verify(directory: path) == DiskVerification())
    #expect(files.segments == ["00000001.seg", "00000002.seg", "00000003.seg"])
  }

  @Test func `who only looks does not wait for who writes`() throws {
    let writer = try DiskCache(directory: path)
    for number in 0..<3 { #expect(writer.store(SamplePoster.make(number)) == nil) }
    // As if a process had been stopped in the middle of a batch.
    try writer.index.holdingWriters { () throws(PosterError) in
      let reader = try DiskCache(directory: path)
      #expect(try reader.poster(for: SamplePoster.request(1)) != nil)
      #expect(try reader.peek(at: SamplePoster.request(2)) != nil)
      #expect(try reader.lease(SamplePoster.request(0)) != nil)
      // Kept beyond this: closing it would note the uses.
      readers.withLock { $0.append(reader) }
      let lister = try DiskCache(directory: path)
      var listed = 0
      try lister.forEachEntry { _ in
        listed += 1
        return true
      }
      #expect(listed == 3)
      lister.close()
    }
    #expect(try writer.statistics().entries == 3)
  }

  private let readers = Monitor<[DiskCache]>([])

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
    let bytes = try bytesRead() - before
    #expect(bytes < 4 * 32 << 20)
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

  // MARK: - An index written anew

  @Test func `what a process leaves that is killed while it writes the index anew is taken away`()
    throws
  {
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(1)) == nil) }
    let left = "\(path)/index/rebuilt"
    mkdir(left, 0o755)
    let descriptor = open("\(left)/data.mdb", O_CREAT | O_WRONLY, 0o644)
    #expect(postercache_allocate(descriptor, 0, 8 << 20) == 0)
    close(descriptor)
    do { #expect(try DiskCache(directory: path).store(SamplePoster.make(2)) == nil) }
    #expect(CacheFiles.names(in: "\(path)/index") == ["data.mdb", "lock.mdb"])
  }

  @Test func `the limit holds while the index is written anew`() throws {
    let limit: Int
    let isDone = Atomic(false)
    let most = Atomic(0)
    let poller: WorkerThread
    do {
      let cache = try DiskCache(directory: path)
      for number in 0..<60_000 {
        cache.insert(SamplePoster.make(number, bytes: 8))
        if number % 500 == 0 { try cache.flush() }
      }
      try cache.flush()
      try cache.evict((0..<60_000).filter { $0 % 3 > 0 }.map { SamplePoster.request($0) })
      // The first one gives pages back, the second makes the cache full.
      for _ in 0..<2 { try cache.setLimit(ByteSize(bytes: cache.statistics().bytes)) }
      limit = try cache.statistics().limit
      poller = WorkerThread(name: "poller") { [path] in
        let index = ["data.mdb", "rebuilt/data.mdb"]
        // Segments stay as they are.
        let segments = CacheFiles(path).segmentBytes
        while !isDone.load(ordering: .relaxed) {
          let bytes = index.reduce(0) { $0 + CacheFiles.occupiedBytes(of: "\(path)/index/\($1)") }
          most.max(segments + bytes - 1 << 20, ordering: .relaxed)
        }
      }
    }
    isDone.store(true, ordering: .relaxed)
    poller.join()
    #expect(most.load(ordering: .relaxed) <= limit + 2 << 20)
  }

  // MARK: - A full disk

  @Test(arguments: [30, 24_000]) func `a cache can be emptied on a full disk`(count: Int) throws {
    let disk = try #require(SmallDisk(megabytes: 160))
    let cache = try DiskCache(directory: "\(disk.path)/cache")
    for number in 0..<count {
      cache.insert(SamplePoster.make(number, bytes: 8))
      if number % 500 == 0 { try cache.flush() }
    }
    try cache.flush()
    // Most of the index' pages are free then, and given back.
    try cache.evict((10..<count).map { SamplePoster.request($0) })
    #expect(try cache.statistics().entries == 10)
    _ = disk.fillWithBallast()
    for number in 0..<3 {
      #expect(throws: Never.self) { try cache.evict([SamplePoster.request(number)]) }
    }
    #expect(throws: Never.self) { try cache.removeAll() }
  }

  // MARK: - Want of descriptors

  @Test func `a repair without descriptors drops nothing that is intact`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      do {
        let cache = try DiskCache(
          in: CacheDirectory(directory.path, creating: true, prepare: IndexRecovery.prepare),
          canPunch: false)
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
}
