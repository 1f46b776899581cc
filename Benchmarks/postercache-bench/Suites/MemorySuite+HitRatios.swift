import PosterCache

/// How many looks find their poster, where what is missing is inserted.
extension MemorySuite {
  private static let exactName = "exact LRU behind one lock"

  /// Bytes of each poster here, so that a limit is a number of posters.
  private static let posterBytes = 1000

  /// Hits of everybody where each poster is as likely as Zipf's law says.
  func zipfRatios() throws -> FigureTable {
    let count = 10_000
    let looks = KeyOrder.zipf.numbers(200_000, below: count, seed: 7)
    let shares = [100, 20, 10, 4]
    let hits = try Hits(of: looks, names: count, capacities: shares.map { count / $0 })
    return FigureTable(
      title: "Hits by Zipf's law, per cent",
      conditions: """
        \(looks.count) looks for \(count) posters of \(Self.posterBytes) bytes by Zipf's law, one \
        thread; what is missing is inserted. A column for each limit, as a part of what all posters \
        take.
        """,
      columns: shares.map { "1/\($0)" },
      rows: [
        FigureTable.Row(name: "MemoryCache", values: hits.ours),
        FigureTable.Row(name: Self.exactName, values: hits.exact),
        FigureTable.Row(name: "NSCache", values: hits.foundation),
      ],
      demands: [
        FigureTable.Demand(
          text: "hits by which ours differ from an exact LRU's, per cent at most",
          value: Self.difference(hits.ours, hits.exact), bound: 0)
      ])
  }

  /// The same where the looks are requests that were really made.
  func recordedRatios() throws -> FigureTable {
    let title = "Hits on recorded requests, per cent"
    let traces: [RecordedRequests]
    do {
      traces = try RecordedRequests.all(in: context.options.corpusDirectory)
    } catch {
      return .absent(title, Absentee(name: "recorded requests", reason: error.description))
    }
    var ours: [Double?] = []
    var exact: [Double?] = []
    var foundation: [Double?] = []
    var answers: [Double?] = []
    var columns: [String] = []
    for trace in traces {
      let hits = try Hits(
        of: trace.numbers, names: trace.names, capacities: trace.answers.map(\.capacity))
      ours += hits.ours
      exact += hits.exact
      foundation += hits.foundation
      answers += trace.answers.map { Double($0.hits) / Double(trace.numbers.count) * 100 }
      columns += trace.answers.map { "\(trace.name), \($0.capacity)" }
    }
    let texts = traces.map { "\($0.name) (\($0.numbers.count) requests for \($0.names) names)" }
    return FigureTable(
      title: title,
      conditions: """
        Web requests as two servers recorded them, of the project cache2k: \
        \(texts.joined(separator: ", ")). Each name is a poster of \(Self.posterBytes) bytes, one \
        thread; what is missing is inserted. A column for each trace and limit, in posters. The first \
        line that is not ours was computed beforehand, by another program.
        """,
      columns: columns,
      rows: [
        FigureTable.Row(name: "MemoryCache", values: ours),
        FigureTable.Row(name: "exact LRU, calculated", values: answers),
        FigureTable.Row(name: Self.exactName, values: exact),
        FigureTable.Row(name: "NSCache", values: foundation),
      ],
      demands: [
        FigureTable.Demand(
          text: "hits by which ours differ from the exact LRU's, per cent at most",
          value: Self.difference(ours, answers), bound: 0)
      ])
  }

  private static func difference(_ left: [Double?], _ right: [Double?]) -> Double? {
    zip(left, right).compactMap { left, right in
      guard let left, let right else { return nil }
      return abs(left - right)
    }.max()
  }

  /// The share of hits at some limits, in per cent.
  private struct Hits {
    let ours: [Double?]
    let exact: [Double?]
    let foundation: [Double?]

    /// - Parameters:
    ///   - looks: numbers below `names`.
    ///   - capacities: limits in posters.
    init(of looks: [Int32], names: Int, capacities: [Int]) throws {
      let posters = try (0..<names).map { try SmallPoster.make($0, bytes: posterBytes) }
      let keys = posters.map { FoundationCache.key($0.metadata.address.canonical) }
      func ratio(_ find: (Int) -> Bool, _ insert: (Int) -> Void) -> Double {
        var hits = 0
        for look in looks {
          if find(Int(look)) { hits += 1 } else { insert(Int(look)) }
        }
        return Double(hits) / Double(looks.count) * 100
      }
      let limits = capacities.map { $0 * posterBytes }
      ours = limits.map { limit in
        let cache = MemoryCache(limitBytes: limit)
        return ratio({ cache.poster(for: posters[$0].key) != nil }, { cache.insert(posters[$0]) })
      }
      exact = limits.map { limit in
        let cache = LockedLRU(limitBytes: limit)
        return ratio({ cache.poster(for: posters[$0].key) != nil }, { cache.insert(posters[$0]) })
      }
      foundation = limits.map { limit in
        let cache = FoundationCache(limitBytes: limit)
        return ratio(
          { cache.poster(for: keys[$0]) != nil }, { cache.insert(posters[$0], for: keys[$0]) })
      }
    }
  }
}
