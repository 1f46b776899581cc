import FoundationEssentials

/// A page as a client decodes it.
struct ListedPage: Decodable {
  let page: Int
  let results: [ListedItem]
  let totalPages: Int
  let totalResults: Int

  init(_ body: [UInt8]) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    self = try decoder.decode(ListedPage.self, from: Data(body))
  }
}

/// A result, with null and missing told apart.
struct ListedItem: Decodable, Hashable {
  /// What a result says about its picture.
  enum Path: Hashable {
    case missing, null
    case some(String)
  }

  let id: Int
  /// Empty where the list leaves it out.
  let mediaType: String
  let title: String
  let overview: String?
  let path: Path

  /// The file's name, if there is a picture.
  var file: Substring? {
    guard case .some(let text) = path, !text.isEmpty, text != "null" else { return nil }
    return text.drop { $0 == "/" }
  }

  private enum Keys: String, CodingKey {
    case id, title, name, overview, mediaType, posterPath, profilePath
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Keys.self)
    id = try members.decode(Int.self, forKey: .id)
    mediaType = try members.decodeIfPresent(String.self, forKey: .mediaType) ?? ""
    title = try members.decode(String.self, forKey: members.contains(.title) ? .title : .name)
    overview = try members.decodeIfPresent(String.self, forKey: .overview)
    let key = mediaType == "person" ? Keys.profilePath : .posterPath
    if !members.contains(key) {
      path = .missing
    } else if let text = try members.decode(String?.self, forKey: key) {
      path = .some(text)
    } else {
      path = .null
    }
  }
}
