import PosterCache

/// One result of a list of the demo origin, as TMDB writes films, series, people and collections.
struct DemoResult: Hashable {
  /// A film, a series or a person.
  let kind: DemoCatalogue.Media
  /// Which one, from 0.
  let number: Int
  /// What decides whether it has a picture: its number, but in a week's list.
  let place: Int

  /// - Parameter place: its number if it is `nil`.
  init(_ kind: DemoCatalogue.Media, _ number: Int, place: Int? = nil) {
    self.kind = kind
    self.number = number
    self.place = place ?? number
  }

  /// - Parameters:
  ///   - language: as in TMDB's parameter of this name; Korean for `ko`, otherwise English.
  ///   - namesKind: whether there is a `media_type`, which lists of one kind leave out.
  func json(language: String?, namesKind: Bool) -> JSON {
    let stem = DemoArtwork.stem(of: kind, number: number)
    let path = DemoArtwork.posterMembers(stem: stem, kind: kind, place: place)
    let media = namesKind ? [("media_type", JSON.string(kind.rawValue))] : []
    return kind == .person
      ? person(stem, path: path, media: media, language: language)
      : title(stem, path: path, media: media, language: language)
  }

  // MARK: Identifiers

  /// The identifier of the first film.
  static let firstIdentifier = 1_000

  /// A film and a series may share an identifier, as at TMDB: the pair tells them apart.
  var identifier: Int {
    Self.firstIdentifier + (kind == .tv ? number ^ 1 : number)
  }

  /// The number behind an identifier of a film or a series; negative below the first one.
  static func number(of identifier: Int, _ kind: DemoCatalogue.Media) -> Int {
    let number = identifier - firstIdentifier
    return kind == .tv ? number ^ 1 : number
  }

  // MARK: Members

  private func title(
    _ stem: String, path: [(String, JSON)], media: [(String, JSON)], language: String?
  ) -> JSON {
    let title = DemoTitles.title(for: stem)
    let isMovie = kind == .movie
    let facts = DemoFacts(stem: stem)
    let name = isMovie ? "title" : "name"
    var members: [(String, JSON)] = [("adult", false)]
    members += DemoArtwork.backdropMembers(stem: stem, number: number)
    members += [
      ("id", .integer(identifier)), (name, .string(title.inLanguage(language))),
      ("original_language", "en"), ("original_\(name)", .string(title.english)),
      ("overview", .string(DemoTitles.overview(for: stem).inLanguage(language))),
    ]
    members += path
    members += media
    members += [
      ("genre_ids", .array([.integer(facts.genre)])), ("popularity", popularity),
      (isMovie ? "release_date" : "first_air_date", .string(facts.date)),
      ("vote_average", .thousandths(facts.voteAverage)), ("vote_count", .integer(facts.voteCount)),
    ]
    return .object(members)
  }

  private func person(
    _ stem: String, path: [(String, JSON)], media: [(String, JSON)], language: String?
  ) -> JSON {
    let name = DemoTitles.person(for: stem)
    var members: [(String, JSON)] = [
      ("adult", false), ("id", .integer(identifier)), ("name", .string(name.inLanguage(language))),
      ("original_name", .string(name.english)),
    ]
    members += media
    members += [("popularity", popularity), ("gender", 0), ("known_for_department", "Acting")]
    members += path
    members += knownForMembers(language: language)
    return .object(members)
  }

  private var popularity: JSON { .thousandths(900_000 - number * 613) }

  // MARK: What people are known for

  /// The titles that a person is known for: a film, a series and a film, or nothing for three in ten.
  var knownFor: [DemoResult] {
    guard kind == .person, number % 17 != 11, number % 13 != 6, number % 5 != 4 else { return [] }
    return (0..<3).map { place in
      DemoResult(
        place == 1 ? .tv : .movie, (number * 11 + place * 37) % DemoCatalogue.titleCount)
    }
  }

  /// The member `known_for`: titles, an empty array, null, or none.
  private func knownForMembers(language: String?) -> [(String, JSON)] {
    if number % 17 == 11 { return [("known_for", .null)] }
    if number % 13 == 6 { return [] }
    let titles = knownFor.map { $0.json(language: language, namesKind: true) }
    return [("known_for", .array(titles))]
  }
}
