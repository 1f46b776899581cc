import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ScreenLayoutTests {
  /// Three columns of 100 x 100, seen through 310 x 250.
  private static let grid = ScreenLayout(
    view: (310, 250), cell: (100, 100), sections: [.grid(items: 20)])

  @Test func `as many columns as fit`() {
    #expect(Self.grid.columns == 3)
    #expect(Self.grid.contentLength == 700)
    #expect(Self.grid.farthestOffset == 450)
    #expect(ScreenLayout(view: (50, 50), cell: (100, 100), sections: []).columns == 1)
  }

  @Test(arguments: [
    (0.0, 0..<9), (50, 0..<9), (50.5, 0..<12), (99.9, 0..<12), (100, 3..<12), (450, 12..<20),
    (600, 18..<20), (700, 20..<20), (-200, 0..<3), (-250, 0..<0), (1e300, 20..<20), (-1e300, 0..<0),
  ])
  func `an item is visible if a part of it is`(offset: Double, items: Range<Int>) {
    let visible = Self.grid.visibleItems(at: offset, rowOffsets: [:])
    #expect(visible.count == 1)
    #expect(visible[0].count == items.count)
    if !items.isEmpty { #expect(visible[0] == items) }
  }

  @Test func `rows show what their own scroll has reached`() {
    let layout = ScreenLayout(
      view: (310, 250), cell: (100, 100),
      sections: [.row(items: 8), .row(items: 5), .grid(items: 4)],
      spacing: 20)
    #expect(layout.contentLength == 3 * 20 + 4 * 100)
    #expect(
      layout.visibleItems(at: 0, rowOffsets: [0: 250, 1: 190]) == [2..<6, 1..<5, 0..<0])
    #expect(layout.visibleItems(at: 125, rowOffsets: [:])[0].isEmpty)
    #expect(layout.visibleItems(at: 125, rowOffsets: [:])[1...] == [0..<4, 0..<4])
    #expect(layout.farthestOffset(of: 0) == 490)
    #expect(layout.row(at: 130) == nil)
    #expect(layout.row(at: 145) == 1)
    #expect(layout.row(at: 300) == nil)
    #expect(layout.extent(of: WindowCell(section: 2, item: 3)) == (360, 100))
  }

  @Test func `a list may grow`() {
    var layout = Self.grid
    layout.setItems(40, in: 0)
    #expect(layout.visibleItems(at: 600, rowOffsets: [:]) == [18..<27])
  }
}
