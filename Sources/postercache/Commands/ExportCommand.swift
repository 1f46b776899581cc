import PosterCache

/// `export`: writes stored pictures as plain files, all of them or those of a list.
///
/// Fetches list pages at most, never pictures. Reading counts as use, so the pictures are read in the
/// order of eviction: among those that are exported that order stays what it was.
struct ExportCommand {
  private let session: Session
  private let options: Settings.Export
  private var console: Console { session.console }

  init(_ session: Session, _ options: Settings.Export) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    var tally = Tally()
    switch options.selection {
    case .stored(let size):
      let entries = try Self.entries(of: disk) { entry in
        size.map { entry.metadata.address.hasPathComponent($0.rawValue) } ?? true
      }
      tally.wanted = entries.count
      try write(entries, from: disk, &tally)
    case .list(let listing):
      let list = try await load(listing)
      console.failures(list.failures.map { Console.words(for: $0.error, about: $0.address) })
      tally.listStatus = list.exitStatus
      tally.wanted = list.posters
      let wanted = Set(list.requests.map(\.address))
      let entries = try Self.entries(of: disk) { wanted.contains($0.metadata.address) }
      tellMissing(wanted, entries)
      tally.missing = list.posters - entries.count
      // Of a list that could not be had nothing is written, not even the directory.
      if list.pages > 0, !Task.isCancelled { try write(entries, from: disk, &tally) }
    }
    if Task.isCancelled {
      console.note(
        "interrupted: \(tally.files) of \(counted(tally.wanted, "poster")) exported,"
          + " run it again for the rest")
      return .interrupted
    }
    return try report(tally)
  }

  /// What became of the pictures.
  private struct Tally {
    var wanted = 0
    var files = 0
    var bytes = 0
    /// Pictures that are not stored, or not any more.
    var missing = 0
    /// Why pictures could not be read or written.
    var failures: [String] = []
    /// How the list alone would have ended.
    var listStatus = CommandStatus.success

    var exitStatus: CommandStatus {
      listStatus == .success && missing + failures.count > 0 ? .failure : listStatus
    }
  }

  /// The entries that `isWanted`, the first to be evicted first.
  private static func entries(
    of disk: DiskCache, where isWanted: (DiskEntry) -> Bool
  ) throws(PosterError) -> [DiskEntry] {
    var entries: [DiskEntry] = []
    try disk.forEachEntry { entry in
      if isWanted(entry) { entries.append(entry) }
      return !Task.isCancelled
    }
    return entries.reversed()
  }

  private func write(
    _ entries: [DiskEntry], from disk: DiskCache, _ tally: inout Tally
  ) throws(PosterError) {
    let directory = try ExportDirectory(options.directory)
    let names = ExportNames(
      entries.map {
        ExportNames.Picture(key: $0.key, address: $0.metadata.address, type: $0.metadata.type)
      })
    for (entry, name) in zip(entries, names.texts) {
      guard !Task.isCancelled else { return }
      let request = PosterRequest(entry.metadata.address)
      do throws(PosterError) {
        guard let poster = try disk.poster(for: request, isSeen: false) else {
          tally.missing += 1
          console.detail("not in the cache: \(request.address)")
          continue
        }
        try directory.write(poster.body, as: name)
        tally.files += 1
        tally.bytes += poster.body.count
        console.detail("wrote \(name)")
      } catch  where error.code == .notStored {
        tally.failures.append(Console.words(for: error, about: request.address))
      }
    }
  }

  // MARK: - Lists

  /// Loads the pages of a list; what came until then if the task is cancelled.
  private func load(_ listing: Settings.Listing) async throws(PosterError) -> WarmTally {
    let servers = try listing.source.open()
    defer { servers.demo?.shutdown() }
    let pipeline = try session.pipeline(directory: nil, demo: servers.demo)
    let first = try listing.feed(from: servers, through: pipeline)
    let tally = await withTaskCancellationHandler {
      var feed = first
      var tally = WarmTally()
      while !Task.isCancelled, let address = feed.nextPageAddress {
        do throws(PosterError) {
          guard let page = try await feed.nextPage() else { break }
          _ = tally.pageDidLoad(page, size: listing.size, images: servers.images)
        } catch {
          // An interruption is no failure of what it interrupts.
          if !Task.isCancelled { tally.pageDidFail(address, listing.source.explaining(error)) }
        }
      }
      return tally
    } onCancel: {
      Task.detached { await pipeline.shutdown() }
    }
    await pipeline.shutdown()
    return tally
  }

  private func tellMissing(_ wanted: Set<PosterAddress>, _ entries: [DiskEntry]) {
    guard console.output.isVerbose else { return }
    let missing = wanted.subtracting(entries.map(\.metadata.address))
    for address in missing.sorted(by: { $0.canonical < $1.canonical }) {
      console.detail("not in the cache: \(address)")
    }
  }

  // MARK: - Reporting

  private func report(_ tally: Tally) throws(OutputError) -> CommandStatus {
    console.failures(tally.failures)
    if tally.missing > 0 {
      console.note(
        "\(tally.missing) of \(counted(tally.wanted, "poster")) not in the cache")
    }
    if console.output.isJSON {
      try console.result(
        .object([
          ("files", .integer(tally.files)), ("bytes", .integer(tally.bytes)),
          ("missing", .integer(tally.missing)), ("failed", .integer(tally.failures.count)),
        ]))
    } else {
      try console.summary(
        "exported \(counted(tally.files, "poster")), \(ByteSize(bytes: tally.bytes)),"
          + " to \(options.directory)\n")
    }
    return tally.exitStatus
  }
}
