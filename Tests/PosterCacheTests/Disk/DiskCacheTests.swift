import Glibc
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(10)))
struct DiskCacheTests {
  private let directory = TemporaryDirectory()

  @Test func `a stored poster comes back with the same bytes and metadata, also after reopening`()
    throws
  {
    let poster = SamplePoster.make(1, bytes: 40_000)
    do {
      let cache = try DiskCache(directory: directory.path)
      cache.insert(poster)
      #expect(try cache.poster(for: SamplePoster.request(1))?.body == poster.body)
      try cache.flush()
      let read = try #require(try cache.poster(for: SamplePoster.request(1)))
      #expect(read.body == poster.body)
      #expect(read.metadata == poster.metadata)
      #expect(try cache.poster(for: SamplePoster.request(2)) == nil)
    }
    let cache = try DiskCache(directory: directory.path)
    let read = try #require(try cache.poster(for: SamplePoster.request(1)))
    #expect(read.body == poster.body)
    #expect(read.metadata == poster.metadata)
    let statistics = try cache.statistics()
    #expect(statistics.entries == 1)
    #expect(statistics.hits == 3)
    #expect(statistics.misses == 1)
    #expect(statistics.limit == 1 << 30)
    #expect(statistics.segments == 1)
    // Header, metadata and 40,000 bytes in blocks of 4,096.
    #expect(statistics.bytes == 40_960)
  }

  @Test func `reading counts as use, and the order survives reopening`() throws {
    let record = SegmentFormat.blockSize
    do {
      let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 3 * record))
      for number in 1...3 { cache.insert(SamplePoster.make(number)) }
      #expect(try cache.poster(for: SamplePoster.request(1)) != nil)
    }
    do {
      let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 2 * record))
      #expect(try cache.numbers() == [1, 3])
    }
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: record))
    #expect(try cache.numbers() == [1])
  }

  @Test func `a poster larger than the limit is refused and evicts nothing`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 64 << 10))
    cache.insert(SamplePoster.make(1))
    #expect(cache.store(SamplePoster.make(2, bytes: 70_000))?.code == .notStored)
    #expect(try cache.numbers() == [1])
  }

  @Test func `an unseen prefetch goes before an older poster that was looked at`() throws {
    let cache = try DiskCache(
      directory: directory.path, limit: ByteSize(bytes: 3 * SegmentFormat.blockSize))
    cache.insert(SamplePoster.make(1), isSeen: true)
    cache.insert(SamplePoster.make(2), isSeen: false)
    cache.insert(SamplePoster.make(3), isSeen: false)
    #expect(try cache.poster(for: SamplePoster.request(2)) != nil)
    cache.insert(SamplePoster.make(4), isSeen: false)
    #expect(try cache.numbers() == [2, 1, 4])
  }

  @Test func `clearing removes files and bytes, and the cache goes on`() throws {
    let cache = try DiskCache(directory: directory.path)
    for number in 1...20 { cache.insert(SamplePoster.make(number, bytes: 30_000)) }
    let removed = try cache.removeAll()
    #expect(removed.posters == 20)
    #expect(removed.bytes == 600_000)
    #expect(try cache.numbers() == [])
    #expect(try cache.poster(for: SamplePoster.request(3)) == nil)
    try cache.flush()
    #expect(CacheFiles(directory.path).segments == [])
    cache.insert(SamplePoster.make(3, version: 1))
    #expect(
      try cache.poster(for: SamplePoster.request(3))?.body == SamplePoster.make(3, version: 1).body)
    try cache.flush()
    // Numbers are never used twice.
    #expect(CacheFiles(directory.path).segments == ["00000002.seg"])
  }

  @Test func `a flipped byte anywhere in a record makes a miss of it and of nothing else`() throws {
    for offset in [0, 5, 8, 20, 40, 47, 70, 130, 400, 2100] {
      let directory = TemporaryDirectory()
      let cache = try DiskCache(directory: directory.path)
      for number in 1...3 { cache.insert(SamplePoster.make(number)) }
      try cache.flush()
      CacheFiles(directory.path).flip(
        "segments/00000001.seg", at: SegmentFormat.blockSize + offset)
      #expect(try cache.poster(for: SamplePoster.request(2)) == nil, "byte \(offset)")
      #expect(try cache.poster(for: SamplePoster.request(1)) != nil)
      #expect(try cache.poster(for: SamplePoster.request(3)) != nil)
      #expect(try cache.numbers() == [3, 1])
      #expect(try cache.statistics().corrupt == 1)
    }
  }

  @Test(arguments: [1, 3])
  func `another format is refused and not touched`(version: Int) throws {
    let path = directory.path
    try write("postercache cache format \(version)\n", to: "\(path)/format")
    let error = #expect(throws: PosterError.self) { try DiskCache(directory: path) }
    #expect(error?.code == .unsupportedFormat)
    #expect(CacheFiles.names(in: path) == ["format"])
  }

  @Test func `a directory that cannot be made is an error that names it`() throws {
    try write("", to: "\(directory.path)/file")
    let path = "\(directory.path)/file/cache"
    let error = #expect(throws: PosterError.self) { try DiskCache(directory: path) }
    #expect(error?.code == .directoryUnavailable)
    #expect(error?.description.contains(path) == true)
  }

  @Test func `two caches on one directory in one process see each other's posters`() throws {
    let first = try DiskCache(directory: directory.path)
    let second = try DiskCache(directory: directory.path)
    first.insert(SamplePoster.make(1))
    second.insert(SamplePoster.make(2))
    try first.flush()
    try second.flush()
    #expect(try second.poster(for: SamplePoster.request(1)) != nil)
    #expect(try first.poster(for: SamplePoster.request(2)) != nil)
    #expect(CacheFiles(directory.path).segments == ["00000001.seg", "00000002.seg"])
  }

  @Test func `the last reference may go in a completion, and what waits is still stored`() throws {
    let isStored = Monitor(false)
    do {
      let cache = try DiskCache(directory: directory.path)
      cache.insert(SamplePoster.make(1)) { [cache] _ in withExtendedLifetime(cache) {} }
      cache.insert(SamplePoster.make(2)) { _ in
        isStored.withLock { $0 = true }
        isStored.signal()
      }
    }
    isStored.wait(untilNanoseconds: { _ in nil }, for: { $0 ? () : nil })
    #expect(try DiskCache(directory: directory.path).numbers() == [2, 1])
  }

  @Test func `fifty threads open a fresh directory at once, and all can use it`() async throws {
    for _ in 0..<5 {
      let directory = TemporaryDirectory()
      let path = "\(directory.path)/not/there/yet"
      let caches = try await withThrowingTaskGroup(of: DiskCache.self) { group in
        for number in 0..<50 {
          group.addTask {
            try await withCheckedThrowingContinuation { continuation in
              // A thread each: tasks would take turns.
              WorkerThread(name: "opener") {
                continuation.resume(
                  with: Result { () throws(PosterError) in
                    let cache = try DiskCache(directory: path)
                    cache.insert(SamplePoster.make(number))
                    try cache.flush()
                    return cache
                  }.mapError { $0 })
              }.detach()
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(try caches[0].numbers().sorted() == Array(0..<50))
      #expect(try caches[49].statistics().entries == 50)
    }
  }

  @Test func `a use that waits to be written counts for the room a large poster needs`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 2_250_000))
    cache.insert(SamplePoster.make(1, bytes: 60_000))
    cache.insert(SamplePoster.make(2, bytes: 60_000))
    try cache.flush()
    #expect(try cache.poster(for: SamplePoster.request(1)) != nil)
    cache.insert(SamplePoster.make(3, bytes: 2_150_000))
    #expect(try cache.numbers() == [3, 1])
  }

  @Test func `lowering the limit below the index leaves a cache that works`() throws {
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<20_000 {
      cache.insert(SamplePoster.make(number, bytes: 100))
      // No more than 32 MiB may wait.
      if number % 4000 == 3999 { try cache.flush() }
    }
    cache.close()
    let small = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 1 << 20))
    let left = try small.statistics()
    #expect(left.entries > 50)
    #expect(left.bytes <= 1 << 20)
    #expect(small.store(SamplePoster.make(50_000)) == nil)
    #expect(try small.poster(for: SamplePoster.request(50_000)) != nil)
    let (now, survivors) = (try small.statistics(), try small.numbers())
    #expect(
      try small.poster(for: SamplePoster.request(19_999)) != nil,
      "\(left), then \(now): \(survivors)")
  }

  @Test func `the index shrinks with what it holds, at the latest when the last one closes`() throws
  {
    let data = "\(directory.path)/index/data.mdb"
    do {
      let cache = try DiskCache(directory: directory.path)
      let reader = try DiskCache(directory: directory.path)
      for number in 0..<40_000 {
        cache.insert(SamplePoster.make(number, bytes: 100))
        // No more than 32 MiB may wait.
        if number % 4000 == 3999 { try cache.flush() }
      }
      let full = CacheFiles.occupiedBytes(of: data)
      #expect(full > 6 << 20)
      try cache.trim(to: ByteSize(bytes: 500 * 4096))
      #expect(CacheFiles.occupiedBytes(of: data) < 3 << 20)
      // As many posters fit as without the index' past.
      #expect(try cache.statistics().entries > 300)
      // A working index, and others that look at it.
      for number in 50_000..<50_500 {
        #expect(cache.store(SamplePoster.make(number, bytes: 100)) == nil)
        #expect(try reader.hasSample(number, bytes: 100))
      }
      #expect(try cache.statistics().entries > 800)
    }
    #expect(CacheFiles.occupiedBytes(of: data) < 1 << 20)
    #expect(CacheFiles.names(in: "\(directory.path)/index") == ["data.mdb"])
    #expect(try DiskCache.verify(directory: directory.path).isSound)
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.hasSample(50_499, bytes: 100))
    #expect(cache.store(SamplePoster.make(1)) == nil)
  }

  @Test func `listing goes on while posters come and go, and holds nobody up`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 40 * 4096))
    for number in 0..<40 { cache.insert(SamplePoster.make(number)) }
    var listed = 0
    try cache.forEachEntry { _ in
      listed += 1
      // The caller changes the cache while it looks at it: with an open snapshot and one writer
      // this would have to be refused or wait.
      cache.insert(SamplePoster.make(100 + listed))
      return (try? cache.flush()) != nil
    }
    // Every poster that is stored evicts one from the far end of the list.
    #expect(listed == 20)
  }

  @Test func `who closes while another one closes waits for the end`() async throws {
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<200 { cache.insert(SamplePoster.make(number, bytes: 40_000)) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [path = directory.path] in
          cache.close()
          // Whoever returns finds everything committed.
          let entries = try? DiskCache(directory: path).statistics().entries
          #expect(entries == 200)
        }
      }
    }
  }

  @Test func `what no record can hold is refused by itself`() throws {
    let cache = try DiskCache(directory: directory.path)
    let sample = SamplePoster.make(1)
    var metadata = sample.metadata
    metadata.etag = String(repeating: "x", count: 65_536)
    cache.insert(SamplePoster.make(2))
    #expect(
      cache.store(StoredPoster(metadata: metadata, body: sample.body))?.code == .notStored)
    cache.insert(SamplePoster.make(3))
    #expect(try cache.numbers() == [3, 2])
  }

  @Test func `looking at a directory that is not there does not make it`() {
    let path = "\(directory.path)/typo"
    let error = #expect(throws: PosterError.self) {
      try DiskCache(directory: path, creating: false)
    }
    #expect(error?.code == .directoryUnavailable)
    #expect(CacheFiles.names(in: directory.path) == [])
  }

  @Test func `an index that is a symbolic link is refused and its target left alone`() throws {
    let target = "\(directory.path)/target"
    try write("precious", to: target)
    let path = "\(directory.path)/cache"
    _ = try DiskCache(directory: path)
    #expect(unlink("\(path)/index/data.mdb") == 0)
    #expect(symlink(target, "\(path)/index/data.mdb") == 0)
    let error = #expect(throws: PosterError.self) { try DiskCache(directory: path) }
    #expect(error?.code == .directoryUnavailable)
    let file = try FileDescriptor(opening: target, flags: O_RDONLY)
    #expect(try file.status().st_size == 8)
  }

  @Test func `a directory that was deleted and made anew is another one`() throws {
    let path = "\(directory.path)/cache"
    let old = try DiskCache(directory: path)
    old.insert(SamplePoster.make(1))
    try old.flush()
    #expect(rename(path, "\(directory.path)/gone") == 0)
    let new = try DiskCache(directory: path)
    new.insert(SamplePoster.make(2))
    #expect(try new.numbers() == [2])
    #expect(try old.numbers() == [1])
  }

  @Test func `a limit beyond every file system is taken for the largest`() throws {
    do {
      let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: .max))
      #expect(try cache.statistics().limit == 1 << 60)
      #expect(cache.store(SamplePoster.make(1)) == nil)
    }
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 1 << 20))
    #expect(try cache.statistics().limit == 1 << 20)
    #expect(try cache.numbers() == [1])
  }

  @Test func `a directory with other files is refused and left as it was`() throws {
    try write("let package = 1", to: "\(directory.path)/Package.swift")
    let path = directory.path
    let error = #expect(throws: PosterError.self) { try DiskCache(directory: path) }
    #expect(error?.code == .directoryUnavailable)
    #expect(CacheFiles.names(in: path) == ["Package.swift"])
  }

  @Test(arguments: [0, 4096, 8192, 12_288, 40_960])
  func `an index cut short is an error or a miss, never a crash`(bytes: Int) throws {
    let path = directory.path
    do {
      let cache = try DiskCache(directory: path)
      for number in 0..<200 { cache.insert(SamplePoster.make(number)) }
      try cache.flush()
    }
    #expect(truncate("\(path)/index/data.mdb", off_t(bytes)) == 0)
    do throws(PosterError) {
      let cache = try DiskCache(directory: path)
      for number in 0..<200 { _ = try cache.poster(for: SamplePoster.request(number)) }
      _ = try cache.statistics()
    } catch {
      #expect(error.code == .damagedIndex || error.code == .notStored, "\(error)")
    }
  }

  // MARK: - Helpers

  private func write(_ text: String, to path: String) throws {
    let file = try FileDescriptor(opening: path, flags: O_WRONLY | O_CREAT)
    #expect(pwrite(file.number, text, text.utf8.count, 0) == text.utf8.count)
  }
}
