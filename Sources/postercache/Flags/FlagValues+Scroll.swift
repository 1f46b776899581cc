import PosterCache
import ScrollReplay

/// Reads what `scroll` takes, and links.
extension FlagValues {
  /// What `scroll` replays.
  func scroll(environment: (String) -> String?) throws(PosterError) -> Settings.Scroll {
    let (sections, names) = try scrollSections()
    guard !sections.isEmpty else {
      throw FlagParser.usage(
        "scroll needs a list: --list \(ListName.allCases.names), or --rows NAME,… --id N")
    }
    guard !flags.offline || flags.cacheDirectory != nil else {
      throw FlagParser.usage(
        "--offline scrolls through what is cached: say where with --cache-dir, or leave it out")
    }
    let listing = try servedByDemo.listing(
      of: sections.map(\.list), names: names, pageLimit: nil, environment: environment)
    let size = listing.size
    let preview: PosterSize? = try posterSize("ladder", flags.ladder)
    let policy = try scrollPolicy()
    if let preview {
      guard preview.isSmaller(than: size) else {
        throw FlagParser.usage(
          "--ladder takes a size below --size, which is \(size.rawValue), not \(preview.rawValue)")
      }
      guard policy == .adaptive else {
        throw FlagParser.usage("--ladder is for --policy adaptive: leave out one of them")
      }
    }
    if flags.plot == "" { throw FlagParser.usage("--plot needs a file name") }
    return Settings.Scroll(
      sections: sections, listing: listing,
      trace: try scrollTrace(hasRows: sections.contains(where: \.isRow)),
      seconds: try number("seconds", flags.seconds, 0.1...Settings.Scroll.maximumSeconds),
      viewport: try pixels("viewport", flags.viewport, upTo: 100_000)
        ?? PixelSize(width: 390, height: 844),
      cell: try pixels("cell", flags.cell, upTo: 100_000) ?? PixelSize(width: 120, height: 180),
      policy: policy, preview: preview, link: try scrollLink(), isSimulated: flags.simulate,
      plot: flags.plot, cacheDirectory: flags.cacheDirectory)
  }

  /// The same with the embedded origin, if nobody is to be asked at all.
  private var servedByDemo: FlagValues {
    var flags = flags
    flags.demo = flags.demo || flags.simulate
    return FlagValues(flags: flags)
  }

  /// The sections, and the names that decide which options they take.
  private func scrollSections() throws(PosterError) -> ([Settings.Scroll.Section], [ListName]) {
    var sections: [Settings.Scroll.Section] = []
    var names: [ListName] = []
    let lists = try listNames() ?? []
    if let rows = flags.rows {
      let media: TMDBList.Media = try choice("media", flags.media) ?? .movie
      guard media == .movie || media == .tv else {
        throw FlagParser.usage("--rows takes --media movie or tv, not \(media.rawValue)")
      }
      guard let id = try integer("id", flags.id, 1...Int.max) else {
        throw FlagParser.usage("--rows are about a title: name it with --id N")
      }
      for name in try separated("rows", rows, example: "similar,recommendations") {
        // `choice` returns nothing only for nothing.
        guard let row: RowName = try choice("rows", name) else { continue }
        let section = Settings.Scroll.Section(
          list: .tmdb(row.list(media: media, id: id)), isRow: true)
        guard !sections.contains(section) else {
          throw FlagParser.usage("--rows names \(name) twice")
        }
        sections.append(section)
        names.append(row.listName)
      }
    } else if flags.id != nil, !lists.contains(where: { $0.options.contains(.id) }) {
      throw FlagParser.usage("--id is about --rows: name them, or leave it out")
    }
    sections += try servedByDemo.selections(of: lists).map { .init(list: $0, isRow: false) }
    return (sections, names + lists)
  }

  private func scrollTrace(hasRows: Bool) throws(PosterError) -> Settings.Scroll.Trace {
    let kind: TraceKind? = try choice("kind", flags.kind)
    if let file = flags.trace {
      guard flags.seed == nil, kind == nil else {
        let other = flags.seed == nil ? "kind" : "seed"
        throw FlagParser.usage("--trace and --\(other) are two scrolls: leave out one of them")
      }
      guard !file.isEmpty else { throw FlagParser.usage("--trace needs a file name") }
      return .file(file)
    }
    let text = flags.seed ?? "1"
    guard let seed = UInt64(text) else {
      throw FlagParser.usage(
        "--seed takes a number from 0 to \(UInt64.max), not \(FlagParser.told(text))")
    }
    guard kind != .rows || hasRows else {
      throw FlagParser.usage("--kind rows scrolls sideways as well: name the rows with --rows")
    }
    return .seed(seed, kind ?? (hasRows ? .rows : .iOSFlings))
  }

  private func scrollPolicy() throws(PosterError) -> PolicyName {
    do {
      return try PolicyName(flags.policy ?? "adaptive")
    } catch {
      throw FlagParser.usage("--policy: \(error.message)")
    }
  }

  // MARK: - Links

  private func scrollLink() throws(PosterError) -> Settings.Scroll.Link? {
    guard flags.demo || flags.simulate else {
      for (name, value) in [("latency", flags.latency), ("bandwidth", flags.bandwidth)]
      where value != nil {
        throw FlagParser.usage("--\(name) slows the embedded origin down: add --demo")
      }
      return nil
    }
    var link = Settings.Scroll.Link()
    if let latency = try latency() { link.latencyMilliseconds = latency }
    if flags.bandwidth == "unlimited" {
      link.bytesPerSecond = nil
    } else if let bandwidth = try bandwidth(bare: .bits) {
      link.bytesPerSecond = bandwidth
    }
    return link
  }

  /// What `--latency` says, in milliseconds.
  func latency() throws(PosterError) -> Int? {
    guard let text = flags.latency else { return nil }
    guard let milliseconds = LinkText.milliseconds(text) else {
      throw FlagParser.usage(
        "--latency takes a time such as 80ms, 80 or 0.08s, 0 to"
          + " \(LinkText.maximumMilliseconds) ms, not \(FlagParser.told(text))")
    }
    return milliseconds
  }

  /// What `--bandwidth` says, in bytes a second.
  ///
  /// - Parameter bare: what a number without a unit counts.
  func bandwidth(bare: LinkText.Unit) throws(PosterError) -> Int? {
    guard let text = flags.bandwidth else { return nil }
    guard let bytesPerSecond = LinkText.bytesPerSecond(text, bare: bare) else {
      let example = bare == .bits ? "20M (bits a second), unlimited" : "2M (bytes a second)"
      throw FlagParser.usage(
        "--bandwidth takes a rate above 0 such as 20Mbit/s, 2.5MB/s or \(example), not \(FlagParser.told(text))"
      )
    }
    return bytesPerSecond
  }
}

extension PosterSize {
  /// Whether pictures of this size have fewer pixels than those of `other`.
  fileprivate func isSmaller(than other: PosterSize) -> Bool {
    (width ?? .max) < (other.width ?? .max)
  }
}

extension RowName {
  /// The list's name where it is no row.
  fileprivate var listName: ListName {
    switch self {
    case .similar: .similar
    case .recommendations: .recommendations
    }
  }

  /// The list of the row about the title `id`.
  func list(media: TMDBList.Media, id: Int) -> TMDBList {
    switch self {
    case .similar: .similar(media: media, id: id)
    case .recommendations: .recommendations(media: media, id: id)
    }
  }
}
