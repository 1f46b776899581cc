import PosterCache

/// What `warm` has seen so far, what it still has to fetch, and what follows from it at the end.
///
/// Takes events and returns what to do; knows neither network nor console.
struct WarmTally: Sendable {
  /// Something that could not be had.
  struct Failure: Sendable {
    /// The poster's or the page's address, without credentials.
    var address: PosterAddress
    var error: PosterError
    /// The poster's place in the list; pages come first.
    fileprivate var place: Int
  }

  private(set) var pages = 0
  private(set) var items = 0
  private(set) var skipped = FeedPage.Skipped()
  /// The number of ``requests``.
  private(set) var posters = 0
  private(set) var hits = 0
  private(set) var fetched = 0
  /// Posters that had expired, or were to be refreshed, and are still right.
  private(set) var revalidated = 0
  /// Posters that could not be fetched or stored.
  private(set) var failed = 0
  private(set) var bytes = 0
  private var pageFailures: [Failure] = []
  private var posterFailures: [Failure] = []
  /// The posters that the list asks for.
  private(set) var requests: Set<PosterRequest> = []

  /// Takes a page, and returns the posters to fetch for it, each with its place in the list.
  ///
  /// Two titles may share a poster, which is then fetched once; a path that is no path counts as
  /// unsupported.
  mutating func pageDidLoad(
    _ page: FeedPage, size: PosterSize, images: ImageHost
  ) -> [(place: Int, request: PosterRequest)] {
    pages += 1
    items += page.itemCount
    skipped.noPath += page.skipped.noPath
    skipped.duplicate += page.skipped.duplicate
    skipped.unsupported += page.skipped.unsupported
    var wanted: [(place: Int, request: PosterRequest)] = []
    for item in page.items {
      guard let artwork = item.artwork else { continue }
      guard let request = artwork.request(size: size, on: images, priority: .background) else {
        skipped.unsupported += 1
        continue
      }
      if requests.insert(request).inserted {
        wanted.append((posters, request))
        posters += 1
      } else {
        skipped.duplicate += 1
      }
    }
    return wanted
  }

  mutating func pageDidFail(_ address: PosterAddress, _ error: PosterError) {
    pageFailures.append(Failure(address: address, error: error, place: pageFailures.count))
  }

  mutating func posterDidArrive(_ outcome: PosterPipeline.WarmOutcome) {
    switch outcome {
    case .hit: hits += 1
    case .revalidated: revalidated += 1
    case .fetched(let size):
      fetched += 1
      bytes += size
    }
  }

  mutating func posterDidFail(_ address: PosterAddress, place: Int, _ error: PosterError) {
    failed += 1
    posterFailures.append(Failure(address: address, error: error, place: place))
  }

  /// Everything that failed: pages, then posters in the list's order.
  var failures: [Failure] { pageFailures + posterFailures.sorted { $0.place < $1.place } }

  /// Posters done with.
  var done: Int { cached + failed }

  /// Posters that are in the cache and fresh.
  var cached: Int { hits + fetched + revalidated }

  /// How the command ends when nobody interrupted it.
  var exitStatus: CommandStatus {
    if pageFailures.contains(where: { $0.error.code == .unauthorized }) { return .refused }
    guard !failures.isEmpty else { return .success }
    if let failure = pageFailures.first, pages == 0 {
      return failure.error.isOutage ? .originDown : .failure
    }
    // One poster that came, or one failure of another kind, shows that the origin is there.
    let isDown =
      cached == 0 && failed > 0 && posterFailures.allSatisfy(\.error.isOutage)
    return isDown ? .originDown : .failure
  }
}
