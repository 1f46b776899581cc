import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Random operations against a naive model: the same survivors, order and totals.
@Suite(.timeLimit(.minutes(10)))
struct DiskModelTests {
  /// What a disk cache should be: a list, searched from end to end.
  private struct Model {
    struct Entry {
      var number: Int
      var version: Int
      var blocks: Int
      var bytes: Int
      var isUnseen: Bool
      var isPinned: Bool
      var tick: Int
      /// Milliseconds by which its dates have been put off.
      var delay = 0
      /// What is evicted first has the smallest.
      var rank: Int { isPinned ? 2 : isUnseen ? 0 : 1 }
    }

    var entries: [Entry] = []
    var limit: Int
    var tick = 0
    var evictions = 0
    /// What is missing, the longest known first.
    var absences: [(number: Int, absence: Absence)] = []

    var blocks: Int { entries.reduce(0) { $0 + $1.blocks } }
    var pinnedBlocks: Int { entries.reduce(0) { $0 + ($1.isPinned ? $1.blocks : 0) } }

    /// The last to be evicted first.
    var order: [Int] {
      entries.sorted { ($0.rank, $0.tick) > ($1.rank, $1.tick) }
        .map(\.number)
    }

    mutating func insert(_ number: Int, version: Int, bytes: Int, blocks: Int, isSeen: Bool) {
      guard makeRoom(number, blocks) else { return }
      tick += 1
      let earlier = entries.firstIndex { $0.number == number }.map { entries.remove(at: $0) }
      entries.append(
        Entry(
          number: number, version: version, blocks: blocks, bytes: bytes,
          isUnseen: !isSeen && earlier?.isUnseen ?? true,
          isPinned: earlier?.isPinned ?? false, tick: tick))
      absences.removeAll { $0.number == number }
    }

    /// Gives the poster that is there another version, and nothing else.
    mutating func rename(_ number: Int, version: Int, blocks: Int, delay: Int) {
      guard var entry = entries.first(where: { $0.number == number }), makeRoom(number, blocks)
      else { return }
      entries.removeAll { $0.number == number }
      entry.version = version
      entry.blocks = blocks
      entry.delay = delay
      entries.append(entry)
      absences.removeAll { $0.number == number }
    }

    mutating func confirm(_ number: Int, delay: Int) {
      guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
      entries[index].delay = delay
      absences.removeAll { $0.number == number }
    }

    mutating func note(_ number: Int, _ absence: Absence) {
      absences.removeAll { $0.number == number }
      guard pinnedBlocks + IndexEditor.absenceRowBytes <= limit else { return }
      absences.append((number, absence))
      forget(beyond: limit)
    }

    /// One is kept for every 2 KiB of the limit.
    private mutating func forget(beyond limit: Int) {
      absences.removeFirst(max(0, absences.count - limit / 2048))
    }

    private mutating func makeRoom(_ number: Int, _ blocks: Int) -> Bool {
      let replaced = entries.first { $0.number == number }
      // A large version of a pinned poster needs room beside the one that it replaces.
      let isBeside = blocks > DiskQueue.batchBytes && replaced?.isPinned ?? false
      let pinned = pinnedBlocks - (replaced.map { $0.isPinned && !isBeside ? $0.blocks : 0 } ?? 0)
      guard pinned + blocks <= limit else { return false }
      while true {
        let replaced = isBeside ? 0 : entries.first { $0.number == number }?.blocks ?? 0
        if self.blocks - replaced + blocks <= limit { return true }
        evict()
      }
    }

    mutating func read(_ number: Int, isSeen: Bool) -> Entry? {
      guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
      tick += 1
      entries[index].tick = tick
      if isSeen { entries[index].isUnseen = false }
      return entries[index]
    }

    mutating func setLimit(_ limit: Int) {
      self.limit = limit
      trim(to: limit)
    }

    mutating func trim(to size: Int) {
      forget(beyond: size)
      while blocks > size, evict() {}
    }

    mutating func remove(_ number: Int) -> Bool {
      defer { entries.removeAll { $0.number == number } }
      absences.removeAll { $0.number == number }
      return entries.contains { $0.number == number }
    }

    mutating func setPinned(_ number: Int, _ isPinned: Bool) -> Bool {
      guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
      entries[index].isPinned = isPinned
      // What only pins have kept above the limit.
      if !isPinned { trim(to: limit) }
      return true
    }

    @discardableResult
    private mutating func evict() -> Bool {
      guard let victim = order.last, let index = entries.firstIndex(where: { $0.number == victim }),
        !entries[index].isPinned
      else { return false }
      entries.remove(at: index)
      evictions += 1
      return true
    }
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 11_578_822_302_120_905_525])
  func `twenty thousand random operations match a naive model`(seed: UInt64) throws {
    try compare(seed: seed, steps: 20_000, large: false)
  }

  @Test(arguments: [
    UInt64.random(in: 0...UInt64.max), 1, 16_926_346_174_390_001_455, 10_863_811_766_212_402_580,
  ])
  func `so do operations with posters larger than a batch`(seed: UInt64) throws {
    try compare(seed: seed, steps: 600, large: true)
  }

  private func compare(seed: UInt64, steps: Int, large: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let directory = TemporaryDirectory()
    let block = SegmentFormat.blockSize
    var model = Model(limit: 40 * block)
    // Some posters are larger than a batch: those are stored in another way.
    let sizes = large ? [100..<20_000, 1_000_000..<2_500_000] : [100..<20_000]
    let factor = large ? 40 : 1
    model.limit *= factor
    var cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: model.limit))
    // What may be read before everything that was asked for is done, by the entity tags.
    var possible: [String: StoredPoster] = [:]
    for step in 0..<steps {
      let choice = Int.random(in: 0..<100, using: &generator)
      // Everything else than storing and reading waits for what was asked before.
      defer {
        if choice >= 84 {
          let tags = Set(model.entries.map { "\"\($0.number)-\($0.version)\"" })
          possible = possible.filter { tags.contains($0.key) }
        }
      }
      let number = Int.random(in: 0..<30, using: &generator)
      let isSeen = Bool.random(using: &generator)
      switch choice {
      case 0..<40:
        let bytes = Int.random(
          in: sizes.randomElement(using: &generator) ?? sizes[0], using: &generator)
        let poster = SamplePoster.make(number, bytes: bytes, version: step)
        cache.insert(poster, isSeen: isSeen)
        // No more than 32 MiB may wait.
        if large { try cache.flush() }
        possible[poster.metadata.etag ?? ""] = poster
        model.insert(
          number, version: step, bytes: bytes, blocks: blocks(of: poster), isSeen: isSeen)
      case 40..<54:
        confirm(number, cache, &model, &possible, step: step, &generator)
        if large { try cache.flush() }
      case 54..<60:
        let start = Date(timeIntervalSince1970: Double(step))
        let absence = Absence(status: isSeen ? 404 : 410, notedAt: start, until: start + 50_000)
        cache.noteAbsence(of: SamplePoster.request(number), absence)
        model.note(number, absence)
        // Where pinned posters leave no room it is forgotten again.
        let noted = try cache.absence(of: SamplePoster.request(number))
        let isRight = noted == absence || noted == nil && model.absences.last?.number != number
        #expect(isRight, "seed \(seed), step \(step)")
      case 60..<84:
        let read = try cache.poster(for: SamplePoster.request(number), isSeen: isSeen)
        let expected = model.read(number, isSeen: isSeen)
        #expect(read != nil || expected == nil, "seed \(seed), step \(step)")
        // A poster that waits to be written is handed out although it will be evicted again, or
        // refused because too much is pinned, so that the version before it stays for a while.
        if let read {
          let isRight = possible[read.metadata.etag ?? ""]?.body == read.body
          #expect(isRight, "seed \(seed), step \(step)")
        }
      case 84..<88:
        let change = try cache.evict([SamplePoster.request(number)])
        #expect(change.posters == (model.remove(number) ? 1 : 0), "seed \(seed), step \(step)")
      case 88..<91:
        // Few enough that something is left to be evicted as a rule.
        let isPinned = model.pinnedBlocks < model.limit / 2 && Bool.random(using: &generator)
        let requests = [SamplePoster.request(number)]
        let change = try isPinned ? cache.pin(requests) : cache.unpin(requests)
        let isThere = model.setPinned(number, isPinned)
        #expect(change.missing.isEmpty == isThere, "seed \(seed), step \(step)")
      case 91..<93:
        let size = Int.random(in: 0...model.limit, using: &generator)
        try cache.trim(to: ByteSize(bytes: size))
        model.trim(to: size)
      case 93..<96:
        // What was asked for is there, and nothing has been lost.
        try cache.flush()
      case 96..<98:
        let limit = Int.random(in: 10..<60, using: &generator) * block * factor
        cache.close()
        cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: limit))
        model.setLimit(limit)
      case 98:
        cache.close()
        cache = try DiskCache(directory: directory.path)
      default:
        try check(cache, model, "seed \(seed), step \(step)")
      }
    }
    try check(cache, model, "seed \(seed), at the end")
  }

  /// Has a version of the poster confirmed that is stored, or was.
  private func confirm(
    _ number: Int, _ cache: DiskCache, _ model: inout Model,
    _ possible: inout [String: StoredPoster], step: Int, _ generator: inout SeededGenerator
  ) {
    let stored = model.entries.first { $0.number == number }
    let versions = possible.keys.sorted().filter { $0.hasPrefix("\"\(number)-") }
    let current = stored.flatMap { possible["\"\(number)-\($0.version)\""] }
    let isOther = Int.random(in: 0..<4, using: &generator) == 0
    guard
      let poster = isOther
        ? versions.randomElement(using: &generator).flatMap({ possible[$0] })
        : current
    else { return }
    var metadata = SamplePoster.make(number, bytes: 4).metadata
    metadata.storedAt += Double(step) / 1000
    metadata.expiresAt += Double(step) / 1000
    let isRenamed = Int.random(in: 0..<3, using: &generator) == 0
    metadata.etag = isRenamed ? "\"\(number)-\(step)\"" : poster.metadata.etag
    cache.confirm(poster, as: metadata)
    let confirmed = StoredPoster(metadata: metadata, body: poster.body)
    if isRenamed { possible[metadata.etag ?? ""] = confirmed }
    guard poster.metadata.etag == current?.metadata.etag else { return }
    if isRenamed {
      model.rename(number, version: step, blocks: blocks(of: confirmed), delay: step)
    } else {
      model.confirm(number, delay: step)
    }
  }

  private func check(_ cache: DiskCache, _ model: Model, _ context: String) throws {
    let order = try cache.numbers()
    #expect(order == model.order, "\(context)")
    let statistics = try cache.statistics()
    #expect(statistics.entries == model.entries.count, "\(context)")
    #expect(statistics.bytes == model.blocks, "\(context)")
    #expect(statistics.pinnedBytes == model.pinnedBlocks, "\(context)")
    #expect(statistics.evictions == model.evictions, "\(context)")
    #expect(statistics.limit == model.limit, "\(context)")
    #expect(statistics.absences == model.absences.count, "\(context)")
    for (number, absence) in model.absences {
      let noted = try cache.absence(of: SamplePoster.request(number))
      #expect(noted == absence, "\(context)")
    }
    for entry in model.entries {
      let metadata = try cache.peek(at: SamplePoster.request(entry.number))?.metadata
      #expect(metadata?.etag == "\"\(entry.number)-\(entry.version)\"", "\(context)")
      let first = SamplePoster.make(entry.number, bytes: 4).metadata.expiresAt.milliseconds
      let delay = metadata.map { $0.expiresAt.milliseconds - first }
      #expect(delay == Int64(entry.delay), "\(context)")
    }
  }

  /// Bytes in blocks of the record of `poster`.
  private func blocks(of poster: StoredPoster) -> Int {
    var metadata: [UInt8] = []
    RecordMetadata.append(poster.metadata, to: &metadata)
    return SegmentFormat.blockBytes(RecordHeader.size + metadata.count + poster.body.count)
  }
}
