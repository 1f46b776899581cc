import PosterCache

extension MemorySuite {
  /// Inserting where each insert evicts about one.
  func inserts(
    _ posters: [StoredPoster], _ foundationKeys: [FoundationCache.Key]
  ) async throws -> Contest {
    let limit = posters.reduce(0) { $0 + $1.body.count } / 2
    let memory = MemoryCache(limitBytes: limit)
    let locked = LockedLRU(limitBytes: limit)
    let foundation = FoundationCache(limitBytes: limit)
    let passes = context.options.isQuick ? 20 : 100
    func contestant(
      _ name: String, _ role: Contest.Role, _ insert: @escaping @Sendable (Int) -> Void
    ) -> Contestant {
      Contestant(name: name, role: role) {
        try Threads.measure([passes]) { passes in
          for _ in 0..<passes {
            for index in posters.indices { insert(index) }
          }
          return 0
        }
      }
    }
    return Contest(
      title: "Insert at the limit, one thread",
      conditions: "Posters in turn, twice as many as there is room for, so that each evicts one.",
      operations: passes * posters.count, operationName: "insert",
      results: try await context.rounds(11, contest: "Insert at the limit").run([
        contestant("MemoryCache", .ours) { memory.insert(posters[$0]) },
        contestant("NSCache", .rival) { foundation.insert(posters[$0], for: foundationKeys[$0]) },
        contestant("exact LRU behind one lock", .rival) { locked.insert(posters[$0]) },
      ]), absent: [], goals: [])
  }
}
