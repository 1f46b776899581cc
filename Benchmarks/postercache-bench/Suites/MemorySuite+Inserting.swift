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

  /// How many of a series of looks find their poster, where what is missing is inserted.
  func hitRatios() throws -> FigureTable {
    let count = 10_000
    let looks = KeyOrder.zipf.numbers(200_000, below: count, seed: 7)
    let posters = try (0..<count).map { try SmallPoster.make($0, bytes: 1000) }
    let keys = posters.map { FoundationCache.key($0.metadata.address.canonical) }
    let shares = [100, 20, 10, 4]
    func ratio(_ find: (Int) -> Bool, _ insert: (Int) -> Void) -> Double {
      var hits = 0
      for look in looks {
        if find(Int(look)) { hits += 1 } else { insert(Int(look)) }
      }
      return Double(hits) / Double(looks.count) * 100
    }
    let limits = shares.map { count * 1000 / $0 }
    let ours = limits.map { limit in
      let cache = MemoryCache(limitBytes: limit)
      return ratio({ cache.poster(for: posters[$0].key) != nil }, { cache.insert(posters[$0]) })
    }
    let exact = limits.map { limit in
      let cache = LockedLRU(limitBytes: limit)
      return ratio({ cache.poster(for: posters[$0].key) != nil }, { cache.insert(posters[$0]) })
    }
    let foundation = limits.map { limit in
      let cache = FoundationCache(limitBytes: limit)
      return ratio(
        { cache.poster(for: keys[$0]) != nil }, { cache.insert(posters[$0], for: keys[$0]) })
    }
    return FigureTable(
      title: "Hits, per cent",
      conditions: """
        \(looks.count) looks for \(count) posters of 1,000 bytes by Zipf's law, one thread; what is \
        missing is inserted. A column for each limit, as a part of what all posters take.
        """,
      columns: shares.map { "1/\($0)" },
      rows: [
        FigureTable.Row(name: "MemoryCache", values: ours),
        FigureTable.Row(name: "exact LRU behind one lock", values: exact),
        FigureTable.Row(name: "NSCache", values: foundation),
      ],
      demands: [
        FigureTable.Demand(
          text: "hits by which ours differ from an exact LRU's, per cent at most",
          value: zip(ours, exact).map { abs($0 - $1) }.max(), bound: 0)
      ])
  }
}
