import FoundationEssentials

/// A list page of TMDB's API, read leniently: whatever one entry or one count looks like, the rest
/// of the page counts.
///
/// The entries are in `results`, or in `items` as `/list/{id}` has them.
struct TMDBPage: Sendable, Hashable {
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
  }

  /// The number the page gives itself.
  var number: Int?
  /// How many pages the list claims to have; not to be trusted, see ``TMDBPager``.
  var totalPages: Int?
  /// How many entries the list claims to have.
  var totalResults: Int?
  /// The entries in order; `nil` where the page holds something else than an object.
  var items: [Item?]
}

extension TMDBPage {
  /// Reads a page from JSON.
  ///
  /// - Throws: ``PosterError/Code/malformedPage`` if `json` is no JSON object with a list of
  ///   entries; the message says what came instead.
  init(json: PosterBody) throws(PosterError) {
    let data = json.withUnsafeBytes { Data($0) }
    do {
      self = try JSONDecoder().decode(TMDBPage.self, from: data)
    } catch {
      throw PosterError(.malformedPage, "not a list page: \(Self.whatCame(data))")
    }
  }

  /// A `poster_path` with exactly one leading slash, or `nil` if it stands for no picture: empty,
  /// only slashes, or the word "null".
  static func normalizedPath(_ path: String?) -> String? {
    guard let file = path?.drop(while: { $0 == "/" }), !file.isEmpty, file != "null" else {
      return nil
    }
    return "/\(file)"
  }

  // MARK: - What came instead

  /// What `data` is, in a few words, for people who wonder why it is no page.
  private static func whatCame(_ data: Data) -> String {
    let start = data.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }.prefix(64)
    guard let first = start.first else { return "the answer is empty" }
    switch first {
    case UInt8(ascii: "<"): return "the answer is HTML or XML instead of JSON"
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      let isWhole = (try? JSONDecoder().decode(AnyJSON.self, from: data)) != nil
      return isWhole
        ? "the answer is JSON without a list of results" : "the answer is broken or cut JSON"
    default: return "the answer is no JSON"
    }
  }

  /// Accepts every JSON value: tells other JSON from what is no JSON at all.
  private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) {}
  }
}

extension TMDBPage: Decodable {
  private enum Key: String, CodingKey {
    case page, results, items
    case totalPages = "total_pages"
    case totalResults = "total_results"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    // A count that is missing or no number is a count that the page does not give.
    number = try? container.decode(Int.self, forKey: .page)
    totalPages = try? container.decode(Int.self, forKey: .totalPages)
    totalResults = try? container.decode(Int.self, forKey: .totalResults)
    var list: any UnkeyedDecodingContainer
    do {
      list = try container.nestedUnkeyedContainer(forKey: .results)
    } catch {
      list = try container.nestedUnkeyedContainer(forKey: .items)
    }
    items = []
    while !list.isAtEnd {
      // LenientItem never fails, except that some decoders refuse null by themselves.
      if try list.decodeNil() {
        items.append(nil)
      } else {
        items.append(try list.decode(LenientItem.self).item)
      }
    }
  }

  /// An entry that decodes from anything: a container does not advance past what throws.
  private struct LenientItem: Decodable {
    var item: Item?

    init(from decoder: any Decoder) {
      // No object: the entry is nil. An odd field: the field is nil.
      guard let fields = try? decoder.container(keyedBy: ItemKey.self) else { return }
      func text(_ key: ItemKey) -> String? { try? fields.decode(String.self, forKey: key) }
      let number = (try? fields.decode(Int.self, forKey: .id)).map(String.init)
      item = Item(
        id: number ?? text(.id), mediaType: text(.mediaType), title: text(.title) ?? text(.name),
        posterPath: TMDBPage.normalizedPath(text(.posterPath)))
    }
  }

  private enum ItemKey: String, CodingKey {
    case id, title, name
    case mediaType = "media_type"
    case posterPath = "poster_path"
  }
}
