import PosterCache

/// The trending and related lists of the demo origin: the same invented films, series and people every time.
///
/// Each trending list has 60 pages of 20 results with the oddities of the real ones. Among its first 200
/// positions are 190 distinct pictures:
/// - three null, one empty, two missing paths and one that is the word "null";
/// - three items that repeat their predecessor across a page border, as happens when a list shifts
///   between two requests;
/// - in `all`, three people, whose pictures are counted among the 190;
/// - paths without their leading slash or with two, which are good pictures.
///
/// In a day's `all` list, the 190 are 187 posters and the three people's pictures; 184 titles have a
/// backdrop, and the people are known for 6 titles, all with posters. On its first page are 18 posters, 18
/// backdrops and one person, who is known for 3 titles.
///
/// Every film and series has two lists of related titles, of ``relatedPageCount`` pages: 60 others of its
/// kind, with the paths that they have in a day's trending list; three of them and more have no picture.
/// Of the film 1001, 55 similar and 56 recommended titles have a poster; of the series 1001, 55 and 52; of
/// the 20 on the first pages of the series 1002, 17 and 19.
enum DemoCatalogue {
  /// What a list holds.
  enum Media: String {
    case all, movie, tv, person
  }

  /// How long ago a trend may have been.
  enum Window: String {
    case day, week
  }

  /// How titles are related.
  enum Relation: String {
    case similar, recommendations
  }

  /// The pages that have results.
  static let pageCount = 60
  /// The pages of a list of related titles.
  static let relatedPageCount = 3
  /// The results on a page.
  static let pageSize = 20
  /// Titles of each kind that a day's list has.
  static let titleCount = pageCount * pageSize
  /// By how much a week's list is ahead of a day's.
  private static let weekOffset = 2 * pageSize

  /// A page of a trending list; those beyond ``pageCount`` are empty.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - language: as in TMDB's parameter of this name; Korean for `ko`, otherwise English.
  static func page(_ page: Int, of media: Media, window: Window, language: String?) -> JSON {
    let results = positions(page, of: titleCount).map { position in
      let place = placeRepeating(position)
      let kind = media == .all ? kindInMixedList(at: place) : media
      let number = place + (window == .week ? weekOffset : 0)
      return DemoResult(kind, number, place: place).json(language: language, namesKind: true)
    }
    return list(page, results: results, count: titleCount)
  }

  /// What is related to a title, as a page of TMDB's shape; those beyond ``relatedPageCount`` are empty.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - media: films or series.
  ///   - identifier: of the title, from 1.
  ///   - language: as for trending lists.
  /// - Returns: `nil` if there can be no such title.
  static func relatedPage(
    _ page: Int, _ relation: Relation, to identifier: Int, of media: Media, language: String?
  ) -> JSON? {
    guard media == .movie || media == .tv, identifier >= 1 else { return nil }
    let number = DemoResult.number(of: identifier, media)
    let numbers = relatedNumbers(relation, to: number, of: media)
    let results = positions(page, of: numbers.count).map { position in
      // Only recommendations name the kind, as TMDB does it.
      DemoResult(media, numbers[position])
        .json(language: language, namesKind: relation == .recommendations)
    }
    return list(page, results: results, count: numbers.count)
  }

  // MARK: Pages

  /// The positions of a page, from 0, in a list of `count` results; none beyond its end.
  static func positions(_ page: Int, of count: Int) -> Range<Int> {
    let start = min((page - 1) * pageSize, count)
    return start..<min(start + pageSize, count)
  }

  /// A page of TMDB's shape.
  ///
  /// - Parameters:
  ///   - results: those of this page.
  ///   - count: of all pages.
  ///   - first: members that come first.
  static func list(
    _ page: Int, results: [JSON], count: Int, first: [(String, JSON)] = []
  ) -> JSON {
    .object(
      first + [
        ("page", .integer(page)), ("results", .array(results)),
        ("total_pages", .integer(max(1, (count + pageSize - 1) / pageSize))),
        ("total_results", .integer(count)),
      ])
  }

  /// What stands at `position`: the first item of the pages 3, 6, 9, 13, 16, … is the last one of the page
  /// before.
  static func placeRepeating(_ position: Int) -> Int {
    let (page, row) = (position / pageSize % 10 + 1, position % pageSize)
    return row == 0 && page % 3 == 0 ? position - 1 : position
  }

  private static func kindInMixedList(at place: Int) -> Media {
    if place % 66 == 17 { return .person }
    return place % 5 < 3 ? .movie : .tv
  }

  // MARK: Related titles

  /// Numbers of titles that are related to the one called `number`, in their order.
  private static func relatedNumbers(
    _ relation: Relation, to number: Int, of media: Media
  ) -> [Int] {
    var random = SeededRandom("\(relation.rawValue) \(media.rawValue) \(number)")
    var numbers: [Int] = []
    var known: Set = [number]
    while numbers.count < relatedPageCount * pageSize {
      // Those that have no picture in any list.
      let isOdd = numbers.count % pageSize == 7
      let next = isOdd ? 5 + 67 * random.below(titleCount / 67) : random.below(titleCount)
      if known.insert(next).inserted { numbers.append(next) }
    }
    return numbers
  }
}
