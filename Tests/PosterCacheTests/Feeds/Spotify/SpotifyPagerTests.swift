import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct SpotifyPagerTests {
  private typealias Claims = SpotifyPager.Claims

  private func offset(after claims: Claims, items: Int = 1, faults: Int = 0) -> Int? {
    var pager = SpotifyPager(pageSize: 50, pageLimit: nil)
    pager.pageDidLoad(claims, itemCount: items, faultCount: faults)
    return pager.nextOffset
  }

  @Test func `the next page begins where this one ends`() {
    #expect(offset(after: Claims(entryCount: 50, limit: 50, next: .some)) == 50)
    // The server's own, smaller maximum.
    #expect(offset(after: Claims(entryCount: 20, limit: 20, next: .some)) == 20)
    // Some were left out of it.
    #expect(offset(after: Claims(entryCount: 30, limit: 50, next: .some)) == 50)
    #expect(offset(after: Claims(entryCount: 30, next: .some)) == 30)
    for limit in [0, -1, 1, 51, Int.max, Int.min] {
      #expect(offset(after: Claims(entryCount: 20, limit: limit, next: .some)) == 20)
    }
    #expect(offset(after: Claims(entryCount: 70, limit: 50, next: .some)) == 70)
  }

  @Test func `a list ends where nothing new comes or nothing is said to come`() {
    #expect(offset(after: Claims(entryCount: 50, next: .none)) == nil)
    #expect(offset(after: Claims(entryCount: 50, total: 500, next: .none)) == nil)
    #expect(offset(after: Claims(entryCount: 50)) == nil)
    #expect(offset(after: Claims(entryCount: 50, total: 51)) == 50)
    #expect(offset(after: Claims(entryCount: 50, total: 50)) == nil)
    #expect(offset(after: Claims(entryCount: 0, limit: 50, total: 500, next: .some)) == nil)
    #expect(offset(after: Claims(entryCount: 50, next: .some), items: 0) == nil)
    #expect(offset(after: Claims(entryCount: 50, next: .some), items: 0, faults: 1) == 50)
  }

  @Test func `failed pages are skipped where the list is known to go on`() {
    var pager = SpotifyPager(pageSize: 50, pageLimit: nil)
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextOffset == nil)
    pager = SpotifyPager(pageSize: 50, pageLimit: nil)
    let page = Claims(entryCount: 50, limit: 50, total: 300, next: .some)
    pager.pageDidLoad(page, itemCount: 50, faultCount: 0)
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextOffset == 100)
    pager.pageDidFail(isRefusal: false)
    pager.pageDidLoad(page, itemCount: 50, faultCount: 0)
    #expect(pager.nextOffset == 200)
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextOffset == 250)
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextOffset == nil, "the total does not reach beyond 300")
    pager = SpotifyPager(pageSize: 50, pageLimit: nil)
    pager.pageDidLoad(page, itemCount: 50, faultCount: 0)
    pager.pageDidFail(isRefusal: true)
    #expect(pager.nextOffset == nil)
  }

  @Test func `whatever a server says, a list ends`() {
    var generator = SeededGenerator()
    for round in 0..<2000 {
      let limit = [nil, 0, 1, 7].randomElement(using: &generator) ?? nil
      var pager = SpotifyPager(pageSize: 50, pageLimit: limit)
      var offsets: [Int] = []
      // Every other server praises its list without end.
      let isFlatterer = round % 2 == 0
      while let offset = pager.nextOffset, offsets.count < 1000 {
        offsets.append(offset)
        let entries = Int.random(in: isFlatterer ? 1...60 : 0...60, using: &generator)
        let items = isFlatterer ? entries : Int.random(in: 0...entries, using: &generator)
        let numbers = [nil, Int.min, -1, 0, 1, 20, 50, 51, 119, 1_000_000, Int.max]
        let claims = Claims(
          entryCount: entries, limit: numbers.randomElement(using: &generator) ?? nil,
          total: numbers.randomElement(using: &generator) ?? nil,
          next: isFlatterer
            ? .some : [.some, .none, .unsaid].randomElement(using: &generator) ?? .some)
        if isFlatterer || Bool.random(using: &generator) {
          pager.pageDidLoad(claims, itemCount: items, faultCount: entries - items)
        } else {
          pager.pageDidFail(isRefusal: false)
        }
      }
      let isRising = zip(offsets, offsets.dropFirst()).allSatisfy { $0 < $1 }
      let most = limit ?? SpotifyPager.lastPage
      let isRight =
        isRising && offsets.count <= most && (offsets.last ?? 0) <= SpotifyPager.lastOffset
        && (!isFlatterer || offsets.count == most)
      #expect(isRight, "seed \(generator.seed), round \(round): \(offsets.count) pages")
    }
  }
}
