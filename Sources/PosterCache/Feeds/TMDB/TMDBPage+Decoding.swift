extension TMDBPage: Decodable {
  private enum Key: String, CodingKey {
    case page, results, items
    case totalPages = "total_pages"
    case totalResults = "total_results"
    case itemCount = "item_count"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    // A count that is missing or no number is a count that the page does not give.
    func count(_ key: Key) -> Int? { try? container.decode(Int.self, forKey: key) }
    number = count(.page)
    totalPages = count(.totalPages)
    totalResults = count(.totalResults) ?? count(.itemCount)
    var list: any UnkeyedDecodingContainer
    do {
      list = try container.nestedUnkeyedContainer(forKey: .results)
    } catch {
      list = try container.nestedUnkeyedContainer(forKey: .items)
    }
    entries = try Self.entries(of: &list, as: ListedEntry.self)
  }

  private static func entries(
    of list: inout any UnkeyedDecodingContainer, as type: (some LenientEntry).Type
  ) throws -> [Entry] {
    var entries: [Entry] = []
    while !list.isAtEnd {
      // A lenient entry never fails, except that some decoders refuse null by themselves.
      entries.append(try list.decodeNil() ? .odd("null") : list.decode(type).entry)
    }
    return entries
  }

  /// An entry that decodes from anything: a container does not advance past what throws.
  private protocol LenientEntry: Decodable {
    var entry: Entry { get }
  }

  /// An entry of the list.
  private struct ListedEntry: LenientEntry {
    let entry: Entry

    init(from decoder: any Decoder) {
      entry = TMDBPage.entry(from: decoder) { fields in
        guard var list = try? fields.nestedUnkeyedContainer(forKey: .knownFor) else { return [] }
        // Without a list of them, a person is known for nothing.
        let entries = try? TMDBPage.entries(of: &list, as: NestedEntry.self)
        return entries?.compactMap(\.item) ?? []
      }
    }
  }

  /// An entry inside one. It has none itself, so that no answer can nest them without end.
  private struct NestedEntry: LenientEntry {
    let entry: Entry

    init(from decoder: any Decoder) {
      entry = TMDBPage.entry(from: decoder) { _ in [] }
    }
  }

  private typealias Fields = KeyedDecodingContainer<ItemKey>

  private enum ItemKey: String, CodingKey {
    case id, title, name
    case mediaType = "media_type"
    case posterPath = "poster_path"
    case backdropPath = "backdrop_path"
    case profilePath = "profile_path"
    case knownFor = "known_for"
  }

  private static func entry(from decoder: any Decoder, knownFor: (Fields) -> [Item]) -> Entry {
    // What is no object has no fields.
    guard let fields = try? decoder.container(keyedBy: ItemKey.self) else {
      return .odd(kind(of: decoder))
    }
    // An odd field is nil.
    func text(_ key: ItemKey) -> String? { try? fields.decode(String.self, forKey: key) }
    func path(_ key: ItemKey) -> String? { normalizedPath(text(key)) }
    let number = (try? fields.decode(Int.self, forKey: .id)).map(String.init)
    return .item(
      Item(
        id: number ?? text(.id), mediaType: text(.mediaType), title: text(.title) ?? text(.name),
        posterPath: path(.posterPath), backdropPath: path(.backdropPath),
        profilePath: path(.profilePath), knownFor: knownFor(fields)))
  }

  /// What a value is that is no object.
  private static func kind(of decoder: any Decoder) -> String {
    // One after the other fails on all but one kind of value.
    if (try? decoder.unkeyedContainer()) != nil { return "a list" }
    guard let value = try? decoder.singleValueContainer(), !value.decodeNil() else {
      return "null"
    }
    if (try? value.decode(String.self)) != nil { return "a string" }
    if (try? value.decode(Bool.self)) != nil { return "true or false" }
    // Even if it is too large for any type.
    return "a number"
  }
}
