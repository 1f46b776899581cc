import PosterCache

/// Finds titles and people of the demo origin by words and by genres.
///
/// Everything that a day's trending lists have can be found: 1,200 films, series and people each.
enum DemoSearch {
  /// What can be found, with what it is found by.
  private struct Entry {
    let result: DemoResult
    /// Its title in both languages, in small letters.
    let words: String
    let genre: Int
  }

  private static let entries = (0..<DemoCatalogue.titleCount).flatMap { number in
    [DemoCatalogue.Media.movie, .tv, .person].map { kind in
      let stem = DemoArtwork.stem(of: kind, number: number)
      let title = kind == .person ? DemoTitles.person(for: stem) : DemoTitles.title(for: stem)
      return Entry(
        result: DemoResult(kind, number), words: "\(title.english)\n\(title.korean)".lowercased(),
        genre: kind == .person ? 0 : DemoFacts(stem: stem).genre)
    }
  }

  /// A page of what has every word of `query` in its title or name, in English or Korean, as TMDB's
  /// `/search` answers it.
  ///
  /// Words may be parts of words; upper and lower case are the same. For `all`, which is TMDB's `multi`,
  /// films, series and people alternate, and the fourth result is a collection without a picture.
  ///
  /// | `query` | lists | results | on the first page | with a picture |
  /// |---|---|---|---|---|
  /// | `lighthouse`, `등대` | `multi` | 147 | 20 | 19 |
  /// | `lighthouse` | `movie` | 74 | 20 | 20 |
  /// | `lighthouse` | `tv` | 73 | 20 | 18 |
  /// | `golden lighthouse` | `multi` | 4 | 4 | 3 |
  /// | `ada` | `person` | 116 | 20 | 20 |
  /// | `zzz` | any | 0 | 0 | 0 |
  ///
  /// - Parameters:
  ///   - query: no words find nothing.
  ///   - media: what to look for; `all` for everything.
  static func page(
    _ page: Int, of media: DemoCatalogue.Media, query: String, language: String?
  ) -> JSON {
    let words = query.lowercased().split { $0.isWhitespace }
    let found =
      words.isEmpty
      ? []
      : entries.filter { entry in
        (media == .all || media == entry.result.kind)
          && words.allSatisfy { entry.words.contains($0) }
      }
    var results = DemoCatalogue.positions(page, of: found.count).map { position in
      found[position].result.json(language: language, namesKind: media == .all)
    }
    if media == .all, page == 1, results.count > 3 {
      results[3] = collection(query)
    }
    return DemoCatalogue.list(page, results: results, count: found.count)
  }

  /// A page of the films or series of certain genres, as TMDB's `/discover` answers it.
  ///
  /// Without genres there are 1,200 of each, 19 of the first 20 with a poster; of science fiction (878) 317
  /// films, 20 of the first 20 with a poster, and 317 series, 19 of the first 20.
  ///
  /// - Parameter genres: TMDB's `with_genres`: numbers, of which a title must have all where they are
  ///   parted by commas, and one where they are parted by `|`; `nil` for all titles. Of ``DemoFacts/genres``,
  ///   each title has one.
  static func page(
    _ page: Int, of media: DemoCatalogue.Media, genres: String?, language: String?
  ) -> JSON {
    let wanted = (genres ?? "").split(separator: ",").map { part in
      part.split(separator: "|").map { Int($0) }
    }
    let found = entries.filter { entry in
      entry.result.kind == media && wanted.allSatisfy { $0.contains(entry.genre) }
    }
    let results = DemoCatalogue.positions(page, of: found.count).map { position in
      found[position].result.json(language: language, namesKind: false)
    }
    return DemoCatalogue.list(page, results: results, count: found.count)
  }

  private static func collection(_ query: String) -> JSON {
    let name: JSON = .string("\(query) Collection")
    return .object([
      ("adult", false), ("backdrop_path", .null), ("id", 900_001), ("title", name),
      ("original_title", name), ("overview", ""), ("poster_path", .null),
      ("media_type", "collection"), ("original_language", "en"),
    ])
  }
}
