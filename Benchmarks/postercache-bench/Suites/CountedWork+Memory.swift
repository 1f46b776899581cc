import PosterCache

/// What is in memory: our tier, and what people would use instead.
extension CountedWork {
  static let memoryNames = [
    "MemoryCache", "PosterPipeline.cachedPoster", "NSCache", "exact LRU behind one lock",
    "Dictionary behind a lock, string keys", "Dictionary, no lock, no order",
  ]

  func memory(_ phases: inout CountedPhases) async throws {
    let posters = try (0..<Self.posters).map { try SmallPoster.make($0, bytes: Self.posterBytes) }
    let requests = posters.map { PosterRequest($0.metadata.address) }
    let names = requests.map(\.address.canonical)
    let bytes = posters.reduce(0) { $0 + $1.body.count }
    let memory = MemoryCache(limitBytes: bytes)
    var configuration = PosterPipeline.Configuration()
    configuration.memoryLimit = ByteSize(bytes: bytes)
    let pipeline = try PosterPipeline(configuration)
    let foundation = FoundationCache(limitBytes: 0)
    let foundationKeys = names.map { FoundationCache.key($0) }
    let locked = LockedLRU(limitBytes: bytes)
    let dictionary = LockedDictionary()
    let bare = Dictionary(uniqueKeysWithValues: posters.map { ($0.key, $0) })
    for (place, poster) in posters.enumerated() {
      memory.insert(poster)
      pipeline.memory.insert(poster)
      foundation.insert(poster, for: foundationKeys[place])
      locked.insert(poster)
      dictionary.insert(poster, for: names[place])
    }
    let order = Self.order(10)
    func hits(_ name: String, _ find: (Int) -> StoredPoster?) throws {
      try look(order, find)
      try phases.measure(Self.phase("hit", name), order.count) { try look(order, find) }
    }
    try hits(Self.memoryNames[0]) { memory.poster(for: requests[$0].key) }
    try hits(Self.memoryNames[1]) { pipeline.cachedPoster(for: requests[$0])?.stored }
    try hits(Self.memoryNames[2]) { foundation.poster(for: foundationKeys[$0]) }
    try hits(Self.memoryNames[3]) { locked.poster(for: requests[$0].key) }
    try hits(Self.memoryNames[4]) { dictionary.poster(for: names[$0]) }
    try hits(Self.memoryNames[5]) { bare[requests[$0].key] }

    // Room for half of them, so that each insert in turn evicts one.
    let smallMemory = MemoryCache(limitBytes: bytes / 2)
    let smallFoundation = FoundationCache(limitBytes: bytes / 2)
    let smallLocked = LockedLRU(limitBytes: bytes / 2)
    func inserts(_ name: String, _ insert: (Int) -> Void) throws {
      for place in posters.indices { insert(place) }
      let passes = 5
      try phases.measure(Self.phase("insert", name), passes * posters.count) {
        for _ in 0..<passes {
          for place in posters.indices { insert(place) }
        }
      }
    }
    try inserts(Self.memoryNames[0]) { smallMemory.insert(posters[$0]) }
    try inserts(Self.memoryNames[2]) {
      smallFoundation.insert(posters[$0], for: foundationKeys[$0])
    }
    try inserts(Self.memoryNames[3]) { smallLocked.insert(posters[$0]) }
    await pipeline.shutdown()
  }

  private func look(_ order: [Int], _ find: (Int) -> StoredPoster?) throws {
    for place in order {
      guard find(place)?.body.count == Self.posterBytes else { throw BenchError("a miss") }
    }
  }
}
