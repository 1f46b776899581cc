import FoundationEssentials
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct IndexPathTests {
  @Test func `a path has a section and an item`() {
    var path = IndexPath(item: 7, section: 3)
    #expect(path == IndexPath(indexes: [3, 7]))
    #expect(path.section == 3 && path.item == 7)
    path.item = 8
    path.section = 4
    #expect(path == IndexPath(item: 8, section: 4))
    #expect(WindowCell(path) == WindowCell(section: 4, item: 8))
    #expect(WindowCell(section: 4, item: 8).indexPath == path)
  }

  @Test(arguments: [[], [1], [1, 2, 3], [-1, 0], [0, -1], [Int.min, Int.max]])
  func `other paths are no items`(indexes: [Int]) {
    var path = IndexPath(indexes: indexes)
    #expect(WindowCell(path) == nil)
    if indexes.count != 2 {
      #expect(path.section == -1 && path.item == -1)
      path.section = 5
      path.item = 5
      #expect(path == IndexPath(indexes: indexes))
    }
  }
}
