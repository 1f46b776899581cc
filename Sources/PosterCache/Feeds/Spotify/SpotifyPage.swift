import FoundationEssentials

/// A list page of Spotify's API, read leniently: whatever one entry or one count looks like, the rest of
/// the page counts.
struct SpotifyPage: Sendable, Hashable {
  /// The page's entries in order.
  var entries: [FeedPageBuilder.Entry]
  /// What it says about the pages behind it.
  var claims: SpotifyPager.Claims

  /// Reads a page of `list` from JSON: `playlists.items`, `albums.items` or `tracks`.
  ///
  /// - Throws: ``PosterError/Code/malformedPage`` if there is no such list of entries in `json`; the message
  ///   says what came instead.
  init(_ list: SpotifyList, json: PosterBody) throws(PosterError) {
    let data = json.data.withoutByteOrderMark
    // Why it is none is found out below.
    let answer = try? JSONDecoder().decode(Answer.self, from: data)
    let section =
      switch list {
      case .featuredPlaylists: answer?.playlists
      case .newReleases: answer?.albums
      case .recommendations: answer?.tracks
      }
    guard let section, let items = section.items else {
      let came = WhatCame(data).description(
        without: list.isPaged ? "\(list.kind.name)s.items" : "\(list.kind.name)s")
      throw PosterError(.malformedPage, "not a list page: \(came)")
    }
    entries = items.map { $0?.entry(list.kind) ?? .fault("no JSON object") }
    claims = section.claims
    claims.entryCount = items.count
  }

  private struct Answer: Decodable {
    let playlists: Section?
    let albums: Section?
    let tracks: Section?

    init(from decoder: any Decoder) {
      let fields = LenientFields(decoder)
      playlists = fields?.value("playlists")
      albums = fields?.value("albums")
      tracks = fields?.elements("tracks").map(Section.init)
    }
  }

  /// The part of an answer that has the entries.
  private struct Section: Decodable {
    let items: [Item?]?
    var claims = SpotifyPager.Claims()

    init(_ items: [Item?]) {
      self.items = items
    }

    init(from decoder: any Decoder) {
      let fields = LenientFields(decoder)
      items = fields?.elements("items")
      claims.limit = fields?.value("limit")
      claims.total = fields?.value("total")
      if fields?.isNull("next") == true {
        claims.next = .none
      } else if fields?.text("next") != nil {
        claims.next = .some
      }
    }
  }

  /// A playlist, an album or a track; decodes from anything.
  private struct Item: Decodable {
    let id: String?
    let name: String?
    let creator: String?
    let artwork: Artwork?
    let isObject: Bool

    init(from decoder: any Decoder) {
      let fields = LenientFields(decoder)
      isObject = fields != nil
      id = fields?.identifier("id")
      name = fields?.text("name")
      let artists = fields?.elements("artists", of: NamedObject.self) ?? []
      let names = artists.compactMap { $0?.name }
      let owner = fields?.value("owner", as: Owner.self)?.name
      creator = names.isEmpty ? owner : names.joined(separator: ", ")
      let images =
        fields?.elements("images", of: Image.self)
        ?? fields?.value("album", as: Album.self)?.images ?? []
      let versions = images.compactMap { $0?.version }
      artwork = versions.isEmpty ? nil : .addresses(versions)
    }

    func entry(_ kind: FeedItem.Kind) -> FeedPageBuilder.Entry {
      guard isObject else { return .fault("no JSON object") }
      guard id != nil || name != nil || artwork != nil else {
        return .fault("no id, no name and no picture")
      }
      return .item(FeedItem(id: id, kind: kind, title: name, creator: creator, artwork: artwork))
    }
  }

  private struct Owner: Decodable {
    let name: String?

    init(from decoder: any Decoder) {
      name = LenientFields(decoder)?.text("display_name")
    }
  }

  private struct Album: Decodable {
    let images: [Image?]?

    init(from decoder: any Decoder) {
      images = LenientFields(decoder)?.elements("images")
    }
  }

  private struct Image: Decodable {
    let version: Artwork.Version?

    init(from decoder: any Decoder) {
      let fields = LenientFields(decoder)
      // An address that cannot be used is a picture that is not there.
      guard let text = fields?.text("url"),
        let address = try? PosterAddress(String(text.withoutSurroundingWhitespace))
      else {
        version = nil
        return
      }
      let width = fields?.value("width", as: Int.self) ?? fields?.text("width").flatMap { Int($0) }
      version = Artwork.Version(address, width: width.flatMap { $0 > 0 ? $0 : nil })
    }
  }
}
