import PosterCache

/// What has been seen of some lists so far, what is still to be fetched, and what follows from it at the end.
///
/// Takes events and returns what to do; knows neither network nor console. Its size is bounded however long
/// the lists are: a repeat is known as one among the last ``RecentKeys/limit`` posters (later on it is found
/// in the cache), and of failures and faults the first ``namedLimit`` are kept.
struct WarmTally: Sendable {
  /// Something that could not be had.
  struct Failure: Sendable {
    /// The poster's or the page's address, without credentials; `nil` for a page that has none.
    var address: PosterAddress?
    var error: PosterError
    /// The list's index.
    var list: Int
    /// The poster's place in the list.
    fileprivate var place: Int
  }

  /// An entry that cannot be understood.
  struct Fault: Sendable {
    /// The list's index.
    var list: Int
    var fault: FeedPage.Fault
  }

  /// A poster to fetch, and its place in its list.
  struct Wanted: Sendable {
    var place: Int
    var request: PosterRequest
  }

  /// What a page brings.
  struct News: Sendable {
    /// The posters to fetch.
    var wanted: [Wanted] = []
    /// The posters that were not there before, `nil` for an entry that has none.
    var cells: [PosterRequest?] = []
  }

  /// How many failures and how many faults are kept by name.
  static let namedLimit = 1_000

  private(set) var lists: [ListTally]
  private(set) var hits = 0
  private(set) var fetched = 0
  /// Posters that had expired, or were to be refreshed, and are still right.
  private(set) var revalidated = 0
  /// Posters that could not be fetched or stored.
  private(set) var failed = 0
  private(set) var bytes = 0
  /// Entries that cannot be understood, in the order in which they came.
  private(set) var faults: [Fault] = []
  private(set) var faultCount = 0
  /// The posters of the lists, where they are to be kept.
  private(set) var requests: Set<PosterRequest> = []

  private let keepsRequests: Bool
  private var recent = RecentKeys()
  private var failedKeys = RecentKeys()
  private var pageFailures: [Failure] = []
  private var posterFailures: [Failure] = []
  private var isRefused = false
  /// How the command ends where no page came at all.
  private var statusWithoutPages = CommandStatus.failure
  private var areAllPosterFailuresOutages = true

  /// - Parameters:
  ///   - labels: what the lists are called.
  ///   - warmedBefore: the posters that are to be left out of each list; none if it is empty.
  ///   - keepsRequests: whether ``requests`` are wanted, which grow with the lists.
  init(
    _ labels: [String], leavingOut warmedBefore: [Set<CacheKey>] = [], keepsRequests: Bool = false
  ) {
    lists = labels.enumerated().map { index, label in
      ListTally(
        label, warmedBefore: warmedBefore.indices.contains(index) ? warmedBefore[index] : [])
    }
    self.keepsRequests = keepsRequests
  }

  // MARK: - Events

  /// Takes a page of a list, and returns what is new on it.
  ///
  /// Two titles may share a poster, of one list or of two, which is then fetched once; a path that is no path
  /// counts as unsupported. What a person is known for comes behind the person.
  mutating func pageDidLoad(
    _ page: FeedPage, of list: Int = 0, size: PosterSize, images: ImageHost
  ) -> News {
    lists[list].pages += 1
    lists[list].items += page.itemCount
    lists[list].skipped.noPath += page.skipped.noPath
    lists[list].skipped.duplicate += page.skipped.duplicate
    lists[list].skipped.unsupported += page.skipped.unsupported
    for fault in page.faults {
      faultCount += 1
      if faults.count < Self.namedLimit { faults.append(Fault(list: list, fault: fault)) }
    }
    var news = News()
    func request(for artwork: Artwork) -> PosterRequest? {
      artwork.request(size: size, on: images, priority: .background)
    }
    for item in page.items {
      if let artwork = item.artwork, let request = request(for: artwork) {
        if !take(request, of: list, &news) { lists[list].skipped.duplicate += 1 }
      } else {
        news.cells.append(nil)
        if item.artwork != nil { lists[list].skipped.unsupported += 1 }
      }
      // Not entries of the list: only their pictures count.
      for artwork in item.knownFor.compactMap(\.artwork) {
        if let request = request(for: artwork) { _ = take(request, of: list, &news) }
      }
    }
    return news
  }

  /// Returns whether the poster was not there before.
  private mutating func take(
    _ request: PosterRequest, of list: Int, _ news: inout News
  ) -> Bool {
    let key = request.key
    if keepsRequests { requests.insert(request) }
    if lists[list].warmedBefore.contains(key), !recent.contains(key) {
      guard lists[list].note(key) else { return false }
      lists[list].sinceLast += 1
      news.cells.append(request)
      return true
    }
    guard recent.insert(key) else {
      // Another list may have asked for it.
      if !failedKeys.contains(key) { _ = lists[list].note(key) }
      return false
    }
    _ = lists[list].note(key)
    news.wanted.append(Wanted(place: lists[list].posters, request: request))
    news.cells.append(request)
    lists[list].posters += 1
    return true
  }

  mutating func pageDidFail(_ address: PosterAddress?, _ error: PosterError, of list: Int = 0) {
    if error.code == .unauthorized { isRefused = true }
    if failedPages == 0 {
      // A file that cannot be read is a wrong word on the command line.
      let isUsage = error.code == .invalidConfiguration
      statusWithoutPages = error.isOutage ? .originDown : isUsage ? .usage : .failure
    }
    lists[list].failedPages += 1
    if hasRoomForFailure {
      pageFailures.append(
        Failure(address: address, error: error, list: list, place: pageFailures.count))
    }
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

  mutating func posterDidFail(_ wanted: Wanted, _ error: PosterError, of list: Int = 0) {
    failed += 1
    if !error.isOutage { areAllPosterFailuresOutages = false }
    if hasRoomForFailure {
      posterFailures.append(
        Failure(address: wanted.request.address, error: error, list: list, place: wanted.place))
    }
    _ = failedKeys.insert(wanted.request.key)
    posterWasLeft(wanted)
  }

  /// Nobody knows what would have become of a poster: it was not waited for.
  mutating func posterWasLeft(_ wanted: Wanted) {
    for list in lists.indices { lists[list].forget(wanted.request.key) }
  }

  /// Whether a poster, one of the last that failed, could not be had.
  func hasFailed(_ key: CacheKey) -> Bool { failedKeys.contains(key) }

  private var hasRoomForFailure: Bool {
    pageFailures.count + posterFailures.count < Self.namedLimit
  }

  // MARK: - Sums

  var pages: Int { sum(\.pages) }
  var items: Int { sum(\.items) }
  /// Distinct posters of all lists that are not left out.
  var posters: Int { sum(\.posters) }
  var sinceLast: Int { sum(\.sinceLast) }
  var failedPages: Int { sum(\.failedPages) }
  var skipped: FeedPage.Skipped {
    FeedPage.Skipped(
      noPath: sum(\.skipped.noPath), duplicate: sum(\.skipped.duplicate),
      unsupported: sum(\.skipped.unsupported))
  }

  private func sum(_ number: (ListTally) -> Int) -> Int {
    lists.reduce(0) { $0 + number($1) }
  }

  /// What failed, as far as it is kept: pages, then posters in the lists' order.
  var failures: [Failure] {
    pageFailures
      + posterFailures.sorted { ($0.list, $0.place) < ($1.list, $1.place) }
  }

  /// How many pages and posters failed.
  var failureCount: Int { failedPages + failed }

  /// Posters done with.
  var done: Int { cached + failed }

  /// Posters that are in the cache and fresh.
  var cached: Int { hits + fetched + revalidated }

  /// Whether the lists could not be had at all, so that there is nothing to report but why.
  var isUnavailable: Bool { pages == 0 && failedPages > 0 }

  /// How the command ends when nobody interrupted it.
  var exitStatus: CommandStatus {
    if isRefused { return .refused }
    guard failureCount > 0 else { return .success }
    if isUnavailable { return statusWithoutPages }
    // One poster that came, or one failure of another kind, shows that the origin is there.
    return cached == 0 && failed > 0 && areAllPosterFailuresOutages ? .originDown : .failure
  }
}
