import PosterCache

/// The lists that somebody has put together: TMDB's `/list/{id}`, another one for each identifier.
///
/// Each has two pages of 20 entries, films and series of the trending lists:
/// - 34 posters;
/// - four without one: a null, an empty and a missing path and the word "null";
/// - one that repeats the entry before it, across the page border;
/// - one that is null instead of an object.
///
/// On the first page are 18 posters.
struct DemoUserList {
  /// The entries; `nil` for the one that is null.
  let entries: [DemoResult?]
  private let identifier: String

  /// The entries of a list.
  static let count = 40

  /// - Parameter identifier: letters and digits; `nil` if it is none.
  init?(_ identifier: String) {
    guard !identifier.isEmpty,
      identifier.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    self.identifier = identifier
    var random = SeededRandom("list \(identifier)")
    var entries: [DemoResult?] = []
    var known: Set<DemoResult> = []
    while entries.count < Self.count {
      switch entries.count {
      case 20: entries.append(entries[19])
      case 33: entries.append(nil)
      default:
        let next = DemoResult(
          entries.count % 3 == 2 ? .tv : .movie, random.below(DemoCatalogue.titleCount))
        guard DemoArtwork.posterAbsence(next.number) == Self.absences[entries.count],
          known.insert(next).inserted
        else { continue }
        entries.append(next)
      }
    }
    self.entries = entries
  }

  /// Where posters are absent.
  private static let absences: [Int: DemoArtwork.Absence] = [
    6: .null, 11: .missing, 25: .empty, 31: .word,
  ]

  /// A page as TMDB's third version answers it: the entries are in `items`; those beyond the second page
  /// are empty.
  func page(_ page: Int, language: String?) -> JSON {
    let items = DemoCatalogue.positions(page, of: entries.count).map { position in
      entries[position]?.json(language: language, namesKind: true) ?? .null
    }
    return .object([
      ("created_by", "demo"), ("description", "Whatever somebody likes."), ("favorite_count", 0),
      ("id", .string(identifier)), ("iso_639_1", "en"),
      ("item_count", .integer(entries.count)), ("items", .array(items)),
      ("name", .string("List \(identifier)")), ("page", .integer(page)), ("poster_path", .null),
      ("total_pages", .integer(Self.count / DemoCatalogue.pageSize)),
      ("total_results", .integer(entries.count)),
    ])
  }
}
