import PosterCache

/// The lists of the demo origin: the same invented films, series and people every time.
///
/// Each trending list has 60 pages of 20 results with the oddities of the real ones. Among its first 200
/// positions are 190 distinct pictures:
/// - three null, one empty, two missing paths and one that is the word "null";
/// - three items that repeat their predecessor across a page border, as happens when a list shifts
///   between two requests;
/// - in `all`, three people, whose pictures are counted among the 190;
/// - paths without their leading slash or with two, which are good pictures.
///
/// A film or a series has two lists of related titles, of ``relatedPageCount`` pages: 60 others of its kind,
/// with the paths that they have in a day's trending list; three of them and more have no picture.
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

  /// A page of TMDB's shape; those beyond ``pageCount`` are empty.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - language: as in TMDB's parameter of this name; Korean for `ko`, otherwise English.
  static func page(_ page: Int, of media: Media, window: Window, language: String?) -> JSON {
    let start = (page - 1) * pageSize
    let results = (start..<start + pageSize).map { position in
      result(at: position, of: media, window: window, language: language)
    }
    return .object([
      ("page", .integer(page)), ("results", .array(page <= pageCount ? results : [])),
      ("total_pages", .integer(pageCount)), ("total_results", .integer(pageCount * pageSize)),
    ])
  }

  /// What is related to a title, as a page of TMDB's shape; those beyond ``relatedPageCount`` are empty.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - media: films or series.
  ///   - identifier: of the title.
  ///   - language: as for trending lists.
  /// - Returns: `nil` if there is no such title.
  static func relatedPage(
    _ page: Int, _ relation: Relation, to identifier: Int, of media: Media, language: String?
  ) -> JSON? {
    guard media == .movie || media == .tv, identifier >= firstIdentifier else { return nil }
    let number = number(of: identifier, media)
    // A week's list goes on behind a day's.
    guard number < titleCount + weekOffset else { return nil }
    let numbers = relatedNumbers(relation, to: number, of: media)
    let start = (page - 1) * pageSize
    let shown = page <= relatedPageCount ? numbers[start..<start + pageSize] : []
    let results = shown.map { number in
      title(
        number, kind: media, path: pathMembers(at: number, of: media), language: language,
        // As TMDB does it.
        namesKind: relation == .recommendations)
    }
    return .object([
      ("page", .integer(page)), ("results", .array(results)),
      ("total_pages", .integer(relatedPageCount)), ("total_results", .integer(numbers.count)),
    ])
  }

  /// TMDB's `/configuration`.
  ///
  /// - Parameter images: the base address of the pictures.
  static func configuration(images: String) -> JSON {
    func sizes(_ names: String) -> JSON {
      .array(names.split(separator: " ").map { .string(String($0)) })
    }
    return .object([
      (
        "images",
        .object([
          ("base_url", .string(images)), ("secure_base_url", .string(images)),
          ("backdrop_sizes", sizes("w300 w780 w1280 original")),
          ("logo_sizes", sizes("w45 w92 w154 w185 w300 w500 original")),
          ("poster_sizes", sizes("w92 w154 w185 w342 w500 w780 original")),
          ("profile_sizes", sizes("w45 w185 h632 original")),
          ("still_sizes", sizes("w92 w185 w300 original")),
        ])
      ), ("change_keys", .array(["images", "overview", "title"])),
    ])
  }

  /// TMDB's error body.
  static func error(_ code: Int, _ message: String) -> JSON {
    .object([
      ("status_code", .integer(code)), ("status_message", .string(message)), ("success", false),
    ])
  }

  // MARK: Results

  private static func result(
    at position: Int, of media: Media, window: Window, language: String?
  ) -> JSON {
    // The first item of the pages 3, 6, 9, 13, 16, … is the last one of the page before.
    let (page, row) = (position / pageSize % 10 + 1, position % pageSize)
    let place = row == 0 && page % 3 == 0 ? position - 1 : position
    let number = place + (window == .week ? weekOffset : 0)
    let kind = media == .all ? kindInMixedList(at: place) : media
    let path = pathMembers(at: place, of: kind, number: number)
    return kind == .person
      ? person(number, path: path, language: language)
      : title(number, kind: kind, path: path, language: language)
  }

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

  /// By how much a week's list is ahead of a day's.
  private static let weekOffset = 2 * pageSize
  /// Titles of each kind that a day's list has.
  private static let titleCount = pageCount * pageSize
  /// The identifier of the first film.
  private static let firstIdentifier = 1_000

  /// A film and a series may share an identifier, as at TMDB: the pair tells them apart.
  private static func identifier(of number: Int, _ kind: Media) -> Int {
    firstIdentifier + (kind == .movie ? number : number ^ 1)
  }

  private static func number(of identifier: Int, _ kind: Media) -> Int {
    kind == .movie ? identifier - firstIdentifier : (identifier - firstIdentifier) ^ 1
  }

  private static func kindInMixedList(at place: Int) -> Media {
    if place % 66 == 17 { return .person }
    return place % 5 < 3 ? .movie : .tv
  }

  /// The picture's member of a result: a good path, an odd one, or none.
  private static func pathMembers(
    at place: Int, of kind: Media, number: Int? = nil
  ) -> [(String, JSON)] {
    let name = kind == .person ? "profile_path" : "poster_path"
    let stem = stem(of: kind, number: number ?? place)
    if place % 67 == 5 { return [(name, .null)] }
    if place % 200 == 31 { return [(name, "")] }
    if place % 100 == 58 { return [] }
    if place % 200 == 111 { return [(name, "null")] }
    let slashes = place % 50 == 23 ? "" : place % 50 == 24 ? "//" : "/"
    return [(name, .string("\(slashes)\(stem).jpg"))]
  }

  /// 27 letters and digits like TMDB's names.
  private static func stem(of kind: Media, number: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var random = SeededRandom("\(kind.rawValue) \(number)")
    let letters = String((0..<27).map { _ in random.pick(alphabet) })
    return kind == .person ? DemoTitles.personPrefix + letters : letters
  }

  private static func title(
    _ number: Int, kind: Media, path: [(String, JSON)], language: String?, namesKind: Bool = true
  ) -> JSON {
    let stem = stem(of: kind, number: number)
    let title = DemoTitles.title(for: stem)
    let isMovie = kind == .movie
    var random = SeededRandom("facts \(stem)")
    let date =
      "\(1960 + random.below(65))-\(twoDigits(1 + random.below(12)))-"
      + twoDigits(1 + random.below(28))
    let name = isMovie ? "title" : "name"
    let kind = namesKind ? [("media_type", JSON.string(kind.rawValue))] : []
    return .object(
      [
        ("adult", false), ("id", .integer(identifier(of: number, isMovie ? .movie : .tv))),
        (name, .string(title.inLanguage(language))), ("original_language", "en"),
        ("original_\(name)", .string(title.english)),
        ("overview", .string(DemoTitles.overview(for: stem).inLanguage(language))),
      ] + path + kind + [
        ("genre_ids", .array([.integer([18, 35, 878, 9648][random.below(4)])])),
        ("popularity", .thousandths(900_000 - number * 613)),
        (isMovie ? "release_date" : "first_air_date", .string(date)),
        ("vote_average", .thousandths(4_500 + random.below(5_000))),
        ("vote_count", .integer(20 + random.below(9_000))),
      ])
  }

  private static func person(
    _ number: Int, path: [(String, JSON)], language: String?
  ) -> JSON {
    let stem = stem(of: .person, number: number)
    let name = DemoTitles.person(for: stem)
    return .object(
      [
        ("adult", false), ("id", .integer(1_000 + number)),
        ("name", .string(name.inLanguage(language))), ("original_name", .string(name.english)),
        ("media_type", "person"), ("popularity", .thousandths(900_000 - number * 613)),
        ("gender", 0), ("known_for_department", "Acting"),
      ] + path + [("known_for", .array([]))])
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : String(number)
  }
}
