/// A list that Spotify's API offers.
///
/// Since November 2024 Spotify refuses ``featuredPlaylists`` and ``recommendations`` to applications that
/// did not use them before (developer.spotify.com/blog, 2024-11-27): which lists there are depends on the
/// account that a token belongs to.
public enum SpotifyList: Sendable, Hashable, CaseIterable {
  /// Playlists that Spotify features: `/browse/featured-playlists`.
  case featuredPlaylists
  /// Albums that have come out: `/browse/new-releases`.
  case newReleases
  /// Tracks that go with others: `/recommendations`. Wants filters that name what they should go with:
  /// `seed_artists`, `seed_genres` or `seed_tracks`.
  case recommendations

  /// The list's path below the API's base address, without a leading slash.
  public var path: String {
    switch self {
    case .featuredPlaylists: "browse/featured-playlists"
    case .newReleases: "browse/new-releases"
    case .recommendations: "recommendations"
    }
  }

  /// What its entries are.
  var kind: FeedItem.Kind {
    switch self {
    case .featuredPlaylists: .playlist
    case .newReleases: .album
    case .recommendations: .track
    }
  }

  /// Entries that a page has at most: the API's maximum.
  var pageSize: Int {
    switch self {
    case .featuredPlaylists, .newReleases: 50
    case .recommendations: 100
    }
  }

  /// Whether it has more than one page.
  var isPaged: Bool { self != .recommendations }
}

extension SpotifyList: CustomStringConvertible {
  /// The list's path: `browse/new-releases`.
  public var description: String { path }
}

extension PosterAddress {
  /// The base address of Spotify's API: `https://api.spotify.com/v1`.
  // A constant that SpotifyFeedTests parses; it cannot fail.
  public static let spotifyAPI = try! PosterAddress("https://api.spotify.com/v1")
}
