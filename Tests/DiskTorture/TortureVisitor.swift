import FoundationEssentials
import Glibc
import PosterCache
import Synchronization
import TestSupport

/// Uses a directory as one of several processes does, and checks every byte it sees.
struct TortureVisitor {
  private let cache: DiskCache
  private let settings: TortureSettings

  init(_ cache: DiskCache, _ settings: TortureSettings) {
    self.cache = cache
    self.settings = settings
  }

  /// Reads random posters, some of them through a lease that others may have to wait for.
  func read() throws {
    try again { generator, round in
      let number = randomNumber(&generator)
      if round % 4 == 0 {
        try borrow(number, &generator)
      } else {
        try look(at: number, isSeen: .random(using: &generator))
      }
    }
  }

  /// Makes sure that random posters are there, as the command `warm` does, and confirms those that are;
  /// some it notes as missing. Prints how many it confirmed.
  func warm() throws {
    var confirmed = 0
    try again { generator, round in
      let number = randomNumber(&generator)
      if try confirm(number) {
        confirmed += 1
      } else {
        try store(TorturePoster.make(number, version: settings.version + round))
      }
    }
    DiskTorture.print("\(confirmed)")
  }

  /// Trims, pins, unpins and removes.
  func trim() throws {
    try again { generator, _ in
      let requests = (0..<8).map { _ in SamplePoster.request(randomNumber(&generator)) }
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        let bytes = try cache.statistics().bytes
        try cache.trim(to: ByteSize(bytes: .random(in: bytes / 2...bytes, using: &generator)))
      case 1: try cache.pin(requests)
      case 2, 3: try cache.unpin(requests)
      default: try cache.evict(requests)
      }
      try look(at: randomNumber(&generator), isSeen: true)
    }
  }

  /// Clears; what is stored meanwhile has some time to be looked at.
  func clear() throws {
    try again { generator, _ in
      for _ in 0..<Int.random(in: 0..<2000, using: &generator) {
        try look(at: randomNumber(&generator), isSeen: true)
      }
      try cache.removeAll()
    }
  }

  /// Stores posters until the disk is full, then looks at all of them.
  func fill() throws {
    var stored = 0
    do throws(PosterError) {
      while true {
        let number = settings.first + stored
        try store(TorturePoster.make(number, version: settings.version))
        stored += 1
      }
    } catch {
      guard error.code == .notStored else { throw error }
    }
    for number in settings.first..<settings.first + stored {
      guard try look(at: number, isSeen: true) else {
        DiskTorture.fail("poster \(number) was stored and is gone")
      }
    }
    DiskTorture.print("\(stored)")
  }

  // MARK: -

  /// Calls `body` for as long, or as often, as the settings say.
  private func again(_ body: (inout SeededGenerator, Int) throws -> Void) throws {
    var generator = SeededGenerator(seed: settings.seed)
    let end = monotonicNanoseconds() + UInt64(settings.seconds) * 1_000_000_000
    var round = 0
    while settings.rounds > 0 ? round < settings.rounds : monotonicNanoseconds() < end {
      try body(&generator, round)
      round += 1
    }
  }

  private func randomNumber(_ generator: inout SeededGenerator) -> Int {
    settings.first + .random(in: 0..<settings.count, using: &generator)
  }

  /// Whether poster `number` is there; its bytes have been checked.
  @discardableResult
  private func look(at number: Int, isSeen: Bool) throws(PosterError) -> Bool {
    let request = SamplePoster.request(number)
    guard let stored = try cache.poster(for: request, isSeen: isSeen) else { return false }
    if let fault = TorturePoster.fault(in: stored, for: request) { DiskTorture.fail(fault) }
    return true
  }

  /// Confirms poster `number` if it is there. It may be gone, or another version, by then.
  private func confirm(_ number: Int) throws(PosterError) -> Bool {
    let request = SamplePoster.request(number)
    guard let stored = try cache.poster(for: request, isSeen: false) else {
      try note(number)
      return false
    }
    if let fault = TorturePoster.fault(in: stored, for: request) { DiskTorture.fail(fault) }
    cache.confirm(stored, as: TorturePoster.confirmed(stored))
    return true
  }

  /// Notes that there is no poster `number`, and forgets that as whoever stores it does.
  private func note(_ number: Int) throws(PosterError) {
    let request = SamplePoster.request(number)
    let now = SamplePoster.make(0, bytes: 4).metadata.storedAt
    cache.noteAbsence(of: request, Absence(status: 404, notedAt: now, until: now + 60))
    if let absence = try cache.absence(of: request), absence.notedAt != now {
      DiskTorture.fail("poster \(number) is missing since \(absence.notedAt)")
    }
  }

  /// Leases a poster, does something else, and only then reads and checks it.
  private func borrow(_ number: Int, _ generator: inout SeededGenerator) throws {
    let request = SamplePoster.request(number)
    guard let lease = try cache.lease(request) else { return }
    for _ in 0..<Int.random(in: 0..<20, using: &generator) {
      try look(at: randomNumber(&generator), isSeen: false)
    }
    var bytes = [UInt8](repeating: 0, count: lease.count)
    let count = pread(lease.fileDescriptor, &bytes, lease.count, off_t(lease.offset))
    guard count == lease.count else { DiskTorture.fail("a lease on \(number) is too short") }
    let stored = StoredPoster(metadata: lease.metadata, body: PosterBody(copying: bytes))
    if let fault = TorturePoster.fault(in: stored, for: request) {
      DiskTorture.fail("leased: \(fault)")
    }
  }

  /// Stores a poster and waits until it is committed.
  private func store(_ poster: StoredPoster) throws(PosterError) {
    let result = Monitor<Result<Void, PosterError>?>(nil)
    cache.insert(poster, isSeen: false) { value in
      result.withLock { $0 = value }
      result.signal()
    }
    try result.wait(untilNanoseconds: { _ in nil }, for: { $0 }).get()
  }
}
