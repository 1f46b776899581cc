/// An entry of a mixed feed: `{"data":[{"type":"TITLE_ONLY"|"IMAGE_ONLY"|"CONTENT_WITH_TITLE", …}]}`.
///
/// Decoding is strict: whatever is not one of the three as described here is a `DecodingError` whose
/// `debugDescription` says why on one line. ``DocumentFeed`` is lenient around it, entry by entry.
///
/// `id` is a text or a whole number, and may be missing. A picture is an http or https address, or the path
/// of a poster (`/abc.jpg`); its member is `imageURL`, `imageUrl`, `image_url` or `image`.
public enum MixedItem: Sendable, Hashable {
  /// `TITLE_ONLY`: a headline without a picture.
  case titleOnly(TitleOnly)
  /// `IMAGE_ONLY`: a picture that speaks for itself.
  case imageOnly(ImageOnly)
  /// `CONTENT_WITH_TITLE`: a headline and a text, with a picture or without one.
  case contentWithTitle(ContentWithTitle)

  /// What a `TITLE_ONLY` entry holds.
  public struct TitleOnly: Sendable, Hashable {
    public var id: String?
    public var title: String

    public init(id: String? = nil, title: String) {
      self.id = id
      self.title = title
    }
  }

  /// What an `IMAGE_ONLY` entry holds.
  public struct ImageOnly: Sendable, Hashable {
    public var id: String?
    public var imageURL: Artwork

    public init(id: String? = nil, imageURL: Artwork) {
      self.id = id
      self.imageURL = imageURL
    }
  }

  /// What a `CONTENT_WITH_TITLE` entry holds.
  public struct ContentWithTitle: Sendable, Hashable {
    public var id: String?
    public var title: String
    /// `content` or `text`, if the entry has one.
    public var content: String?
    public var imageURL: Artwork?

    public init(
      id: String? = nil, title: String, content: String? = nil, imageURL: Artwork? = nil
    ) {
      self.id = id
      self.title = title
      self.content = content
      self.imageURL = imageURL
    }
  }

  /// What of this entry a list shows. Its kind is the entry's type: `TITLE_ONLY`.
  public var feedItem: FeedItem {
    switch self {
    case .titleOnly(let item):
      FeedItem(id: item.id, kind: kind, title: item.title, artwork: nil)
    case .imageOnly(let item):
      FeedItem(id: item.id, kind: kind, artwork: item.imageURL)
    case .contentWithTitle(let item):
      FeedItem(id: item.id, kind: kind, title: item.title, artwork: item.imageURL)
    }
  }

  private var kind: FeedItem.Kind {
    switch self {
    case .titleOnly: .unknown(Name.titleOnly.rawValue)
    case .imageOnly: .unknown(Name.imageOnly.rawValue)
    case .contentWithTitle: .unknown(Name.contentWithTitle.rawValue)
    }
  }

  private enum Name: String {
    case titleOnly = "TITLE_ONLY"
    case imageOnly = "IMAGE_ONLY"
    case contentWithTitle = "CONTENT_WITH_TITLE"
  }
}

extension MixedItem: Decodable {
  public init(from decoder: any Decoder) throws {
    guard let fields = LenientFields(decoder) else {
      throw Self.flaw("no JSON object", decoder)
    }
    guard let type = fields.value("type", as: String.self) else {
      throw Self.flaw(fields.contains("type") ? "its type is no text" : "no type", decoder)
    }
    guard let name = Name(rawValue: type) else {
      throw Self.flaw("unknown type \(ServerWords.oneLine(type, longest: 40))", decoder)
    }
    let reader = Reader(fields: fields, decoder: decoder)
    let id = try reader.id()
    switch name {
    case .titleOnly:
      self = .titleOnly(TitleOnly(id: id, title: try reader.title()))
    case .imageOnly:
      guard let picture = try reader.picture() else { throw Self.flaw("no imageURL", decoder) }
      self = .imageOnly(ImageOnly(id: id, imageURL: picture))
    case .contentWithTitle:
      self = .contentWithTitle(
        ContentWithTitle(
          id: id, title: try reader.title(), content: try reader.optionalText("content", "text"),
          imageURL: try reader.picture()))
    }
  }

  private static func flaw(_ reason: String, _ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: reason))
  }

  /// Takes members that must be what they should be.
  private struct Reader {
    let fields: LenientFields
    let decoder: any Decoder

    func id() throws -> String? {
      guard fields.contains("id") else { return nil }
      guard fields.value("id", as: String.self) != nil || fields.value("id", as: Int.self) != nil
      else { throw MixedItem.flaw("its id is neither a text nor a whole number", decoder) }
      return fields.identifier("id")
    }

    func title() throws -> String {
      guard let title = try optionalText("title") else {
        throw MixedItem.flaw("no title", decoder)
      }
      return title
    }

    /// The first of `names` that is there; `nil` if none is.
    func optionalText(_ names: String...) throws -> String? {
      guard let name = names.first(where: fields.contains) else { return nil }
      guard let text = fields.value(name, as: String.self) else {
        throw MixedItem.flaw("its \(name) is no text", decoder)
      }
      return text
    }

    /// The picture; `nil` if the entry has none, or an empty text for it.
    func picture() throws -> Artwork? {
      let text = try optionalText("imageURL", "imageUrl", "image_url", "image")
      guard let text, !text.withoutSurroundingWhitespace.isEmpty else { return nil }
      do throws(PosterError) {
        return try Artwork(text: text)
      } catch {
        throw MixedItem.flaw(
          "its picture is \(ServerWords.oneLine(error.message, longest: 240))", decoder)
      }
    }
  }
}
