import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ScreenStateTests {
  private func cells(_ section: Int, _ items: some Sequence<Int>) -> [WindowCell] {
    items.map { WindowCell(section: section, item: $0) }
  }

  /// Two columns of 100 x 100, seen through 200 x 200.
  private func grid(at offset: Double) -> ScreenState {
    var state = ScreenState(
      ScreenLayout(view: (200, 200), cell: (100, 100), sections: [.grid(items: 30)]))
    state.didScroll(to: .init(seconds: 1, offset: offset))
    return state
  }

  @Test func `beyond the visible items lie the next ones, the nearest first`() {
    let state = grid(at: 400)
    #expect(state.visibleCells == cells(0, 8..<12))
    #expect(state.cells(beyondEnd: true, count: 3) == cells(0, 12..<15))
    #expect(state.cells(beyondEnd: false, count: 3) == cells(0, [7, 6, 5]))
    // 2.5 rows of 100, each of two items.
    #expect(state.cells(beyondEnd: true, length: 250) == cells(0, 12..<17))
    #expect(state.cells(beyondEnd: true, count: 100).count == 18)
    #expect(grid(at: 1e9).cells(beyondEnd: false, count: 2) == cells(0, [29, 28]))
  }

  @Test func `beyond a grid comes the next section, rows with what they show`() {
    var state = ScreenState(
      ScreenLayout(
        view: (200, 200), cell: (100, 100),
        sections: [.grid(items: 6), .row(items: 9), .row(items: 1), .grid(items: 2)]))
    state.didScroll(to: .init(seconds: 0, offset: 0, rowOffsets: [1: 250]))
    #expect(
      state.cells(beyondEnd: true, length: 1000)
        == cells(0, 4..<6) + cells(1, 2..<5) + cells(2, 0..<1) + cells(3, 0..<2))
    #expect(state.cells(beyondEnd: true, length: 200) == cells(0, 4..<6) + cells(1, 2..<5))
    state.didScroll(to: .init(seconds: 1, offset: 500, rowOffsets: [1: 250]))
    #expect(
      state.cells(beyondEnd: false, length: 1000)
        == cells(2, 0..<1).filter { !state.isVisible($0) }
        + cells(1, 2..<5).filter {
          !state.isVisible($0)
        } + cells(0, (0..<6).reversed()))
  }

  @Test func `sideways lie the next items of a row`() {
    var state = ScreenState(
      ScreenLayout(
        view: (200, 200), cell: (100, 100), sections: [.row(items: 9), .row(items: 9)]))
    #expect(state.visibleRows == [0, 1])
    state.didScroll(to: .init(seconds: 0, offset: 0, rowOffsets: [1: 300]))
    #expect(state.visibleRows == [1, 0])
    #expect(state.cells(ofRow: 1, beyondEnd: true, count: 2) == cells(1, [5, 6]))
    #expect(state.cells(ofRow: 1, beyondEnd: false, count: 9) == cells(1, [2, 1, 0]))
    #expect(state.backwardRows.isEmpty)
    state.didScroll(to: .init(seconds: 0, offset: 0, rowOffsets: [1: 200]))
    #expect(state.backwardRows == [1])
    state.didScroll(to: .init(seconds: 0, offset: 1, rowOffsets: [1: 200]))
    #expect(state.visibleRows == [0, 1])
  }

  @Test func `the direction is that of the last movement`() {
    var state = grid(at: 400)
    #expect(state.isForward)
    state.didScroll(to: .init(seconds: 2, offset: 399))
    #expect(!state.isForward)
    state.didScroll(to: .init(seconds: 3, offset: 399))
    #expect(!state.isForward)
  }
}
