import PosterCache
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FetchScheduleTests {
  private func order(
    _ cells: [(enter: Double, leave: Double, weight: Double)], service: Double = 0.1,
    delay: Double = 0
  ) -> [Int] {
    let candidates = cells.enumerated().map { index, cell in
      FetchSchedule.Candidate(
        enter: cell.enter, leave: cell.leave, weight: cell.weight, service: service, index: index)
    }
    return FetchSchedule.order(candidates, delay: delay).map(\.index)
  }

  @Test func `what enters first is fetched first, equals by their index`() {
    #expect(order([(2, 9, 1), (0, 9, 1), (1, 9, 1), (0, 9, 1)]) == [1, 3, 2, 0])
    #expect(order([]) == [])
  }

  @Test func `what would come after its cell has left is not fetched`() {
    // Done at 0.3, 0.4, 0.5.
    #expect(order([(0, 0.25, 1), (0, 9, 1), (0, 9, 1)], delay: 0.2) == [1, 2])
    #expect(order([(0, 0.31, 1), (1, 9, 1), (1, 9, 1)], delay: 0.2) == [0, 1, 2])
  }

  @Test func `a cell that passes by gives way to cells that stay and would be late`() {
    // It is seen for a tenth of a second after its arrival; three others would be later by a tenth each.
    let passing = (enter: 0.0, leave: 0.2, weight: 1.0)
    let staying = (enter: 0.05, leave: 5.0, weight: 1.0)
    #expect(order([passing, staying, staying, staying]) == [1, 2, 3])
    // One other loses as much as it gains: it stays.
    #expect(order([passing, staying]) == [0, 1])
    // Others that are not late lose nothing.
    let later = (enter: 2.0, leave: 5.0, weight: 1.0)
    #expect(order([passing, later, later, later]) == [0, 1, 2, 3])
  }

  @Test func `what is unlikely gives way sooner`() {
    let unlikely = (enter: 0.0, leave: 3.0, weight: 0.05)
    let certain = (enter: 0.0, leave: 3.0, weight: 1.0)
    #expect(order([unlikely, certain, certain, certain]) == [1, 2, 3])
  }

  @Test func `something is always fetched if it can come in time`() {
    var random = SplitMix64(seed: 6)
    for _ in 0..<500 {
      let cells = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
        let enter = Double(Int.random(in: 0..<300, using: &random)) / 100
        return (
          enter: enter, leave: enter + Double(1 + Int.random(in: 0..<200, using: &random)) / 100,
          weight: Double(1 + Int.random(in: 0..<100, using: &random)) / 100
        )
      }
      let result = order(cells, service: 0.07, delay: 0.08)
      #expect(result.isEmpty == !cells.contains { $0.leave > 0.15 })
      #expect(Set(result).count == result.count)
      let arrivals = result.indices.map { 0.08 + 0.07 * Double($0 + 1) }
      // Dropping others only makes the rest earlier.
      #expect(zip(result, arrivals).allSatisfy { cells[$0].leave > $1 - 1e-9 })
      #expect(zip(result, result.dropFirst()).allSatisfy { cells[$0].enter <= cells[$1].enter })
    }
  }

  @Test func `it saves more blank time than going by entry alone`() {
    var random = SplitMix64(seed: 7)
    var (ours, plain) = (0.0, 0.0)
    for _ in 0..<300 {
      let cells = (0..<60).map { _ in
        let enter = Double(Int.random(in: 0..<150, using: &random)) / 100
        return (
          enter: enter, leave: enter + Double(5 + Int.random(in: 0..<200, using: &random)) / 100,
          weight: 1.0
        )
      }
      func saved(_ order: [Int]) -> Double {
        order.enumerated().reduce(0) { sum, next in
          let cell = cells[next.element]
          return sum + max(0, cell.leave - max(cell.enter, 0.08 + 0.07 * Double(next.offset + 1)))
        }
      }
      ours += saved(order(cells, service: 0.07, delay: 0.08))
      plain += saved(cells.indices.sorted { (cells[$0].enter, $0) < (cells[$1].enter, $1) })
    }
    #expect(ours > 1.5 * plain, "\(ours) against \(plain)")
  }

  @Test func `of what is merely likely the nearest comes first, however much there is of it`() {
    let likely = (0..<40).map { cell in
      (enter: 0.6 + 0.02 * Double(cell), leave: 1.2 + 0.02 * Double(cell), weight: 0.5)
    }
    #expect(order(likely, service: 0.07, delay: 0.2).first == 0)
  }
}
