import Glibc
import PosterCache

/// What is on a disk: our tier, and the least that one can do.
extension CountedWork {
  static let diskNames = [
    "DiskCache", "bare loop, memory of its own for each", "bare loop, one buffer for all",
  ]

  func disk(_ phases: inout CountedPhases) throws {
    let directory = try value("--to")
    let (ours, theirs) = ("\(directory)/ours", "\(directory)/theirs")
    mkdir(theirs, 0o755)
    let posters = try (0..<Self.posters).map { try SmallPoster.make($0, bytes: Self.posterBytes) }
    let batches = try (0...Self.batches).map { batch in
      try (0..<Self.batchPosters).map { place in
        try SmallPoster.make(
          Self.posters + batch * Self.batchPosters + place, bytes: Self.posterBytes)
      }
    }
    let missing = try (0..<500).map { try SmallPoster.request(1 << 40 + $0) }
    let order = Self.order(2).map { posters[$0].key }
    let requests = Self.order(2).map { PosterRequest(posters[$0].metadata.address) }
    let cache = try DiskCache(directory: ours)
    defer { cache.close() }
    try CacheFiller.insert(posters, into: cache)
    let bare = try BareStore(in: theirs)
    try bare.insert(posters)

    func hits(_ name: String, _ read: (Int) throws -> Int) throws {
      func pass() throws {
        for place in order.indices {
          guard try read(place) >= Self.posterBytes else { throw BenchError("a miss") }
        }
      }
      try pass()
      try phases.measure(Self.phase("hit", name), order.count, pass)
    }
    try hits(Self.diskNames[0]) { try cache.poster(for: requests[$0])?.body.count ?? -1 }
    try hits(Self.diskNames[1]) { bare.readIntoFreshBuffer(order[$0]) }
    try hits(Self.diskNames[2]) { bare.readIntoSharedBuffer(order[$0]) }

    func misses(_ name: String, _ isThere: (PosterRequest) throws -> Bool) throws {
      func pass() throws {
        for request in missing where try isThere(request) { throw BenchError("a hit") }
      }
      try pass()
      try phases.measure(Self.phase("miss", name), missing.count, pass)
    }
    try misses(Self.diskNames[0]) { try cache.poster(for: $0) != nil }
    try misses(Self.diskNames[1]) { bare.hasRow($0.key) }

    let inserts = Self.batches * Self.batchPosters
    let chain = InsertChain(batches, into: cache)
    chain.begin()
    try phases.measure(Self.phase("insert", Self.diskNames[0]), inserts) { try chain.goOn() }
    try bare.insert(batches[0])
    try phases.measure(Self.phase("insert", Self.diskNames[1]), inserts) {
      for batch in batches.dropFirst() { try bare.insert(batch) }
    }
  }

  /// Batches of inserts that are written as they are, however slowly this program runs.
  ///
  /// The writer writes what waits, 2 ms after the first of it. So each batch is inserted on its own thread, in
  /// the completion of the last insert of the batch before. The first batch begins that, and its last
  /// completion waits until it is to go on.
  private final class InsertChain: Sendable {
    private struct State {
      var isAtGate = false
      var isOpen = false
      var left: Int
      var failure: PosterError?
    }

    private let cache: DiskCache
    private let batches: [[StoredPoster]]
    private let state: Monitor<State>

    init(_ batches: [[StoredPoster]], into cache: DiskCache) {
      self.cache = cache
      self.batches = batches
      state = Monitor(State(left: batches.reduce(0) { $0 + $1.count }))
    }

    /// Inserts the first batch; returns once the writer waits to go on.
    func begin() {
      insert(0)
      state.wait(untilNanoseconds: { _ in nil }, for: { $0.isAtGate ? () : nil })
    }

    /// Inserts the others; returns when they are committed.
    func goOn() throws {
      state.withLock { $0.isOpen = true }
      state.signal()
      state.wait(untilNanoseconds: { _ in nil }, for: { $0.left == 0 ? () : nil })
      if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func insert(_ batch: Int) {
      for (place, poster) in batches[batch].enumerated() {
        cache.insert(poster) { [self] result in
          if place == batches[batch].count - 1, batch + 1 < batches.count {
            if batch == 0 {
              state.withLock { $0.isAtGate = true }
              state.signal()
              state.wait(untilNanoseconds: { _ in nil }, for: { $0.isOpen ? () : nil })
            }
            insert(batch + 1)
          }
          let isLast = state.withLock { state in
            state.left -= 1
            if case .failure(let error) = result { state.failure = error }
            return state.left == 0
          }
          if isLast { state.signal() }
        }
      }
    }
  }
}
