import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct WaitTableTests {
  @Test func `times expire in order, gates open in the order of arrival`() {
    var table = WaitTable()
    let late = table.insert(.time(30))
    let early = table.insert(.time(10))
    let first = table.insert(.gate(7))
    let other = table.insert(.gate(8))
    let second = table.insert(.gate(7))
    let last = table.insert(.end)
    #expect(table.nextDeadline == 10)
    #expect(table.expire(at: 9) == [])
    #expect(table.expire(at: 30) == [early, late])
    #expect(table.nextDeadline == nil)
    #expect(table.gateDidOpen(7) == [first, second])
    #expect(table.removeAll() == [other, last])
    #expect(table.count == 0)
  }

  @Test(arguments: UInt64(1)...20)
  func `random waits wake as in a naive model`(seed: UInt64) {
    var random = SeededRandom("waits \(seed)")
    var table = WaitTable()
    var model: [(id: Int, wish: WaitTable.Wish)] = []
    var now: UInt64 = 0
    for _ in 0..<2_000 {
      switch random.below(5) {
      case 0, 1:
        let wish = WaitTable.Wish.time(now + UInt64(random.below(100)))
        model.append((table.insert(wish), wish))
      case 2:
        let wish = random.below(9) == 0 ? WaitTable.Wish.end : .gate(random.below(5))
        model.append((table.insert(wish), wish))
      case 3:
        now += UInt64(random.below(40))
        func time(_ wish: WaitTable.Wish) -> UInt64? {
          if case .time(let time) = wish, time <= now { time } else { nil }
        }
        let due = model.compactMap { entry in time(entry.wish).map { (time: $0, id: entry.id) } }
          .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        model.removeAll { time($0.wish) != nil }
        #expect(table.expire(at: now) == due.map(\.id))
      default:
        let gate = random.below(5)
        let ids = model.filter { $0.wish == .gate(gate) }.map(\.id)
        model.removeAll { $0.wish == .gate(gate) }
        #expect(table.gateDidOpen(gate) == ids)
      }
      #expect(table.count == model.count)
    }
    #expect(table.removeAll() == model.map(\.id).sorted())
  }
}
