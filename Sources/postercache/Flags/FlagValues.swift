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
    guard let listing = try listing(environment: environment) else {
      throw FlagParser.usage("warm needs a list: --list \(ListName.allCases.names)")
    }
    if flags.dryRun {
      let others = [
        ("pin", flags.pin, "stores nothing that could be pinned"),
        ("refresh", flags.refresh, "asks about no poster"),
        ("offline", flags.offline, "tells what would be fetched, which is nothing then"),
      ]
      for (name, isGiven, reason) in others where isGiven {
        throw FlagParser.usage("--dry-run \(reason): leave out --\(name)")
      }
    }
    return Settings.Warm(
      listing: listing, isDryRun: flags.dryRun, isPinning: flags.pin,
      isSinceLast: flags.sinceLast)
  }

  /// What `export` writes.
  func export(environment: (String) -> String?) throws(PosterError) -> Settings.Export {
    guard let directory = flags.to, !directory.isEmpty else {
      throw FlagParser.usage("export needs a directory: --to DIR")
    }
    guard flags.limit == nil || flags.list != nil else { throw Self.isAboutList("limit") }
    return Settings.Export(
      selection: try selection(environment: environment), directory: directory)
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
      selection: try selection(environment: environment),
      posterLimit: try integer("limit", flags.limit, 1...Int.max),
      columns: try integer("columns", flags.columns, 1...1000) ?? 10,
      cell: try pixels("cell", flags.cell) ?? PixelSize(width: 154, height: 231),
      destination: try destination())
  }

  /// Which posters a command is about: those of lists, or what is stored.
  private func selection(
    environment: (String) -> String?
  ) throws(PosterError) -> Settings.Export.Selection {
    if let listing = try listing(environment: environment) { return .list(listing) }
    if let option = ListOption.allCases.first(where: isGiven) {
      throw Self.isAboutList(option.rawValue)
    }
    let others = [("strict", flags.strict), ("demo", flags.demo), ("refresh", flags.refresh)]
    if let name = others.first(where: \.1)?.0 { throw Self.isAboutList(name) }
    return .stored(size: try pictureSize("size", flags.size))
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
    let size = try pictureSize("size", flags.size) ?? .w342
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
      picture: picture, size: try pictureSize("size", flags.size) ?? .w342,
      source: try pictureSource(),
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

  // MARK: - Values

  /// Words with commas in between, none of them empty.
  func separated(
    _ option: String, _ text: String, example: String
  ) throws(PosterError) -> [String] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains("") else {
      throw FlagParser.usage(
        "--\(option) has an empty name in \(text.isEmpty ? "it" : text): write names with a comma"
          + " between two of them, as in \(example)")
    }
    return names
  }

  /// One of a few words, `nil` if the option was not given.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ name: String, _ text: String?
  ) throws(PosterError) -> Value? where Value.RawValue == String {
    guard let text else { return nil }
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue)
      throw FlagParser.usage(
        "--\(name) takes \(names.joined(separator: ", ")), not \(FlagParser.told(text))"
          + FlagParser.suggestion(for: text, among: names))
    }
    return value
  }

  /// One of the sizes in which there are posters, `nil` if the option was not given.
  func posterSize(_ name: String, _ text: String?) throws(PosterError) -> PosterSize? {
    try size(name, text, among: ImageHost.tmdb.sizes(of: .poster))
  }

  /// One of the sizes in which there are pictures, `nil` if the option was not given.
  private func pictureSize(_ name: String, _ text: String?) throws(PosterError) -> PosterSize? {
    try size(name, text, among: ImageHost.tmdb.allSizes(of: []))
  }

  private func size(
    _ name: String, _ text: String?, among sizes: [PosterSize]
  ) throws(PosterError) -> PosterSize? {
    guard let text else { return nil }
    guard let size = sizes.first(where: { $0.rawValue == text }) else {
      throw FlagParser.notOffered(text, option: name, among: sizes)
    }
    return size
  }

  func size(_ name: String, _ text: String?) throws(PosterError) -> ByteSize? {
    guard let text else { return nil }
    guard let size = ByteSize(text) else {
      throw FlagParser.usage(
        "--\(name) takes a size such as 1048576, 512M or 2G, not \(FlagParser.told(text))")
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
        "--\(name) takes a size in pixels such as 154x231, each side 1 to \(largest), not \(FlagParser.told(text))"
      )
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
      throw FlagParser.usage("--\(name) takes \(allowed), not \(FlagParser.told(text))")
    }
    return value
  }

  func number(
    _ name: String, _ text: String?, _ range: ClosedRange<Double>
  ) throws(PosterError) -> Double? {
    guard let text else { return nil }
    guard let value = Double(text), range.contains(value) else {
      throw FlagParser.usage(
        "--\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \(FlagParser.told(text))"
      )
    }
    return value
  }
}
