import PosterCache
import ScrollReplay
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct ScrollSettingsTests {
  @Test func `the defaults are those of the help`() throws {
    let scroll = try scroll("scroll --list trending --demo")
    #expect(
      scroll.sections == [.init(list: .tmdb(.trending(media: .all, window: .day)), isRow: false)])
    #expect(scroll.listing.pageLimit == nil && scroll.listing.posterLimit == nil)
    #expect(scroll.listing.size == .w342 && scroll.listing.source == .demo)
    #expect(
      scroll.trace == .seed(1, .iOSFlings) && scroll.policy == .adaptive && scroll.seconds == nil)
    #expect(scroll.viewport == PixelSize(width: 390, height: 844))
    #expect(scroll.cell == PixelSize(width: 120, height: 180))
    #expect(scroll.preview == nil && scroll.plot == nil && scroll.cacheDirectory == nil)
    #expect(scroll.link == .init(latencyMilliseconds: 80, bytesPerSecond: 2_500_000))
    #expect(!scroll.isSimulated)
  }

  @Test func `every option arrives`() throws {
    let scroll = try scroll(
      """
      scroll --list trending --window week --media tv --pages 3 --limit 50 --language ko-KR \
      --size w500 --trace t.json --seconds 2.5 --viewport 1080x1920 --cell 200x300 --ladder w154 \
      --plot out.png --cache-dir c --demo --latency 0.2s --bandwidth 5M
      """)
    #expect(
      scroll.sections == [.init(list: .tmdb(.trending(media: .tv, window: .week)), isRow: false)])
    #expect(scroll.listing.pageLimit == 3 && scroll.listing.posterLimit == 50)
    #expect(scroll.listing.language == "ko-KR" && scroll.listing.size == .w500)
    #expect(scroll.trace == .file("t.json") && scroll.seconds == 2.5)
    #expect(scroll.viewport == PixelSize(width: 1080, height: 1920))
    #expect(scroll.cell == PixelSize(width: 200, height: 300))
    #expect(scroll.preview == .w154 && scroll.plot == "out.png" && scroll.cacheDirectory == "c")
    #expect(scroll.link == .init(latencyMilliseconds: 200, bytesPerSecond: 625_000))
  }

  @Test func `rows stand above the list, or alone`() throws {
    let both = try scroll(
      "scroll --list trending --media tv --rows similar,recommendations --id 7 --demo")
    #expect(
      both.sections == [
        .init(list: .tmdb(RowName.similar.list(media: .tv, id: 7)), isRow: true),
        .init(list: .tmdb(RowName.recommendations.list(media: .tv, id: 7)), isRow: true),
        .init(list: .tmdb(.trending(media: .tv, window: .day)), isRow: false),
      ])
    let alone = try scroll("scroll --rows recommendations --id 7 --demo")
    #expect(
      alone.trace == .seed(1, .rows)
        && alone.sections == [
          .init(list: .tmdb(RowName.recommendations.list(media: .movie, id: 7)), isRow: true)
        ])
  }

  @Test func `policies and kinds of movement are named`() throws {
    let screens = try scroll(
      "scroll --list trending --demo --policy screens:2.5,1.5 --kind android --seed 7")
    #expect(screens.policy == .lookAhead(.screens(lead: 2.5, trail: 1.5)))
    #expect(screens.trace == .seed(7, .androidFlings))
    let fixed = try scroll("scroll --list trending --demo --policy fixed:12 --kind reading")
    #expect(fixed.policy == .lookAhead(.items(12)) && fixed.trace == .seed(1, .reading))
    let none = try scroll("scroll --list trending --demo --policy none")
    #expect(none.policy == .lookAhead(.none))
  }

  @Test func `bandwidths without a unit are in bits, and may be unlimited`() throws {
    func link(_ options: String) throws -> Settings.Scroll.Link? {
      try scroll("scroll --list trending \(options)").link
    }
    #expect(try link("--demo --bandwidth 20M")?.bytesPerSecond == 2_500_000)
    #expect(try link("--demo --bandwidth 20Mbit/s")?.bytesPerSecond == 2_500_000)
    #expect(try link("--demo --bandwidth 2MB")?.bytesPerSecond == 2 << 20)
    #expect(
      try link("--demo --bandwidth unlimited --latency 0")
        == .init(latencyMilliseconds: 0, bytesPerSecond: nil))
    #expect(try link("--api http://a.test/3") == nil)
    let simulated = try scroll("scroll --list trending --simulate --latency 20ms")
    #expect(simulated.isSimulated && simulated.listing.source == .demo)
    #expect(simulated.link?.latencyMilliseconds == 20)
  }

  @Test(arguments: [
    ("scroll --demo", "scroll needs a list"), ("scroll --list trendign --demo", "mean trending?"),
    ("scroll --list trending --demo --seed x", "--seed takes"),
    ("scroll --list trending --demo --seed -1", "--seed takes"),
    ("scroll --list trending --demo --seed 1 --trace t", "leave out one of them"),
    ("scroll --list trending --demo --kind ios --trace t", "leave out one of them"),
    ("scroll --list trending --demo --kind slow", "--kind takes ios, android"),
    ("scroll --list trending --demo --kind rows", "--rows"),
    ("scroll --list trending --demo --trace=", "--trace needs a file"),
    ("scroll --list trending --demo --plot=", "--plot needs a file"),
    ("scroll --list trending --demo --viewport 390", "--viewport takes"),
    ("scroll --list trending --demo --viewport 0x9", "1 to 100000"),
    ("scroll --list trending --demo --cell 120x100001", "1 to 100000"),
    ("scroll --list trending --demo --seconds 601", "0.1 to 600"),
    ("scroll --list trending --demo --latency 1h", "80ms, 80 or 0.08s"),
    ("scroll --list trending --demo --bandwidth 0", "above 0"),
    ("scroll --list trending --demo --bandwidth 20Mb", "20Mbit/s"),
    ("scroll --list trending --api http://a.test/3 --latency 80ms", "add --demo"),
    ("scroll --list trending --api http://a.test/3 --bandwidth 20M", "add --demo"),
    ("scroll --list trending --demo --ladder w342", "below --size"),
    ("scroll --list trending --demo --ladder original", "below --size"),
    ("scroll --list trending --demo --ladder small", "--ladder takes"),
    ("scroll --list trending --demo --ladder w92 --policy none", "for --policy adaptive"),
    ("scroll --list trending --demo --policy quick", "--policy: not a policy"),
    ("scroll --list trending --demo --policy fixed:", "--policy: not a policy"),
    ("scroll --list trending --demo --policy screens:1", "--policy: not a policy"),
    ("scroll --list trending --demo --id 7", "--id is about --rows"),
    ("scroll --rows similar --demo", "--id N"),
    ("scroll --rows similar --id 0 --demo", "--id takes"),
    ("scroll --rows similar,similar --id 7 --demo", "twice"),
    ("scroll --rows similar, --id 7 --demo", "--rows has an empty name in similar,: write"),
    ("scroll --rows similar --id 7 --media all --demo", "movie or tv"),
    ("scroll --list trending --demo --offline", "--cache-dir"),
    ("scroll --list trending --demo now", "does not know"),
    ("scroll --list trending --simulate --api http://a.test/3", "leave out --api"),
  ])
  func `a wrong value is told with what is allowed`(line: String, expected: String) throws {
    let error = try #require(throws: PosterError.self) { try settings(line) }
    #expect(CommandStatus(error) == .usage, "\(error)")
    #expect(error.message.contains(expected), "\(error.message)")
    #expect(!error.message.contains("\n"))
  }

  @Test func `a real API wants a credential`() throws {
    let error = try #require(throws: PosterError.self) { try settings("scroll --list trending") }
    #expect(CommandStatus(error) == .refused)
  }

  // MARK: -

  private struct Unexpected: Error {}

  private func settings(_ line: String) throws(PosterError) -> Settings {
    try Settings(
      FlagParser.parse(line.split(separator: " ").map(String.init)), environment: { _ in nil })
  }

  private func scroll(_ line: String) throws -> Settings.Scroll {
    guard case .scroll(let scroll) = try settings(line).action else { throw Unexpected() }
    return scroll
  }
}
