import PosterCache

/// What has been seen of one list.
struct ListTally: Sendable {
  /// How many posters of a list are noted for the next run; those beyond are looked for every time.
  static let noteLimit = 65_536

  /// What the list is called.
  let label: String
  var pages = 0
  var items = 0
  /// Posters that no earlier place of any list had.
  var posters = 0
  var skipped = FeedPage.Skipped()
  /// Posters that the last run had, and that are left out for that.
  var sinceLast = 0
  var failedPages = 0
  /// Posters that the last run had, if they are to be left out.
  let warmedBefore: Set<CacheKey>
  /// Posters that the list has and that have not failed, each with its place among them.
  private var noted: [CacheKey: Int] = [:]
  private var nextPlace = 0

  init(_ label: String, warmedBefore: Set<CacheKey> = []) {
    self.label = label
    self.warmedBefore = warmedBefore
  }

  /// Notes a poster of the list; returns whether it was not noted before.
  mutating func note(_ key: CacheKey) -> Bool {
    guard noted[key] == nil else { return false }
    guard noted.count < Self.noteLimit else { return true }
    noted[key] = nextPlace
    nextPlace += 1
    return true
  }

  /// The poster could not be had after all.
  mutating func forget(_ key: CacheKey) {
    noted[key] = nil
  }

  /// What the next run may leave out, in the list's order: where not all of it can be kept, the first are.
  var keys: [CacheKey] {
    noted.sorted { $0.value < $1.value }.map(\.key)
  }
}
