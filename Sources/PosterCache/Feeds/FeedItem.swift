/// One entry of a list that has a picture.
public struct FeedItem: Sendable, Hashable {
  /// What an entry is about.
  public enum Kind: Sendable, Hashable {
    case movie, tv, person, collection
    /// Anything else a source may name; empty if it names nothing.
    case unknown(String)

    /// The kind behind TMDB's `media_type`.
    public init(_ name: String) {
      switch name {
      case "movie": self = .movie
      case "tv": self = .tv
      case "person": self = .person
      case "collection": self = .collection
      default: self = .unknown(name)
      }
    }
  }

  /// The source's identifier, unique within ``kind``; `nil` if the entry has none.
  public var id: String?
  /// What the entry is about.
  public var kind: Kind
  /// The title or name, in the language asked for, if the entry has one.
  public var title: String?
  /// The picture's path with exactly one leading slash, as ``PosterRequest`` takes it.
  public var posterPath: String

  public init(id: String?, kind: Kind, title: String? = nil, posterPath: String) {
    self.id = id
    self.kind = kind
    self.title = title
    self.posterPath = posterPath
  }
}

/// One page of a list: what has a picture and did not appear before, and what was left out.
public struct FeedPage: Sendable, Hashable {
  /// How many entries were left out, and why.
  public struct Skipped: Sendable, Hashable {
    /// Entries without a poster, persons included: they have a profile picture instead.
    public var noPath: Int
    /// Entries that appeared before: lists shift while they are being read.
    public var duplicate: Int
    /// Entries that are no JSON objects.
    public var unsupported: Int

    public init(noPath: Int = 0, duplicate: Int = 0, unsupported: Int = 0) {
      self.noPath = noPath
      self.duplicate = duplicate
      self.unsupported = unsupported
    }
  }

  /// The page's number, from 1.
  public var number: Int
  /// The new entries with a picture, in the list's order.
  public var items: [FeedItem]
  /// Entries looked at: those in ``items`` and the skipped ones.
  public var itemCount: Int
  /// The entries left out.
  public var skipped: Skipped

  public init(number: Int, items: [FeedItem], itemCount: Int, skipped: Skipped) {
    self.number = number
    self.items = items
    self.itemCount = itemCount
    self.skipped = skipped
  }
}
