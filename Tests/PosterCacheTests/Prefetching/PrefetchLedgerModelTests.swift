import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct PrefetchLedgerModelTests {
  @Test func `whatever happens, exactly what is wanted is on its way, once`() {
    for seed in 0..<2000 as Range<UInt64> {
      var player = Player(seed: seed)
      for step in 0..<60 {
        player.step()
        guard player.world.flaws.isEmpty else {
          Issue.record("seed \(seed), step \(step): \(player.world.flaws), \(player.last)")
          return
        }
      }
      player.end()
      guard player.world.flaws.isEmpty, player.flaws.isEmpty else {
        Issue.record("seed \(seed), end: \(player.world.flaws + player.flaws), \(player.last)")
        return
      }
    }
  }

  /// Does random things.
  private struct Player {
    var world: LedgerWorld
    var random: SeededGenerator
    var last: [String] = []
    var flaws: [String] = []
    private var hasStopped = false

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      var configuration = Prefetcher.Configuration()
      configuration.wishLimit = Int.random(in: 1...6, using: &random)
      if Bool.random(using: &random) { configuration.previewSize = .w92 }
      world = LedgerWorld(configuration)
    }

    mutating func step() {
      let kind = Int.random(in: 0..<32, using: &random)
      last.append("\(kind)")
      switch kind {
      case 0, 1: if world.items.count < 5 { append() }
      case 2: world.remove(section())
      case 3: world.replace(section())
      case 4, 5: setItems()
      case 6...9: world.wish(cells())
      case 10, 11: world.takeBack(cells())
      case 12, 13: world.bind(cell(), needsPicture: chance(3))
      case 14: world.unbind(world.slots.keys.sorted().randomElement(using: &random) ?? cell())
      // Some sequences have no positions at all.
      case 15...17: if random.seed % 3 > 0 { scroll() }
      case 18: if random.seed % 3 > 0 { world.row(section(), to: length(2000)) }
      case 19: if random.seed % 3 > 0 { world.show(cells()) }
      case 20...24: if let number = ticket() { world.finish(number) }
      case 25: if let number = ticket() { world.fail(number) }
      case 26, 27: loadPage()
      case 28: failPage()
      case 29: world.retry(section())
      case 30: world.pass(Double.random(in: 0...2, using: &random))
      default:
        guard chance(8) else { return }
        world.stop()
        hasStopped = true
      }
    }

    /// Everything that is bound gets its picture, and nothing is left over.
    mutating func end() {
      world.settleDown()
      for cell in world.slots.keys.sorted() {
        let isBlank = world.items[cell.section][cell.item]
        let isSeen =
          !world.ledger.hasPositions || world.ledger.window.visibleCells.contains(cell)
        // What was bound before a stop need not be served.
        guard !isBlank, isSeen, !hasStopped else { continue }
        if world.ledger.state(of: cell)?.isEmpty ?? true { flaws.append("\(cell) got nothing") }
      }
      world.stop()
      if world.ledger.nextWake != nil { flaws.append("it waits after a stop") }
    }

    private mutating func append() {
      let layout: VisibleWindow.Layout =
        chance(2)
        ? .grid(columns: Int.random(in: -1...4, using: &random), rowLength: length(300))
        : .row(length: length(300), itemLength: length(200), viewLength: length(500))
      world.append(layout, hasPages: !chance(5), loadsFirstPage: chance(2))
    }

    private mutating func setItems() {
      let section = section()
      let old = world.items.indices.contains(section) ? world.items[section] : []
      switch Int.random(in: 0..<3, using: &random) {
      case 0: world.setItems(old + blanks(), in: section, kept: old.count)
      case 1:
        let count = Int.random(in: 0...old.count, using: &random)
        world.setItems(Array(old[..<count]), in: section, kept: count)
      default: world.setItems(blanks(), in: section, kept: 0)
      }
    }

    private mutating func scroll() {
      let offset = chance(10) ? .nan : Double.random(in: -500...6000, using: &random)
      world.scroll(to: offset, viewLength: chance(20) ? -1 : 844)
    }

    private mutating func loadPage() {
      let number = world.pages.keys.sorted().randomElement(using: &random) ?? 9999
      world.loadPage(number, blanks(), hasMore: !chance(4))
    }

    private mutating func failPage() {
      let number = world.pages.keys.sorted().randomElement(using: &random) ?? 9999
      world.failPage(number, chance(5) ? .refused : chance(5) ? .hopeless : .mayPass)
    }

    private mutating func blanks() -> [Bool] {
      (0..<Int.random(in: 0...40, using: &random)).map { _ in chance(6) }
    }

    private mutating func cells() -> [WindowCell] {
      let first = cell()
      return (0..<Int.random(in: 0...12, using: &random)).map { offset in
        chance(4) ? cell() : WindowCell(section: first.section, item: first.item + offset)
      }
    }

    private mutating func cell() -> WindowCell {
      let section = section()
      let count = world.items.indices.contains(section) ? world.items[section].count : 0
      return WindowCell(section: section, item: Int.random(in: 0...count + 1, using: &random))
    }

    private mutating func section() -> Int {
      Int.random(in: 0...world.items.count, using: &random)
    }

    private mutating func length(_ limit: Double) -> Double {
      chance(30)
        ? [.nan, 0, -1, .infinity].randomElement(using: &random) ?? 0
        : Double.random(in: 1...limit, using: &random)
    }

    private mutating func ticket() -> LedgerWorld.Number? {
      world.tickets.keys.sorted().randomElement(using: &random)
    }

    private mutating func chance(_ count: Int) -> Bool {
      Int.random(in: 0..<count, using: &random) == 0
    }
  }
}
