/// One entry of a list, with a picture or without one.
public struct FeedItem: Sendable, Hashable {
  /// What an entry is about.
  public enum Kind: Sendable, Hashable {
    case movie, tv, person, collection
    case playlist, album, track
    /// Anything else a source may name; empty if it names nothing.
    case unknown(String)

    /// The kind behind a source's word for it, such as TMDB's `media_type` or Spotify's `type`.
    public init(_ name: String) {
      switch name {
      case "movie": self = .movie
      case "tv": self = .tv
      case "person": self = .person
      case "collection": self = .collection
      case "playlist": self = .playlist
      case "album": self = .album
      case "track": self = .track
      default: self = .unknown(name)
      }
    }

    /// The source's word for it.
    public var name: String {
      switch self {
      case .movie: "movie"
      case .tv: "tv"
      case .person: "person"
      case .collection: "collection"
      case .playlist: "playlist"
      case .album: "album"
      case .track: "track"
      case .unknown(let name): name
      }
    }
  }

  /// The source's identifier, unique within ``kind``; `nil` if the entry has none.
  public var id: String?
  /// What the entry is about.
  public var kind: Kind
  /// The title or name, in the language asked for, if the entry has one.
  public var title: String?
  /// Who made it, such as a track's artists or a playlist's owner, if the source says so.
  public var creator: String?
  /// The entry's picture; `nil` if it has none, which keeps its place on the screen.
  public var artwork: Artwork?
  /// What a person is known for, where that was asked for.
  public var knownFor: [FeedItem]

  public init(
    id: String?, kind: Kind, title: String? = nil, creator: String? = nil, artwork: Artwork?,
    knownFor: [FeedItem] = []
  ) {
    self.id = id
    self.kind = kind
    self.title = title
    self.creator = creator
    self.artwork = artwork
    self.knownFor = knownFor
  }

  /// An entry with a TMDB `poster_path`, with exactly one leading slash, or without one.
  public init(id: String?, kind: Kind, title: String? = nil, posterPath: String?) {
    self.init(
      id: id, kind: kind, title: title, artwork: posterPath.map { .path($0, .poster) })
  }

  /// The path, if the picture is a poster of an ``ImageHost``.
  public var posterPath: String? {
    if case .path(let path, .poster) = artwork { path } else { nil }
  }

  /// What to ask for this entry's picture; `nil` if it has none, or one whose path is no path.
  ///
  /// - Parameters:
  ///   - size: what is wanted; see ``Artwork/request(size:on:priority:)`` for what there is instead.
  ///   - host: where paths lead to.
  public func request(
    size: PosterSize = .w342, on host: ImageHost = .tmdb, priority: Priority = .visible
  ) -> PosterRequest? {
    artwork?.request(size: size, on: host, priority: priority)
  }
}
