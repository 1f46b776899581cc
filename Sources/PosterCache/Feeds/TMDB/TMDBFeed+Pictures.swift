extension TMDBFeed {
  /// Which pictures of a list's entries are wanted.
  public struct Pictures: Sendable, Hashable {
    /// Of films, series and everything else but people: ``ImageKind/poster`` or
    /// ``ImageKind/backdrop``.
    public var titles: ImageKind
    /// Whether people come with their own pictures, ``ImageKind/profile``, and with what they are known
    /// for (``FeedItem/knownFor``), whose pictures are of the kind that ``titles`` says.
    public var includesPeople: Bool

    public init(titles: ImageKind = .poster, includesPeople: Bool = false) {
      self.titles = titles
      self.includesPeople = includesPeople
    }

    /// The posters of films and series; people have none.
    public static let posters = Pictures()
  }
}

extension TMDBFeed.Pictures {
  /// Throws where no title has such pictures.
  func validate() throws(PosterError) {
    guard titles != .profile else {
      throw PosterError(.invalidConfiguration, "titles have posters and backdrops, no profiles")
    }
  }

  /// What a feed tells of an entry.
  ///
  /// - Parameter listKind: what entries are that do not say it themselves.
  func item(_ entry: TMDBPage.Item, listKind: FeedItem.Kind) -> FeedItem {
    let kind = entry.kind(in: listKind)
    return FeedItem(
      id: entry.id, kind: kind, title: entry.title, artwork: artwork(of: entry, kind),
      // A person is not to go for a picture that can be none.
      knownFor: includesPeople
        ? entry.knownFor.map { item($0, listKind: .unknown("")) }
          .filter { $0.artwork?.flaw == nil } : [])
  }

  private func artwork(of entry: TMDBPage.Item, _ kind: FeedItem.Kind) -> Artwork? {
    if kind == .person, includesPeople {
      return entry.profilePath.map { .path($0, .profile) }
    }
    let path = titles == .backdrop ? entry.backdropPath : entry.posterPath
    return path.map { .path($0, titles) }
  }
}
