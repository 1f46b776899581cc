import Glibc
import PosterCache
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct SettingsTests {
  @Test func `the defaults are the contract's`() throws {
    let settings = try settings("warm --list trending", ["TMDB_API_KEY": Self.key])
    guard case .warm(let warm) = settings.action else { throw Unexpected() }
    #expect(warm.listing.lists == [.tmdb(.trending(media: .all, window: .day))])
    #expect(
      warm.listing.pageLimit == 1 && warm.listing.posterLimit == nil && warm.listing.language == nil
    )
    #expect(warm.listing.size == .w342 && !warm.isDryRun && !warm.isPinning && !warm.isSinceLast)
    #expect(warm.listing.pictures == .posters && !warm.listing.isStrict)
    let key = Settings.Servers.API(address: .tmdbAPI, credential: .apiKey(Self.key))
    #expect(warm.listing.source == .servers(Settings.Servers(tmdb: key)))
    #expect(settings.output == Settings.Output())
    #expect(settings.pipeline.fetching == FetchConfiguration())
    #expect(settings.pipeline.memoryLimit == MemoryLimits.standard.posters)
    #expect(settings.pipeline.diskLimit == nil && !settings.pipeline.isOffline)
  }

  @Test func `every option of warm arrives`() throws {
    let settings = try settings(
      """
      warm --list trending --media tv --window week --pages all --limit 50 --language ko-KR \
      --size w780 --api http://a.test/3 --images http://i.test/t/p --dry-run --json -v \
      --progress never --disk-limit 2G --memory-limit 8M --connections 4 --rate 2.5 --timeout 9 \
      --connect-timeout 0.5 --retries 0 --max-bytes 1M --proxy http://p.test:1 --cacert ca.pem
      """)
    guard case .warm(let warm) = settings.action else { throw Unexpected() }
    #expect(warm.listing.lists == [.tmdb(.trending(media: .tv, window: .week))])
    #expect(
      warm.listing.pageLimit == nil && warm.listing.posterLimit == 50
        && warm.listing.language == "ko-KR")
    #expect(warm.listing.size == .w780 && warm.isDryRun)
    let api = try PosterAddress("http://a.test/3")
    let images = try PosterAddress("http://i.test/t/p")
    #expect(
      warm.listing.source
        == .servers(Settings.Servers(tmdb: .init(address: api, credential: nil), images: images)))
    #expect(
      settings.output
        == Settings.Output(isJSON: true, isVerbose: true, progress: .never))
    #expect(try self.settings("ls -q").output == Settings.Output(isQuiet: true))
    let pipeline = settings.pipeline
    #expect(pipeline.diskLimit?.bytes == 2 << 30 && pipeline.memoryLimit.bytes == 8 << 20)
    #expect(try self.settings("get /a.jpg --offline").pipeline.isOffline)
    let open = try self.settings("get /a.jpg --refresh --allow-private").pipeline
    #expect(open.isRefreshing && open.fetching.allowsPrivateAddresses)
    #expect(!pipeline.isRefreshing && !pipeline.fetching.allowsPrivateAddresses)
    #expect(pipeline.fetching.connectionsPerHost == 4)
    #expect(pipeline.fetching.requestsPerSecond == 2.5)
    #expect(pipeline.fetching.timeoutSeconds == 9)
    #expect(pipeline.fetching.connectTimeoutSeconds == 0.5)
    #expect(pipeline.fetching.tries == 1 && pipeline.fetching.maximumBodyBytes == 1 << 20)
    #expect(pipeline.fetching.proxy == "http://p.test:1")
    #expect(pipeline.fetching.certificateAuthoritiesFile == "ca.pem")
  }

  @Test(arguments: [
    ("ls --cache-dir /o", ["POSTERCACHE_DIR": "/p", "XDG_CACHE_HOME": "/x", "HOME": "/h"], "/o"),
    ("ls", ["POSTERCACHE_DIR": "/p", "XDG_CACHE_HOME": "/x", "HOME": "/h"], "/p"),
    ("ls", ["POSTERCACHE_DIR": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/postercache"),
    ("ls", ["XDG_CACHE_HOME": "relative", "HOME": "/h"], "/h/.cache/postercache"),
  ])
  func `the cache directory comes from the nearest place that names one`(
    line: String, environment: [String: String], expected: String
  ) throws {
    #expect(try settings(line, environment).cacheDirectory() == expected)
  }

  @Test func `no cache directory anywhere is told`() throws {
    let settings = try settings("ls", [:])
    let error = #expect(throws: PosterError.self) { try settings.cacheDirectory() }
    #expect(error?.code == .directoryUnavailable)
  }

  @Test func `a credential comes from the file, else the token, else the key`() throws {
    let directory = TemporaryDirectory()
    let file = "\(directory.path)/token"
    let token = "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"
    try write("\(token)\n", to: file)
    let both = ["TMDB_TOKEN": "eyJother", "TMDB_API_KEY": Self.key]
    #expect(try credential("--token-file \(file)", both) == .bearerToken(token))
    #expect(try credential("", both) == .bearerToken("eyJother"))
    #expect(try credential("", ["TMDB_TOKEN": "", "TMDB_API_KEY": Self.key]) == .apiKey(Self.key))
    #expect(try credential("--api http://own.test/3", [:]) == nil)
  }

  @Test(arguments: [
    ("warm --list trending", [:], "TMDB_TOKEN or TMDB_API_KEY, or try --demo"),
    ("warm --list trending", ["TMDB_TOKEN": "hunter2hunter2"], "TMDB_TOKEN: the credential looks"),
    ("warm --list trending --token-file /nonexistent/t", [:], "/nonexistent/t cannot be read"),
    ("warm --list trending --token-file /dev/null", [:], "empty"),
  ])
  func `missing and unusable credentials are told, not shown`(
    line: String, environment: [String: String], expected: String
  ) throws {
    let error = try #require(throws: PosterError.self) { try settings(line, environment) }
    #expect(CommandStatus(error) == .refused)
    #expect(error.message.contains(expected), "\(error.message)")
    #expect(!error.description.contains("hunter2"))
  }

  @Test(arguments: [
    ("", "no command"), ("ls more", "does not know what to do with more"),
    ("get /a /b", "does not know what to do with /b"), ("warm", "--list trending"),
    ("warm --list populer", "did you mean popular?"),
    ("warm --list trending --media film", "all, movie, tv, person"),
    ("warm --list trending --window month", "day, week"),
    ("warm --list trending --size w343", "did you mean w342?"),
    ("warm --list trending --pages 0", "from 1 to 500, or all"),
    ("warm --list trending --pages x", "from 1 to 500, or all"),
    ("warm --list trending --pages 501", "from 1 to 500, or all"),
    ("warm --list trending --limit -1", "--limit takes a number from 1"),
    ("warm --list trending --api ftp://x", "http"),
    ("warm --list trending --demo --api http://x.test", "leave out --api"),
    ("warm --list trending --demo --images http://x.test", "leave out --images"),
    ("warm --list trending --demo --token-file x", "leave out --token-file"),
    ("warm --list trending --demo --proxy http://x.test", "leave out --proxy"),
    ("warm --list trending --demo --offline --dry-run", "leave out --offline"),
    ("ls -qv", "contradict"), ("get", "needs an address"), ("get poster.jpg", "http"),
    ("get ftp://h/x", "http"),
    ("get /a --json -o -", "both want standard output"), ("get /a --output=", "file name"),
    ("ls --sort bytes", "--sort takes lru, size, url"), ("ls --sort=sizes", "did you mean size?"),
    ("evict", "evict needs an address"), ("pin", "pin needs an address"), ("unpin", "/abc.jpg"),
    ("evict poster.jpg", "http"), ("pin /a.jpg /../../x.jpg", "leaves"), ("unpin /", "empty"),
    ("evict /a.jpg --size w91", "--size takes"), ("evict /a.jpg --images x", "http"),
    ("trim", "--to SIZE"), ("trim --to -1", "512M"), ("trim --to 5X", "--to takes a size"),
    ("trim x --to 1M", "does not know what to do with x"),
    ("export", "--to DIR"), ("export --to=", "--to DIR"), ("export /a.jpg --to x", "/a.jpg"),
    ("export --to x --pages 2", "--pages is about a list"), ("export --to x --demo", "--demo"),
    ("export --to x --images http://h.test", "--images is about a list"),
    ("export --to x --list trending --demo --api http://x.test", "leave out --api"),
    ("export --to x --list trendy", "trending"), ("export --to x --size w1", "--size takes"),
    ("sheet", "-o FILE.png"), ("sheet --json", "-o FILE.png"), ("sheet --output=", "file name"),
    ("sheet -o x --cached --list trending", "leave out one"), ("sheet x -o y", "what to do with x"),
    ("sheet -o x --columns 0", "1 to 1000"), ("sheet -o x --cell 154", "154x231"),
    ("sheet -o x --cell 0x9", "154x231"), ("sheet -o x --cell 9x9x9", "154x231"),
    ("sheet -o x --cell 70000x9", "154x231"), ("sheet -o x --pages 2", "--pages is about a list"),
    ("sheet -o x --refresh", "--refresh is about a list"), ("sheet -o - --json", "both want"),
    ("get /a --fitting 9", "154x231"), ("get /a --fitting -1x9", "154x231"),
    ("get /a --fitting 9x9 --decode", "leave out --decode"),
    ("verify now", "does not know"),
    ("warm --list trending --demo --pin --dry-run", "leave out --pin"),
    ("ls --connections 0", "1 to 256"), ("ls --connections 257", "1 to 256"),
    ("ls --rate 0", "--rate takes"), ("ls --rate nan", "--rate takes"),
    ("ls --timeout inf", "--timeout takes"), ("ls --retries 10", "0 to 9"),
    ("ls --disk-limit 5X", "512M"), ("ls --max-bytes -3", "512M"),
    ("ls --progress maybe", "auto, always, never"),
    ("demo-origin --listen 8484", "HOST:PORT"), ("demo-origin --listen :80", "HOST:PORT"),
    ("demo-origin --listen h:99999", "HOST:PORT"), ("demo-origin --bandwidth 0", "above 0"),
    ("demo-origin --latency x", "0 to"),
  ])
  func `a wrong value is told with what is allowed`(line: String, expected: String) throws {
    let error = try #require(throws: PosterError.self) { try settings(line) }
    #expect(CommandStatus(error) == .usage, "\(error)")
    #expect(error.message.contains(expected), "\(error.message)")
    #expect(!error.message.contains("\n"))
  }

  @Test func `get takes an address or a path, and knows where the picture goes`() throws {
    func get(_ line: String) throws -> Settings.Get {
      guard case .get(let get) = try settings(line).action else { throw Unexpected() }
      return get
    }
    let whole = try get("get https://h.test/a.jpg")
    #expect(whole.picture == .address(try PosterAddress("https://h.test/a.jpg")))
    #expect(whole.destination == .standardOutput(isExplicit: false))
    #expect(try get("get /a.jpg --size w92").picture == .path("/a.jpg"))
    #expect(try get("get /a.jpg --size w92").size == .w92)
    #expect(try get("get /a.jpg -o -").destination == .standardOutput(isExplicit: true))
    #expect(try get("get /a.jpg -o x.jpg").destination == .file("x.jpg"))
    #expect(try get("get /a.jpg --json").destination == .nowhere)
    #expect(try get("get /a.jpg --json -o x.jpg").destination == .file("x.jpg"))
    #expect(try get("get /a.jpg --demo").source == .demo)
  }

  @Test func `evict, pin and unpin take addresses and paths, each poster once`() throws {
    let line = "/a.jpg https://image.tmdb.org/t/p/w92/a.jpg HTTP://h.test:80/b --size w92"
    let expected = try [
      PosterRequest("https://image.tmdb.org/t/p/w92/a.jpg"), PosterRequest("http://h.test/b"),
    ]
    guard case .evict(let evicted) = try settings("evict \(line)").action,
      case .pin(let pinned) = try settings("pin \(line)").action,
      case .unpin(let unpinned) = try settings("unpin \(line)").action
    else { throw Unexpected() }
    #expect(evicted == expected && pinned == expected && unpinned == expected)
    guard case .pin(let own) = try settings("pin /a.jpg --images http://h.test/p/").action
    else { throw Unexpected() }
    #expect(own == [try PosterRequest("http://h.test/p/w342/a.jpg")])
  }

  @Test func `trim, verify, ls and export know what is wanted`() throws {
    guard case .trim(let size) = try settings("trim --to 512M").action,
      case .trim(let nothing) = try settings("trim --to 0").action,
      case .verify(isRepairing: true) = try settings("verify --repair").action,
      case .verify(isRepairing: false) = try settings("verify").action,
      case .list(.lru) = try settings("ls").action,
      case .list(.size) = try settings("ls --sort size").action,
      case .export(let all) = try settings("export --to out").action,
      case .stored(size: nil) = all.selection,
      case .export(let one) = try settings("export --to out --size w92").action,
      case .stored(size: .w92) = one.selection,
      case .export(let some) = try settings(
        "export --to o/p --list trending --media tv --pages 3 --limit 7 --demo"
      ).action,
      case .list(let listing) = some.selection
    else { throw Unexpected() }
    #expect(size.bytes == 512 << 20 && nothing.bytes == 0)
    #expect(all.directory == "out" && some.directory == "o/p")
    #expect(listing.lists == [.tmdb(.trending(media: .tv, window: .day))] && listing.size == .w342)
    #expect(listing.pageLimit == 3 && listing.posterLimit == 7 && listing.source == .demo)
    let error = try #require(throws: PosterError.self) {
      try settings("export --to o --list trending")
    }
    #expect(CommandStatus(error) == .refused)
  }

  @Test func `demo-origin knows where to listen`() throws {
    func listener(_ line: String) throws -> Settings.DemoListener {
      guard case .demoOrigin(let listener) = try settings(line).action else { throw Unexpected() }
      return listener
    }
    #expect(try listener("demo-origin") == Settings.DemoListener())
    #expect(
      try listener(
        "demo-origin --listen localhost:8484 --latency 20 --bandwidth 1M --fault /a=html")
        == Settings.DemoListener(
          host: "localhost", port: 8484, latencyMilliseconds: 20, bytesPerSecond: 1 << 20,
          faults: ["/a=html"]))
  }

  // MARK: -

  private static let key = "0123456789abcdef0123456789abcdef"
  private struct Unexpected: Error {}

  private func settings(
    _ line: String, _ environment: [String: String] = [:]
  ) throws(PosterError) -> Settings {
    try Settings(
      FlagParser.parse(line.split(separator: " ").map(String.init)),
      environment: { environment[$0] })
  }

  private func credential(
    _ options: String, _ environment: [String: String]
  ) throws -> Credential? {
    let settings = try settings("warm --list trending \(options)", environment)
    guard case .warm(let warm) = settings.action,
      case .servers(let servers) = warm.listing.source
    else { throw Unexpected() }
    return servers.tmdb.credential
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }
}
