import FoundationEssentials

/// A list page of TMDB's API, read leniently: whatever one entry or one count looks like, the rest
/// of the page counts.
///
/// The entries are in `results`, or in `items` as `/list/{id}` has them.
struct TMDBPage: Sendable, Hashable {
  /// What stands at one place of the list.
  enum Entry: Sendable, Hashable {
    case item(Item)
    /// Something else than an object, and what: `a number`.
    case odd(String)

    /// The entry, if it is one.
    var item: Item? {
      if case .item(let item) = self { item } else { nil }
    }
  }

  /// One entry as the page has it; every field may be missing or odd.
  struct Item: Sendable, Hashable {
    /// The identifier as text: a number nearly everywhere, a string in a few lists.
    var id: String?
    /// `media_type`; lists of one kind leave it out.
    var mediaType: String?
    /// `title`, or `name` for what is no movie.
    var title: String?
    /// `poster_path` with one leading slash, `nil` if there is no picture.
    var posterPath: String?
    /// `backdrop_path`, likewise.
    var backdropPath: String?
    /// `profile_path`, likewise: the picture of a person.
    var profilePath: String?
    /// `known_for`: what a person is known for. What is no object is left out, and the entries are known
    /// for nothing themselves.
    var knownFor: [Item] = []

    /// What the entry is in a list of `listKind`.
    func kind(in listKind: FeedItem.Kind) -> FeedItem.Kind {
      mediaType.map(FeedItem.Kind.init) ?? listKind
    }
  }

  /// The number the page gives itself.
  var number: Int?
  /// How many pages the list claims to have; not to be trusted, see ``TMDBPager``.
  var totalPages: Int?
  /// How many entries the list claims to have, in `total_results` or in `item_count`.
  var totalResults: Int?
  /// What the list holds, in its order.
  var entries: [Entry]
}

extension TMDBPage {
  /// Reads a page from JSON.
  ///
  /// - Throws: ``PosterError/Code/malformedPage`` if `json` is no JSON object with a list of
  ///   entries; the message says what came instead.
  init(json: PosterBody) throws(PosterError) {
    let data = json.data.withoutByteOrderMark
    do {
      self = try JSONDecoder().decode(TMDBPage.self, from: data)
    } catch {
      let came = WhatCame(data).description(without: "a list of results")
      throw PosterError(.malformedPage, "not a list page: \(came)")
    }
  }

  /// A `poster_path`, or another picture's, with exactly one leading slash, or `nil` if it stands for
  /// no picture: empty, only slashes, or the word "null".
  static func normalizedPath(_ path: String?) -> String? {
    guard let file = path?.drop(while: { $0 == "/" }), !file.isEmpty, file != "null" else {
      return nil
    }
    return "/\(file)"
  }
}
