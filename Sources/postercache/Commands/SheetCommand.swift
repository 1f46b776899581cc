import Glibc
import PosterCache

/// `sheet`: draws the posters of a list, or what is stored, side by side into one PNG.
///
/// A list's posters are fetched as `get` fetches them. Drawing what is stored asks nobody and counts
/// neither as use nor as hits.
struct SheetCommand {
  private let session: Session
  private let options: Settings.Sheet
  private var console: Console { session.console }

  /// The largest sheet: what our own decoder takes by default.
  static let maximumPixels = DecodingLimits().maximumPixels

  init(_ session: Session, _ options: Settings.Sheet) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    if options.destination == .standardOutput(isExplicit: false), isatty(STDOUT_FILENO) == 1 {
      throw FlagParser.usage("a picture would spoil the terminal: name a file with -o FILE")
    }
    var tally = Tally()
    let sheet: ContactSheet?
    switch options.selection {
    case .stored(let size): sheet = try drawStored(size: size, &tally)
    case .list(let listing): sheet = try await draw(listing, &tally)
    }
    if Task.isCancelled {
      console.note("interrupted: no sheet was written")
      return .interrupted
    }
    console.failures(tally.failures.map { Console.words(for: $0.error, about: $0.address) })
    guard let sheet, let layout = tally.layout else {
      if tally.status == .success { console.failure("there is no poster to draw") }
      return tally.status == .success ? .failure : tally.status
    }
    return try deliver(sheet, layout, tally)
  }

  /// What became of the posters.
  private struct Tally {
    struct Failure {
      var address: PosterAddress
      var error: PosterError
    }
    var posters = 0
    /// Cells of entries that have no picture.
    var empty = 0
    /// Posters drawn as missing.
    var missing = 0
    var failures: [Failure] = []
    var layout: ContactSheet.Layout?
    /// How the list alone would have ended.
    var status = CommandStatus.success

    var exitStatus: CommandStatus {
      guard status == .success, missing > 0 else { return status }
      // One poster that came, or one failure of another kind, shows that the origin is there.
      let isDown = missing == posters && failures.allSatisfy(\.error.isOutage)
      return isDown && !failures.isEmpty ? .originDown : .failure
    }

    mutating func posterDidFail(_ address: PosterAddress, _ error: PosterError) {
      missing += 1
      failures.append(Failure(address: address, error: error))
    }
  }

  /// An empty sheet for `posters` and as many more cells as are to stay empty, `nil` without a poster.
  private func sheet(
    for posters: Int, empty: Int = 0, _ tally: inout Tally
  ) throws(PosterError) -> ContactSheet? {
    guard posters > 0 else { return nil }
    let count = posters + empty
    let layout = ContactSheet.Layout(count: count, columns: options.columns, cell: options.cell)
    guard layout.width * layout.height <= Self.maximumPixels else {
      throw FlagParser.usage(
        "\(counted(count, "cell")) make a sheet of \(layout.width)x\(layout.height), more than"
          + " \(Self.maximumPixels / 1_000_000) megapixels: use --limit N, or a smaller --cell")
    }
    tally.posters = posters
    tally.empty = empty
    tally.layout = layout
    return ContactSheet(layout)
  }

  private var rendition: Rendition { Rendition(.fitting(options.cell)) }

  // MARK: - What is stored

  private func drawStored(
    size: PosterSize?, _ tally: inout Tally
  ) throws(PosterError) -> ContactSheet? {
    let disk = try session.existingCache()
    defer { disk.close() }
    let limit = options.posterLimit ?? .max
    var addresses: [PosterAddress] = []
    try disk.forEachEntry { entry in
      let address = entry.metadata.address
      if size.map({ address.hasPathComponent($0.rawValue) }) ?? true { addresses.append(address) }
      return addresses.count < limit && !Task.isCancelled
    }
    guard var sheet = try sheet(for: addresses.count, &tally) else { return nil }
    let decoder = ImageDecoder()
    for (index, address) in addresses.enumerated() {
      guard !Task.isCancelled else { return nil }
      do throws(PosterError) {
        guard let poster = try disk.peek(at: PosterRequest(address)) else {
          // Evicted by somebody since it was listed.
          tally.missing += 1
          console.detail("not in the cache any more: \(address)")
          sheet.drawMissing(at: index)
          continue
        }
        sheet.draw(try decoder.decode(poster.body, as: rendition).bitmap, at: index)
      } catch {
        tally.posterDidFail(address, error)
        sheet.drawMissing(at: index)
      }
    }
    return sheet
  }

  // MARK: - Lists

  private func draw(
    _ listing: Settings.Listing, _ tally: inout Tally
  ) async throws(PosterError) -> ContactSheet? {
    let servers = try listing.source.open()
    defer { servers.demo?.shutdown() }
    let pipeline = try session.pipeline(
      directory: try session.settings.cacheDirectory(), demo: servers.demo)
    let list: Settings.Listing.Contents
    do throws(PosterError) {
      list = try await listing.load(from: servers, through: pipeline, console: console).get()
    } catch {
      await pipeline.shutdown()
      throw error
    }
    WarmReport.tell(list.tally, of: listing, on: console)
    tally.status = list.tally.exitStatus
    let places = list.cells.indices.filter { list.cells[$0] != nil }
    let requests = list.cells.compactMap(\.self)
    guard !Task.isCancelled,
      var sheet = try sheet(
        for: requests.count, empty: list.cells.count - requests.count, &tally)
    else {
      await pipeline.shutdown()
      return nil
    }
    let outcomes = await withTaskCancellationHandler {
      await draw(requests, at: places, on: &sheet, through: pipeline)
    } onCancel: {
      Task.detached { await pipeline.shutdown() }
    }
    await pipeline.shutdown()
    for (index, error) in outcomes { tally.posterDidFail(requests[index].address, error) }
    return sheet
  }

  /// Draws what `requests` bring, each as soon as it is there.
  ///
  /// - Parameter places: the cell of each.
  /// - Returns: the requests that failed, in their order, and why.
  private func draw(
    _ requests: [PosterRequest], at places: [Int], on sheet: inout ContactSheet,
    through pipeline: PosterPipeline
  ) async -> [(Int, PosterError)] {
    typealias Outcome = (index: Int, result: Result<PosterImage, PosterError>)
    let rendition = rendition
    // Enough to keep every connection and the decoders busy; a bound for bitmaps not yet drawn.
    let outstanding = 2 * session.settings.pipeline.fetching.connectionsPerHost
    var failures: [(Int, PosterError)] = []
    await withTaskGroup(of: Outcome.self) { group in
      var next = 0
      func proceed() {
        guard next < requests.count, !Task.isCancelled else { return }
        let (index, request) = (next, requests[next])
        next += 1
        group.addTask {
          let result = await Result { () async throws(PosterError) in
            try await pipeline.image(for: request, as: rendition)
          }
          return (index, result)
        }
      }
      for _ in 0..<outstanding { proceed() }
      for await (index, result) in group {
        switch result {
        case .success(let image): sheet.draw(image.bitmap, at: places[index])
        case .failure(let error):
          sheet.drawMissing(at: places[index])
          failures.append((index, error))
        }
        proceed()
      }
    }
    return failures.sorted { $0.0 < $1.0 }
  }

  // MARK: - Results

  private func deliver(
    _ sheet: ContactSheet, _ layout: ContactSheet.Layout, _ tally: Tally
  ) throws -> CommandStatus {
    let body = PosterBody(copying: try sheet.bitmap.png())
    var file: String?
    if case .file(let path) = options.destination {
      file = path
      try OutputFile.write(body, to: path)
      let missing = tally.missing == 0 ? "" : ", \(tally.missing) of them missing"
      if !console.output.isJSON {
        console.note(
          "\(path): \(layout.width)x\(layout.height), \(counted(tally.posters, "poster"))\(missing)"
        )
      }
    }
    return console.ending(tally.exitStatus) { () throws(OutputError) in
      if case .standardOutput = options.destination {
        try body.withUnsafeBytes { bytes throws(OutputError) in try console.result(bytes: bytes) }
      }
      guard console.output.isJSON else { return }
      try console.result(
        .object([
          ("file", .string(orNull: file)), ("width", .integer(layout.width)),
          ("height", .integer(layout.height)), ("columns", .integer(layout.columns)),
          ("posters", .integer(tally.posters)), ("missing", .integer(tally.missing)),
          ("empty", .integer(tally.empty)), ("bytes", .integer(body.count)),
        ]))
    }
  }
}
