/// One entry of a list, with a picture or without one.
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
  /// The picture's path with exactly one leading slash, as ``PosterRequest`` takes it; `nil` if the entry
  /// has none, which keeps its place on the screen.
  public var posterPath: String?

  public init(id: String?, kind: Kind, title: String? = nil, posterPath: String?) {
    self.id = id
    self.kind = kind
    self.title = title
    self.posterPath = posterPath
  }

  /// What to ask for this entry's picture; `nil` if it has none, or one whose path is no path.
  ///
  /// - Parameters:
  ///   - size: the width that is wanted.
  ///   - images: the base address of the image host, up to and without the size.
  public func request(
    size: PosterSize = .w342, images: PosterAddress = .tmdbImages, priority: Priority = .visible
  ) -> PosterRequest? {
    guard let posterPath else { return nil }
    // A path that leaves the image host's directory names no picture.
    return try? PosterRequest(path: posterPath, size: size, images: images, priority: priority)
  }
}

/// One page of a list: what did not appear before, and what brings no new picture.
public struct FeedPage: Sendable, Hashable {
  /// How many entries bring no new picture, and why.
  public struct Skipped: Sendable, Hashable {
    /// Entries without a poster, persons included: they have a profile picture instead. They are among
    /// the page's items all the same.
    public var noPath: Int
    /// Entries that appeared before, and are left out: lists shift while they are being read.
    public var duplicate: Int
    /// Entries that are no JSON objects, and are left out.
    public var unsupported: Int

    public init(noPath: Int = 0, duplicate: Int = 0, unsupported: Int = 0) {
      self.noPath = noPath
      self.duplicate = duplicate
      self.unsupported = unsupported
    }
  }

  /// The page's number, from 1.
  public var number: Int
  /// The new entries in the list's order, with a picture or without one.
  public var items: [FeedItem]
  /// Entries looked at: those in ``items`` and those that were left out.
  public var itemCount: Int
  /// The entries that bring no new picture.
  public var skipped: Skipped

  public init(number: Int, items: [FeedItem], itemCount: Int, skipped: Skipped) {
    self.number = number
    self.items = items
    self.itemCount = itemCount
    self.skipped = skipped
  }
}
