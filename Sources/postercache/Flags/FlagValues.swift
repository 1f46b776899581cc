import PosterCache

/// Reads the values of ``RawFlags``: each error says what the option takes.
struct FlagValues {
  let flags: RawFlags

  /// The transfers' and tiers' settings.
  func pipeline() throws(PosterError) -> PosterPipeline.Configuration {
    var configuration = PosterPipeline.Configuration()
    guard !flags.offline || !flags.refresh else {
      throw FlagParser.usage("--refresh needs the network: leave out --offline")
    }
    configuration.isOffline = flags.offline
    configuration.isRefreshing = flags.refresh
    configuration.diskLimit = try size("disk-limit", flags.diskLimit)
    if let limit = try size("memory-limit", flags.memoryLimit) { configuration.memoryLimit = limit }
    var fetching = FetchConfiguration()
    if let count = try integer("connections", flags.connections, 1...256) {
      fetching.connectionsPerHost = count
    }
    fetching.requestsPerSecond = try number("rate", flags.rate, 0.01...1_000_000)
    if let seconds = try number("timeout", flags.timeout, 0.001...86_400) {
      fetching.timeoutSeconds = seconds
    }
    if let seconds = try number("connect-timeout", flags.connectTimeout, 0.001...3600) {
      fetching.connectTimeoutSeconds = seconds
    }
    if let count = try integer("retries", flags.retries, 0...9) { fetching.tries = count + 1 }
    if let size = try size("max-bytes", flags.maxBytes) { fetching.maximumBodyBytes = size.bytes }
    fetching.proxy = flags.proxy
    fetching.allowsPrivateAddresses = flags.allowPrivate
    fetching.certificateAuthoritiesFile = flags.certificateAuthorities
    configuration.fetching = fetching
    return configuration
  }

  /// What `warm` fetches.
  func warm(environment: (String) -> String?) throws(PosterError) -> Settings.Warm {
    guard let listing = try listing(for: .warm, environment: environment) else {
      throw FlagParser.usage("warm needs a list: --list \(ListName.allCases.names)")
    }
    guard !flags.pin || !flags.dryRun else {
      throw FlagParser.usage("--dry-run stores nothing that could be pinned: leave out --pin")
    }
    guard !flags.refresh || !flags.dryRun else {
      throw FlagParser.usage("--dry-run asks about no poster: leave out --refresh")
    }
    return Settings.Warm(listing: listing, isDryRun: flags.dryRun, isPinning: flags.pin)
  }

  /// The list that is named, `nil` if none is.
  private func listing(
    for command: CommandName, environment: (String) -> String?
  ) throws(PosterError) -> Settings.Listing? {
    guard let list: ListName = try choice("list", flags.list) else { return nil }
    guard !flags.offline else {
      throw FlagParser.usage(
        "\(command.rawValue) --list needs the network, because list pages are not cached:"
          + " leave out --offline")
    }
    return try listing(of: try resolved(list), pageLimit: 1, environment: environment)
  }

  /// The list that `--list` names, with the options that it takes.
  func resolved(_ list: ListName) throws(PosterError) -> TMDBList {
    let media: TMDBList.Media = try choice("media", flags.media) ?? .all
    let window: TMDBList.Window = try choice("window", flags.window) ?? .day
    switch list {
    case .trending: return .trending(media: media, window: window)
    }
  }

  /// How much of `list` is wanted, and where from.
  ///
  /// - Parameter pageLimit: pages unless `--pages` says how many.
  func listing(
    of list: TMDBList, pageLimit: Int?, environment: (String) -> String?
  ) throws(PosterError) -> Settings.Listing {
    let pages =
      flags.pages == "all" ? nil : try integer("pages", flags.pages, 1...500, or: "all")
    return Settings.Listing(
      list: list, pageLimit: flags.pages == nil ? pageLimit : pages,
      posterLimit: try integer("limit", flags.limit, 1...Int.max), language: flags.language,
      size: try posterSize("size", flags.size) ?? .w342,
      source: try source(environment: environment))
  }

  /// What `export` writes.
  func export(environment: (String) -> String?) throws(PosterError) -> Settings.Export {
    guard let directory = flags.to, !directory.isEmpty else {
      throw FlagParser.usage("export needs a directory: --to DIR")
    }
    guard flags.limit == nil || flags.list != nil else { throw Self.isAboutList("limit") }
    return Settings.Export(
      selection: try selection(for: .export, environment: environment), directory: directory)
  }

  /// What `sheet` draws.
  func sheet(environment: (String) -> String?) throws(PosterError) -> Settings.Sheet {
    guard flags.output != nil else {
      throw FlagParser.usage("sheet needs a file: -o FILE.png, or -o - for standard output")
    }
    guard !flags.cached || flags.list == nil else {
      throw FlagParser.usage("--cached draws what is stored, --list a list: leave out one of them")
    }
    return Settings.Sheet(
      selection: try selection(for: .sheet, environment: environment),
      posterLimit: try integer("limit", flags.limit, 1...Int.max),
      columns: try integer("columns", flags.columns, 1...1000) ?? 10,
      cell: try pixels("cell", flags.cell) ?? PixelSize(width: 154, height: 231),
      destination: try destination())
  }

  /// Which posters `command` is about: those of a list, or what is stored.
  private func selection(
    for command: CommandName, environment: (String) -> String?
  ) throws(PosterError) -> Settings.Export.Selection {
    if let listing = try listing(for: command, environment: environment) { return .list(listing) }
    let others = [
      ("media", flags.media), ("window", flags.window), ("pages", flags.pages),
      ("language", flags.language), ("api", flags.api), ("images", flags.images),
      ("token-file", flags.tokenFile), ("demo", flags.demo ? "" : nil),
      ("refresh", flags.refresh ? "" : nil),
    ]
    if let name = others.first(where: { $0.1 != nil })?.0 { throw Self.isAboutList(name) }
    return .stored(size: try posterSize("size", flags.size))
  }

  private static func isAboutList(_ name: String) -> PosterError {
    FlagParser.usage("--\(name) is about a list: name one with --list \(ListName.allCases.names)")
  }

  /// The posters that `command` is to change, each once.
  func posters(
    for command: CommandName, _ operands: [String]
  ) throws(PosterError) -> [PosterRequest] {
    guard !operands.isEmpty else {
      throw FlagParser.usage(
        "\(command.rawValue) needs an address, or a poster path such as /abc.jpg")
    }
    let size: PosterSize = try posterSize("size", flags.size) ?? .w342
    let images = try imageHost()
    var seen: Set<PosterRequest> = []
    var requests: [PosterRequest] = []
    for operand in operands {
      let request =
        operand.hasPrefix("/")
        ? try PosterRequest(path: operand, size: size, images: images)
        : try PosterRequest(operand)
      if seen.insert(request).inserted { requests.append(request) }
    }
    return requests
  }

  /// What `trim` comes down to.
  func trim() throws(PosterError) -> ByteSize {
    guard let size = try size("to", flags.to) else {
      throw FlagParser.usage("trim needs a size: --to SIZE, such as 512M")
    }
    return size
  }

  /// What `get` fetches.
  func get(operand: String?) throws(PosterError) -> Settings.Get {
    guard let operand else {
      throw FlagParser.usage("get needs an address, or a poster path such as /abc.jpg")
    }
    let picture: Settings.Get.Picture
    if operand.hasPrefix("/") {
      picture = .path(operand)
    } else {
      picture = .address(try PosterAddress(operand))
    }
    guard !flags.decode || flags.fitting == nil else {
      throw FlagParser.usage("--fitting decodes as well: leave out --decode")
    }
    let size = try pixels("fitting", flags.fitting)
    // PNG has straight alpha.
    let rendition = size.map { Rendition(.fitting($0), alpha: .straight) }
    return Settings.Get(
      picture: picture, size: try posterSize("size", flags.size) ?? .w342,
      source: try servers(api: .tmdbAPI, credential: nil),
      rendition: flags.decode ? Rendition(.full, alpha: .straight) : rendition,
      destination: try destination())
  }

  /// Where a picture goes.
  private func destination() throws(PosterError) -> Settings.Destination {
    switch flags.output {
    case nil where flags.json: return .nowhere
    case nil: return .standardOutput(isExplicit: false)
    case "-":
      guard !flags.json else {
        throw FlagParser.usage(
          "--json and --output - both want standard output: name a file, or leave one of them out")
      }
      return .standardOutput(isExplicit: true)
    case "": throw FlagParser.usage("--output needs a file name")
    case .some(let file): return .file(file)
    }
  }

  /// How `demo-origin` listens.
  func demoListener() throws(PosterError) -> Settings.DemoListener {
    var listener = Settings.DemoListener()
    if let address = flags.listen {
      guard let colon = address.lastIndex(of: ":"), colon != address.startIndex,
        let port = UInt16(address[address.index(after: colon)...])
      else {
        throw FlagParser.usage("--listen takes HOST:PORT such as 127.0.0.1:8484, not \(address)")
      }
      listener.host = String(address[..<colon])
      listener.port = port
    }
    listener.latencyMilliseconds = try latency() ?? 0
    listener.bytesPerSecond = try bandwidth(bare: .bytes)
    listener.faults = flags.faults
    listener.requiresCredential = flags.requireCredential
    return listener
  }

  // MARK: - Servers

  func source(
    environment: (String) -> String?
  ) throws(PosterError) -> Settings.Source {
    if flags.demo {
      for (name, value) in [("api", flags.api), ("token-file", flags.tokenFile)]
      where value != nil {
        throw FlagParser.usage("--demo brings its own servers: leave out --\(name)")
      }
      return try servers(api: .tmdbAPI, credential: nil)
    }
    let api = try flags.api.map { text throws(PosterError) in try PosterAddress(text) }
    let credential = try credential(environment: environment)
    // A server of one's own may want none, and TMDB does not answer without.
    if credential == nil, api == nil {
      throw PosterError(
        .unauthorized,
        "TMDB wants a credential: set TMDB_TOKEN or TMDB_API_KEY, or try --demo without one")
    }
    return try servers(api: api ?? .tmdbAPI, credential: credential)
  }

  private func servers(
    api: PosterAddress, credential: Credential?
  ) throws(PosterError) -> Settings.Source {
    if flags.demo {
      guard flags.images == nil else {
        throw FlagParser.usage("--demo brings its own servers: leave out --images")
      }
      guard flags.proxy == nil else {
        throw FlagParser.usage("--demo needs no proxy: leave out --proxy")
      }
      return .demo
    }
    return .servers(api: api, images: try imageHost(), credential: credential)
  }

  private func imageHost() throws(PosterError) -> PosterAddress {
    try flags.images.map { text throws(PosterError) in try PosterAddress(text) } ?? .tmdbImages
  }

  private func credential(
    environment: (String) -> String?
  ) throws(PosterError) -> Credential? {
    func parse(_ text: String, from origin: String) throws(PosterError) -> Credential {
      do {
        return try Credential(tmdb: text)
      } catch {
        throw PosterError(.unauthorized, "\(origin): \(error.message)")
      }
    }
    if let file = flags.tokenFile {
      guard let text = TokenFile.text(at: file) else {
        throw PosterError(.unauthorized, "the token file \(file) cannot be read")
      }
      return try parse(text, from: file)
    }
    for name in ["TMDB_TOKEN", "TMDB_API_KEY"] {
      if let text = environment(name), !text.isEmpty { return try parse(text, from: name) }
    }
    return nil
  }

  // MARK: - Values

  /// One of a few words, `nil` if the option was not given.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ name: String, _ text: String?
  ) throws(PosterError) -> Value? where Value.RawValue == String {
    guard let text else { return nil }
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue)
      throw FlagParser.usage(
        "--\(name) takes \(names.joined(separator: ", ")), not \(text)"
          + FlagParser.suggestion(for: text, among: names))
    }
    return value
  }

  /// One of the sizes in which there are posters, `nil` if the option was not given.
  func posterSize(_ name: String, _ text: String?) throws(PosterError) -> PosterSize? {
    guard let text else { return nil }
    let sizes = ImageHost.tmdb.sizes(of: .poster)
    guard let size = sizes.first(where: { $0.rawValue == text }) else {
      throw FlagParser.usage(
        "--\(name) takes \(sizes.names), not \(text)"
          + FlagParser.suggestion(for: text, among: sizes.map(\.rawValue)))
    }
    return size
  }

  func size(_ name: String, _ text: String?) throws(PosterError) -> ByteSize? {
    guard let text else { return nil }
    guard let size = ByteSize(text) else {
      throw FlagParser.usage("--\(name) takes a size such as 1048576, 512M or 2G, not \(text)")
    }
    return size
  }

  /// A size in pixels, at most so many each way.
  func pixels(
    _ name: String, _ text: String?, upTo largest: Int = 65_535
  ) throws(PosterError) -> PixelSize? {
    guard let text else { return nil }
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = Int(sides[0]), let height = Int(sides[1]),
      (1...largest).contains(width), (1...largest).contains(height)
    else {
      throw FlagParser.usage(
        "--\(name) takes a size in pixels such as 154x231, each side 1 to \(largest), not \(text)")
    }
    return PixelSize(width: width, height: height)
  }

  func integer(
    _ name: String, _ text: String?, _ range: ClosedRange<Int>, or word: String? = nil
  ) throws(PosterError) -> Int? {
    guard let text else { return nil }
    guard let value = Int(text), range.contains(value) else {
      var allowed =
        range.upperBound == Int.max
        ? "a number from \(range.lowerBound)"
        : "a number from \(range.lowerBound) to \(range.upperBound)"
      if let word { allowed += ", or \(word)" }
      throw FlagParser.usage("--\(name) takes \(allowed), not \(text)")
    }
    return value
  }

  func number(
    _ name: String, _ text: String?, _ range: ClosedRange<Double>
  ) throws(PosterError) -> Double? {
    guard let text else { return nil }
    guard let value = Double(text), range.contains(value) else {
      throw FlagParser.usage(
        "--\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
    }
    return value
  }
}
