import PosterCache
import TestSupport

/// Stores rising versions of random posters, and says of each when it is committed.
struct TortureWriter {
  private let cache: DiskCache
  private let settings: TortureSettings
  /// Bytes of pictures that wait for the disk, which refuses more than 32 MiB.
  private let waiting = Monitor(0)
  private static let maximumWaiting = 8 << 20
  /// Pinned at once, at most: they must leave room for others.
  private static let maximumPinned = 2

  init(_ cache: DiskCache, _ settings: TortureSettings) {
    self.cache = cache
    self.settings = settings
  }

  func run() throws {
    var generator = SeededGenerator(seed: settings.seed)
    var version = settings.version
    var left = settings.bytes
    var pinned: [Int] = []
    while settings.bytes == 0 || left > 0 {
      let number = settings.first + .random(in: 0..<settings.count, using: &generator)
      let poster = TorturePoster.make(number, version: version)
      store(poster, number, version, isSeen: .random(using: &generator))
      left -= poster.body.count
      version += 1
      if settings.edits != 0, Int.random(in: 0..<16, using: &generator) == 0 {
        try edit(number, &pinned, &generator)
      }
    }
    try cache.flush()
  }

  private func store(_ poster: StoredPoster, _ number: Int, _ version: Int, isSeen: Bool) {
    let bytes = poster.body.count
    waiting.wait(
      untilNanoseconds: { _ in nil },
      for: { waiting -> Void? in
        guard waiting < Self.maximumWaiting else { return nil }
        waiting += bytes
        return ()
      })
    cache.insert(poster, isSeen: isSeen) { [waiting] result in
      if case .failure(let error) = result {
        DiskTorture.fail("storing poster \(number), version \(version): \(error)")
      }
      DiskTorture.print("stored \(number) \(version)")
      waiting.withLock { $0 -= bytes }
      waiting.signal()
    }
  }

  /// Pins, unpins, removes or trims. What is about to go is printed before, what is pinned after; what
  /// was stored before is printed by then.
  private func edit(
    _ number: Int, _ pinned: inout [Int], _ generator: inout SeededGenerator
  ) throws {
    switch [1, 2, 4].filter({ settings.edits & $0 != 0 }).randomElement(using: &generator) {
    case 1 where pinned.count == Self.maximumPinned:
      let old = pinned.removeFirst()
      DiskTorture.print("unpinning \(old)")
      try cache.unpin([SamplePoster.request(old)])
    case 1 where !TorturePoster.isLarge(number):
      guard try cache.pin([SamplePoster.request(number)]).missing.isEmpty else { return }
      pinned.append(number)
      DiskTorture.print("pinned \(number)")
    case 2:
      try cache.flush()
      DiskTorture.print("removing \(number)")
      pinned.removeAll { $0 == number }
      try cache.evict([SamplePoster.request(number)])
    case 4:
      let bytes = try cache.statistics().bytes
      try cache.trim(to: ByteSize(bytes: .random(in: bytes / 2...bytes, using: &generator)))
    default: break
    }
  }
}
