import PosterCache
import ScrollReplay

/// A policy in the scroll suite, with the settings that make it a line of its own.
struct ScrollContestant: Sendable {
  /// Who it is.
  enum Kind: Sendable {
    /// A fixed distance ahead, with as many transfers as keep the link busy or six, whichever is better.
    case fixed(LookAhead)
    /// The library's planner.
    case ours(VisibleWindow.Configuration, knowsLink: Bool = false)
    /// The true future.
    case oracle
  }

  let name: String
  let kind: Kind

  /// Whether it is one of the policies to be beaten.
  var isFixed: Bool {
    if case .fixed = kind { true } else { false }
  }

  /// How many transfers at once, one after the other; the better one counts.
  var slots: [Int?] { isFixed ? [nil, 6] : [nil] }

  /// The policy for one run.
  func policy(_ ground: ScrollGround, _ link: ScrollLink, slots: Int?) -> any ScrollPolicy {
    switch kind {
    case .fixed(let lookAhead): LookAheadPolicy(lookAhead, slots: slots)
    case .ours(let configuration, let knowsLink):
      AdaptivePolicy(configuration, knownLink: knowsLink ? link.figures : nil)
    case .oracle:
      OraclePolicy(ground.future, link: link.figures, slots: slots) {
        [pictures = ground.pictures] in
        pictures.bytes(WindowAsk($0))
      }
    }
  }

  /// What looks as far ahead as the library does by itself.
  static let ours = ScrollContestant(name: "adaptive", kind: .ours(VisibleWindow.Configuration()))
  /// The same where nothing has to be measured first.
  static let knowing = ScrollContestant(
    name: "adaptive, link known",
    kind: .ours(VisibleWindow.Configuration(), knowsLink: true))
  static let oracle = ScrollContestant(name: "oracle", kind: .oracle)
  static let ladder = adaptive("adaptive, ladder") { $0.previewShare = 1.0 / 8 }

  /// The settings of ours: how far it looks beyond the predicted stop.
  static let aheads = [0.5, 1, 2, 2.5, 3.5].map { screens in
    adaptive("adaptive, \(screens) screens") { $0.aheadScreens = screens }
  }

  /// Those that look a fixed distance ahead, some settings of each.
  static let fewFixed =
    [LookAhead.none, .items(12), .items(48)].map(Self.fixed)
    + [(2.5, 1.5), (4, 2)].map { Self.fixed(.screens(lead: $0.0, trail: $0.1)) }

  /// Those that look a fixed distance ahead, each with its settings.
  static let fixed: [ScrollContestant] =
    [LookAhead.none].map(Self.fixed)
    + [6, 12, 24, 48].map { Self.fixed(.items($0)) }
    + [(0.5, 0), (1, 0.5), (1.5, 1), (2.5, 1.5), (4, 2)].map {
      Self.fixed(.screens(lead: $0.0, trail: $0.1))
    }

  private static func fixed(_ lookAhead: LookAhead) -> ScrollContestant {
    ScrollContestant(
      name: "\(PolicyName.lookAhead(lookAhead))", kind: .fixed(lookAhead))
  }

  private static func adaptive(
    _ name: String, _ change: (inout VisibleWindow.Configuration) -> Void
  ) -> ScrollContestant {
    var configuration = VisibleWindow.Configuration()
    change(&configuration)
    return ScrollContestant(name: name, kind: .ours(configuration))
  }
}

/// A link of the scroll suite.
struct ScrollLink: Sendable, Hashable {
  let megabits: Double
  let milliseconds: Double

  var title: String { "\(Int(megabits)) Mbit/s, \(Int(milliseconds)) ms" }
  var bytesPerSecond: Double { megabits * 125_000 }
  var latency: Double { milliseconds / 1000 }

  /// As it is, for who knows it.
  var figures: LinkFigures {
    LinkFigures(firstByteSeconds: latency, bytesPerSecond: bytesPerSecond, meanBytes: 44_000)
  }

  static let all = [5.0, 20, 100].flatMap { megabits in
    [20.0, 80, 200].map { ScrollLink(megabits: megabits, milliseconds: $0) }
  }
}

/// A trace of the scroll suite and what is scrolled.
struct ScrollGround: Sendable {
  /// Which sort of scrolling it is.
  let kind: String
  /// The number of the trace among those of its sort.
  let seed: UInt64
  let trace: ScrollTrace
  let layout: ScreenLayout
  let pictures: SimulatedPictures
  let future: TrueFuture

  init(
    kind: String, seed: UInt64, _ trace: ScrollTrace, _ layout: ScreenLayout,
    _ pictures: SimulatedPictures
  ) {
    self.kind = kind
    self.seed = seed
    self.trace = trace
    self.layout = layout
    self.pictures = pictures
    future = TrueFuture(trace, layout: layout)
  }

  /// What flings of real fingers are called.
  static let recordedKind = "recorded"

  /// Every sort of scrolling, as many of each.
  ///
  /// - Parameter recorded: flings of real fingers; without any, there is one sort less.
  static func all(each count: Int, recorded: [RecordedFling]) -> [ScrollGround] {
    let grid = ScreenLayout(sections: [.grid(items: 3000)])
    let gridPictures = SimulatedPictures(counts: [3000])
    let rows = ScreenLayout(
      sections: Array(repeating: .row(items: 60), count: 60), spacing: 40)
    let rowPictures = SimulatedPictures(counts: Array(repeating: 60, count: 60))
    var grounds: [ScrollGround] = []
    for kind in TraceKind.allCases {
      let layout = kind == .rows ? rows : grid
      for seed in 0..<UInt64(count) {
        grounds.append(
          ScrollGround(
            kind: kind.rawValue, seed: seed, .seeded(kind, seed: seed, layout: layout), layout,
            kind == .rows ? rowPictures : gridPictures))
      }
    }
    guard !recorded.isEmpty else { return grounds }
    for seed in 0..<UInt64(count) {
      grounds.append(
        ScrollGround(
          kind: recordedKind, seed: seed, .recorded(recorded, seed: seed, end: grid.farthestOffset),
          grid,
          gridPictures))
    }
    return grounds
  }
}
