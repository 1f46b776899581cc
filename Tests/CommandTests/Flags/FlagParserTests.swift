import PosterCache
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct FlagParserTests {
  @Test func `options may stand before, behind and between`() throws {
    var flags = RawFlags()
    flags.cacheDirectory = "x"
    flags.list = "trending"
    flags.json = true
    let expected = Invocation(command: .warm, operands: [], flags: flags)
    #expect(
      try FlagParser.parse(["--cache-dir", "x", "warm", "--list=trending", "--json"]) == expected)
    #expect(
      try FlagParser.parse(["warm", "--json", "--list", "trending", "--cache-dir=x"]) == expected)
  }

  @Test func `short options, abbreviations, the last of repeats, and two dashes`() throws {
    var flags = RawFlags()
    flags.quiet = true
    flags.verbose = true
    flags.output = "-"
    flags.timeout = "9"
    #expect(
      try FlagParser.parse([
        "get", "-qv", "-o", "a", "--timeo=5", "--timeout", "9", "-o-", "--", "-x",
      ])
        == Invocation(command: .get, operands: ["-x"], flags: flags))
  }

  @Test func `a fault may be given several times`() throws {
    let line = try FlagParser.parse(["demo-origin", "--fault", "/a=html", "--fault=/b=drop"])
    #expect(line.flags.faults == ["/a=html", "/b=drop"])
  }

  @Test func `nothing at all is no error yet`() throws {
    #expect(
      try FlagParser.parse([]) == Invocation(command: nil, operands: [], flags: RawFlags()))
    #expect(try FlagParser.parse(["--help"]).flags.help)
  }

  @Test(arguments: [
    (["wram"], "did you mean warm?"), (["demo"], "use one of warm, get, ls, stats, verify, pin"),
    (["warm", "--lits", "x"], "did you mean --list?"), (["--zzzzzz"], "--help"),
    (["warm", "--list"], "--list needs an argument: NAME"), (["get", "-o"], "--output needs"),
    (["ls", "--json=1"], "--json takes no argument"), (["ls", "-x"], "unknown option -x"),
    (["warm", "--p", "1"], "ambiguous: --pages"),
    (["ls", "--list", "trending"], "option of warm, export, sheet, scroll, not of ls"),
    (["stats", "-o", "x"], "option of get, sheet, not of stats"),
    (["demo-origin", "--demo"], "option of warm, get, export, sheet, scroll, not of demo-origin"),
    (["get", "a\u{0}b"], "null character"), (["hlep"], "did you mean help?"),
    (["evcit"], "did you mean evict?"), (["verfy"], "did you mean verify?"),
    (["exprot"], "did you mean export?"), (["ls", "--srot", "url"], "did you mean --sort?"),
    (["trim", "--to"], "--to needs an argument: SIZE|DIR"),
    (["ls", "--repair"], "option of verify, not of ls"),
    (["clear", "--to", "0"], "option of trim, export, not of clear"),
    (["export", "--pin"], "option of warm, not of export"),
    (["help", "wram"], "did you mean warm?"), (["help", "warm", "ls"], "help takes one command"),
  ])
  func `what is not understood is told with what is allowed`(
    arguments: [String], expected: String
  ) throws {
    let error = try #require(throws: PosterError.self) { try FlagParser.parse(arguments) }
    #expect(error.code == .invalidConfiguration)
    #expect(error.message.contains(expected), "\(error.message)")
  }

  @Test func `names are near when few letters differ`() {
    let names = ["trending", "day", "week"]
    #expect(nearest(to: "trendign", among: names) == "trending")
    #expect(nearest(to: "Trending", among: names) == "trending")
    #expect(nearest(to: "dya", among: names) == "day")
    #expect(nearest(to: "", among: names) == nil)
    #expect(nearest(to: "popular", among: names) == nil)
    #expect(nearest(to: "weak", among: names) == "week")
    for (text, poster, profile) in [
      ("w999", "w780", "w185"), ("w300", "w342", "w185"), ("W90", "w92", "w45"),
      ("w123", "w154", "w185"), ("450", "w500", "w185"), ("h500", "w500", "h632"),
      ("w99999", "w780", "w185"), ("w034", "w92", "w45"), ("w1000000", "w780", "w185"),
      ("orginal", "original", "original"),
      ("banana", nil, nil),
    ] as [(String, String?, String?)] {
      #expect(nearestSize(to: text, among: ImageHost.tmdb.sizes(of: .poster)) == poster)
      #expect(nearestSize(to: text, among: ImageHost.tmdb.sizes(of: .profile)) == profile)
    }
  }

  @Test func `every option has its place in the help, and fits its lines`() {
    let overview = Help.text(for: nil)
    for command in CommandName.allCases {
      let help = Help.text(for: command)
      #expect(overview.contains("\n  \(command.rawValue) "))
      #expect(help.hasPrefix("usage: postercache \(command.rawValue)"))
      for flag in FlagTable.flags {
        let shown = help.contains(" --\(flag.name)\(flag.placeholder.map { " \($0)" } ?? " ")")
        #expect(shown == flag.applies(to: command), "\(command) \(flag.name)")
      }
      for line in help.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
    }
    #expect(Help.version == "postercache \(postercacheVersion)\n")
  }

  @Test func `no two options share a name or a letter`() {
    #expect(Set(FlagTable.flags.map(\.name)).count == FlagTable.flags.count)
    let letters = FlagTable.flags.compactMap(\.short)
    #expect(Set(letters).count == letters.count)
  }
}
