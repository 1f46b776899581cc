import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct WishListTests {
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `wishes come in the order in which they were named, each once`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = WishList()
    var model: [WindowCell] = []
    for _ in 0..<400 {
      let cell = WindowCell(
        section: Int.random(in: 0..<3, using: &random), item: Int.random(in: 0..<20, using: &random)
      )
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        list.append(cell)
        if !model.contains(cell) { model.append(cell) }
      case 10..<15:
        list.remove(cell)
        model.removeAll { $0 == cell }
      case 15..<19:
        let first = list.popFirst()
        #expect(first == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
      default:
        let rename = { (cell: WindowCell) -> WindowCell? in
          cell.section == 1 ? nil : WindowCell(section: cell.section / 2, item: cell.item)
        }
        list.renumber(rename)
        var renamed: [WindowCell] = []
        for case let cell? in model.map(rename) where !renamed.contains(cell) {
          renamed.append(cell)
        }
        model = renamed
      }
      #expect(list.count == model.count, "seed \(seed)")
      #expect(list.contains(cell) == model.contains(cell), "seed \(seed)")
    }
  }
}
