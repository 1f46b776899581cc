import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// What is remembered about pictures that their server did not have.
@Suite(.timeLimit(.minutes(10)))
struct DiskAbsenceTests {
  private let directory = TemporaryDirectory()

  private func absence(_ second: Int = 0, status: Int = 404, lasting: Double = 600) -> Absence {
    let start = Date(timeIntervalSince1970: 1_800_000_000 + Double(second))
    return Absence(status: status, notedAt: start, until: start + lasting)
  }

  private func note(_ cache: DiskCache, _ number: Int, _ absence: Absence) {
    cache.noteAbsence(of: SamplePoster.request(number), absence)
  }

  private func noted(_ cache: DiskCache, _ number: Int) throws -> Absence? {
    try cache.absence(of: SamplePoster.request(number))
  }

  @Test func `a note is readable at once, by others once it is written, and after reopening`()
    throws
  {
    do {
      let caches = try (0..<2).map { _ in try DiskCache(directory: directory.path) }
      // Nothing can be written meanwhile.
      try caches[0].index.holdingWriters { () throws(PosterError) in
        caches[0].noteAbsence(of: SamplePoster.request(1), absence())
        #expect(try caches[0].absence(of: SamplePoster.request(1)) == absence())
        #expect(try caches[1].absence(of: SamplePoster.request(1)) == nil)
        #expect(try caches[0].absence(of: SamplePoster.request(2)) == nil)
      }
      try caches[0].flush()
      for cache in caches { #expect(try noted(cache, 1) == absence()) }
      note(caches[1], 1, absence(7, status: 410))
      #expect(try noted(caches[1], 1) == absence(7, status: 410))
    }
    let cache = try DiskCache(directory: directory.path)
    #expect(try noted(cache, 1) == absence(7, status: 410))
    let statistics = try cache.statistics()
    #expect(statistics.absences == 1)
    #expect(statistics.entries == 0)
    cache.close()
    note(cache, 2, absence())
    #expect(try noted(cache, 2) == nil)
    try DiskInspection(directory.path).expectSound("with a note")
  }

  @Test func `storing, evicting or clearing forgets a note at once, and what is stored stays`()
    throws
  {
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<5 { note(cache, number, absence(number)) }
    try cache.flush()
    try cache.index.holdingWriters { () throws(PosterError) in
      cache.insert(SamplePoster.make(1))
      #expect(try cache.absence(of: SamplePoster.request(1)) == nil)
      // The server has changed its mind.
      cache.noteAbsence(of: SamplePoster.request(1), absence(9))
      #expect(try cache.absence(of: SamplePoster.request(1)) == absence(9))
    }
    #expect(try cache.hasSample(1))
    #expect(try noted(cache, 1) == absence(9))
    #expect(cache.store(SamplePoster.make(2)) == nil)
    #expect(try noted(cache, 2) == nil)
    let change = try cache.evict([SamplePoster.request(3), SamplePoster.request(1)])
    #expect(change.posters == 1)
    #expect(change.missing == [SamplePoster.request(3)])
    #expect(try noted(cache, 3) == nil)
    #expect(try noted(cache, 1) == nil)
    #expect(try noted(cache, 4) == absence(4))
    #expect(try cache.statistics().absences == 2)
    try cache.removeAll()
    #expect(try cache.statistics().absences == 0)
    #expect(try noted(cache, 4) == nil)
  }

  @Test func `two addresses that share a key never share a note`() throws {
    let cache = try DiskCache(directory: directory.path)
    let request = SamplePoster.request(1)
    let other = PosterRequest(
      SamplePoster.request(2).address, key: request.key, priority: .visible)
    cache.noteAbsence(of: request, absence())
    for _ in 0..<2 {
      #expect(try cache.absence(of: request) == absence())
      #expect(try cache.absence(of: other) == nil)
      try cache.flush()
    }
    cache.noteAbsence(of: other, absence(1))
    for _ in 0..<2 {
      #expect(try cache.absence(of: request) == nil)
      #expect(try cache.absence(of: other) == absence(1))
      try cache.flush()
    }
  }

  @Test func `the oldest notes go first, and those whose time is over when others come`() throws {
    // Room for 512.
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 1 << 20))
    for number in 0..<500 { note(cache, number, absence()) }
    note(cache, 0, absence(1))
    for number in 500..<520 { note(cache, number, absence()) }
    #expect(try cache.statistics().absences == 512)
    #expect(try noted(cache, 0) == absence(1))
    for number in 1...8 { #expect(try noted(cache, number) == nil) }
    for number in 9..<520 { #expect(try noted(cache, number) == absence()) }
    try cache.setLimit(ByteSize(bytes: 512 << 10))
    #expect(try cache.statistics().absences == 256)
    #expect(try noted(cache, 264) == nil)
    #expect(try noted(cache, 265) == absence())
    // Ten minutes later.
    for number in 1000..<1010 { note(cache, number, absence(600)) }
    #expect(try cache.statistics().absences == 256 + 10 - 20)
    #expect(try noted(cache, 519) == absence())
    try cache.trim(to: ByteSize(bytes: 4096))
    #expect(try cache.statistics().absences == 2)
    cache.close()
    try DiskInspection(directory.path).expectSound("after many notes")
  }

  @Test func `65,536 are kept at most, in no more of the limit than is theirs`() throws {
    let limit = 160 << 20
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: limit))
    let row = try #require(AbsenceRow(absence(), of: SamplePoster.request(0).address, seed: 0))
    var generator = SeededGenerator()
    let keys = (0..<70_000).map { _ in
      CacheKey(high: generator.next(), low: generator.next())
    }
    for start in stride(from: 0, to: keys.count, by: 1000) {
      try cache.index.edit { editor throws(PosterError) in
        for key in keys[start..<start + 1000] { try editor.noteAbsence(key, row) }
      }
    }
    #expect(try cache.statistics().absences == 65_536)
    try cache.index.read { rows throws(PosterError) in
      #expect(try rows.absence(keys[70_000 - 65_537]) == nil)
      #expect(try rows.absence(keys[70_000 - 65_536]) != nil)
      #expect(try rows.usedBytes() <= 65_536 * IndexEditor.absenceRowBytes + 64 << 10)
    }
    #expect(try cache.statistics().bytes <= limit)
  }

  @Test func `notes make room for themselves among posters`() throws {
    let limit = 32 << 20
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: limit))
    for number in 0..<36 { #expect(cache.store(SamplePoster.make(number, bytes: 1 << 20)) == nil) }
    for number in 0..<20_000 {
      note(cache, number, absence())
      if number % 1000 == 0 { try cache.flush() }
    }
    let statistics = try cache.statistics()
    #expect(statistics.absences == 16_384)
    #expect(statistics.bytes <= limit)
    // Less than two MiB of an index are theirs, of which one is free.
    #expect(statistics.entries >= 27)
  }

  @Test func `notes take no room from pinned posters`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 2 << 20))
    let posters = (0..<2).map { SamplePoster.make($0, bytes: (1 << 20) - 1000) }
    for poster in posters { #expect(cache.store(poster) == nil) }
    try cache.pin(posters.map { PosterRequest($0.metadata.address) })
    note(cache, 5, absence())
    try cache.flush()
    #expect(try cache.statistics().entries == 2)
    #expect(try noted(cache, 5) == nil)
  }

  @Test func `a rebuilt index has forgotten all`() throws {
    do {
      let cache = try DiskCache(directory: directory.path)
      #expect(cache.store(SamplePoster.make(1)) == nil)
      note(cache, 2, absence())
    }
    try FileManager.default.removeItem(atPath: "\(directory.path)/index/data.mdb")
    #expect(try DiskCache.verify(directory: directory.path, repairing: true).repaired > 0)
    let cache = try DiskCache(directory: directory.path)
    #expect(try noted(cache, 2) == nil)
    #expect(try cache.numbers() == [1])
  }

  @Test func `so many notes wait at most, and are written together`() {
    var queue = DiskQueue()
    let address = SamplePoster.request(1).address
    guard let row = AbsenceRow(absence(), of: address, seed: 0) else { return }
    var refused = 0
    for number in 0..<DiskQueue.maximumNotes + 10 {
      let note = NotedAbsence(CacheKey(high: 0, low: UInt64(number)), row)
      if queue.absenceWasNoted(note, now: 0) == .refused { refused += 1 }
    }
    #expect(refused == 10)
    var batches: [Int] = []
    while case .operations(let operations) = queue.takeDueBatch(now: 0) {
      batches.append(operations.count)
    }
    #expect(batches.reduce(0, +) == DiskQueue.maximumNotes)
    #expect(batches.dropLast().allSatisfy { $0 == DiskQueue.batchBytes / DiskQueue.indexBytes })
    let note = NotedAbsence(CacheKey(high: 0, low: 0), row)
    #expect(queue.absenceWasNoted(note, now: 0) == .queuedAndDue)
  }
}
