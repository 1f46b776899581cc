import PosterCache

/// `export`: writes stored pictures as plain files, all of them or those of a list.
///
/// Fetches list pages at most, never pictures. An export counts neither as use nor as hits.
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
      let pictures = try Self.pictures(in: disk) { address in
        size.map { address.hasPathComponent($0.rawValue) } ?? true
      }
      tally.wanted = pictures.count
      try write(pictures, from: disk, &tally)
    case .list(let listing):
      let (list, requests) = try await load(listing)
      WarmReport.tell(list, of: listing, on: console)
      tally.listStatus = list.exitStatus
      tally.isListUnavailable = list.isUnavailable
      let wanted = Set(requests.map(\.address))
      tally.wanted = wanted.count
      let pictures = try Self.pictures(in: disk, where: wanted.contains)
      tellMissing(wanted, pictures)
      tally.missing = wanted.count - pictures.count
      // Of a list that could not be had nothing is written, not even the directory.
      if !list.isUnavailable, !Task.isCancelled { try write(pictures, from: disk, &tally) }
    }
    if Task.isCancelled {
      console.note(
        "interrupted: \(tally.files) of \(counted(tally.wanted, "poster")) exported,"
          + " run it again for the rest")
      return .interrupted
    }
    return report(tally)
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
    /// Whether there is nothing to report, as the list could not be had.
    var isListUnavailable = false

    var exitStatus: CommandStatus {
      listStatus == .success && missing + failures.count > 0 ? .failure : listStatus
    }
  }

  /// The pictures that `isWanted`.
  private static func pictures(
    in disk: DiskCache, where isWanted: (PosterAddress) -> Bool
  ) throws(PosterError) -> [ExportNames.Picture] {
    var pictures: [ExportNames.Picture] = []
    try disk.forEachEntry { entry in
      let metadata = entry.metadata
      if isWanted(metadata.address) {
        pictures.append(
          ExportNames.Picture(key: entry.key, address: metadata.address, type: metadata.type))
      }
      return !Task.isCancelled
    }
    return pictures
  }

  private func write(
    _ pictures: [ExportNames.Picture], from disk: DiskCache, _ tally: inout Tally
  ) throws(PosterError) {
    let directory = try ExportDirectory(options.directory)
    for (picture, name) in zip(pictures, ExportNames(pictures).texts) {
      guard !Task.isCancelled else { return }
      let request = PosterRequest(picture.address)
      do throws(PosterError) {
        guard let poster = try disk.peek(at: request) else {
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

  /// Loads the pages of lists; what came until then if the task is cancelled.
  private func load(
    _ listing: Settings.Listing
  ) async throws(PosterError) -> (tally: WarmTally, requests: [PosterRequest]) {
    let servers = try listing.source.open()
    defer { servers.demo?.shutdown() }
    // With the directory: pages that are there need not be asked for.
    let pipeline = try session.pipeline(
      directory: try session.settings.cacheDirectory(), demo: servers.demo)
    let contents = await listing.load(from: servers, through: pipeline, console: console)
    await pipeline.shutdown()
    return try contents.map { ($0.tally, $0.cells.compactMap(\.self)) }.get()
  }

  private func tellMissing(_ wanted: Set<PosterAddress>, _ found: [ExportNames.Picture]) {
    guard console.output.isVerbose else { return }
    let missing = wanted.subtracting(found.map(\.address))
    for address in missing.sorted(by: { $0.canonical < $1.canonical }) {
      console.detail("not in the cache: \(address)")
    }
  }

  // MARK: - Reporting

  private func report(_ tally: Tally) -> CommandStatus {
    console.failures(tally.failures)
    if tally.missing > 0 {
      console.note(
        "\(tally.missing) of \(counted(tally.wanted, "poster")) not in the cache")
    }
    return console.ending(tally.exitStatus) { () throws(OutputError) in
      if console.output.isJSON {
        try console.result(
          .object([
            ("files", .integer(tally.files)), ("bytes", .integer(tally.bytes)),
            ("missing", .integer(tally.missing)), ("failed", .integer(tally.failures.count)),
          ]))
      } else if !tally.isListUnavailable {
        try console.summary(
          "exported \(counted(tally.files, "poster")), \(ByteSize(bytes: tally.bytes)),"
            + " to \(options.directory)\n")
      }
    }
  }
}
