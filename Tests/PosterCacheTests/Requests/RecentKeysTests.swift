import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct RecentKeysTests {
  @Test(arguments: [1, 2, 7])
  func `the last different keys are known, and no others`(limit: Int) throws {
    #expect(RecentKeys.limit == 65_536)
    var random = SeededGenerator(seed: 5)
    var keys = RecentKeys(limit: limit)
    var naive: [Int] = []
    let all = try (0..<12).map { CacheKey(try PosterAddress("http://h.test/\($0)")) }
    for _ in 0..<2_000 {
      let next = Int.random(in: all.indices, using: &random)
      let isNew = !naive.contains(next)
      #expect(keys.insert(all[next]) == isNew)
      if isNew { naive = (naive + [next]).suffix(limit) }
      for index in all.indices where keys.contains(all[index]) != naive.contains(index) {
        Issue.record("\(index) after \(naive)")
      }
    }
  }
}
