import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// What Spotify has answered, as public client libraries recorded it.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Corpus.isAvailable))
struct SpotifyCorpusTests {
  // Read again, with no lenience at all: one odd field and the test fails.

  private struct Image: Decodable {
    let url: String
    let width: Int?
  }

  private struct Named: Decodable {
    let name: String
  }

  private struct Owner: Decodable {
    let displayName: String?

    private enum CodingKeys: String, CodingKey {
      case displayName = "display_name"
    }
  }

  private struct Album: Decodable {
    let images: [Image]?
  }

  private struct Entry: Decodable {
    let id: String
    let name: String
    let owner: Owner?
    let artists: [Named]?
    let images: [Image]?
    let album: Album?
  }

  private struct Section: Decodable {
    let items: [Entry?]
  }

  private struct Answer: Decodable {
    let playlists: Section?
    let albums: Section?
    let tracks: [Entry?]?

    private enum Key: CodingKey {
      case playlists, albums, tracks
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      playlists = try container.decodeIfPresent(Section.self, forKey: .playlists)
      albums = try container.decodeIfPresent(Section.self, forKey: .albums)
      // A search has tracks that are no list of recommendations.
      tracks =
        playlists == nil && albums == nil
        ? try container.decodeIfPresent([Entry?].self, forKey: .tracks) : nil
    }
  }

  @Test(arguments: [
    ("derived__featured-playlists_null-items", SpotifyList.featuredPlaylists, 5, 1, 2),
    ("java__featured-playlists", .featuredPlaylists, 2, 0, 2),
    ("jwilsson__featured-playlists", .featuredPlaylists, 5, 0, 5),
    ("zmb3__featured-playlists", .featuredPlaylists, 5, 0, 5),
    ("java__category-playlists", .featuredPlaylists, 2, 0, 2),
    ("jwilsson__category-playlists", .featuredPlaylists, 20, 0, 20),
    ("zmb3__search-track-playlist", .featuredPlaylists, 2, 0, 2),
    ("java__new-releases", .newReleases, 2, 0, 2),
    ("jwilsson__new-releases", .newReleases, 5, 0, 5),
    ("zmb3__new-releases", .newReleases, 20, 0, 20),
    ("jwilsson__search-album", .newReleases, 20, 0, 20),
    ("java__recommendations", .recommendations, 10, 0, 10),
    ("jwilsson__recommendations", .recommendations, 2, 0, 0),
    ("zmb3__recommendations", .recommendations, 10, 0, 10),
  ])
  func `recorded lists decode exactly`(
    name: String, list: SpotifyList, entryCount: Int, nullCount: Int, pictureCount: Int
  ) async throws {
    let recording = try Corpus.bytes("spotify/\(name).json")
    let answer = try JSONDecoder().decode(Answer.self, from: recording)
    let entries = try #require(answer.playlists?.items ?? answer.albums?.items ?? answer.tracks)
    let body = PosterBody(copying: recording)
    var feed = try SpotifyFeed(list, credential: nil) { _ throws(PosterError) in
      PageResponse(status: 200, body: body)
    }
    let page = try #require(try await feed.nextPage())
    #expect(page.itemCount == entryCount && page.itemCount == entries.count)
    #expect(page.skipped.unsupported == nullCount)
    #expect(
      page.faults.map(\.place) == entries.indices.filter { entries[$0] == nil }.map { .item($0) })
    #expect(page.items.count { $0.artwork != nil } == pictureCount)
    #expect(page.skipped.noPath == page.items.count - pictureCount && page.skipped.duplicate == 0)

    let whole = entries.compactMap { $0 }
    #expect(page.items.map(\.id) == whole.map(\.id))
    #expect(page.items.map(\.title) == whole.map(\.name))
    #expect(page.items.allSatisfy { $0.kind == list.kind })
    let creators = whole.map { entry in
      entry.owner?.displayName ?? entry.artists.map { $0.map(\.name).joined(separator: ", ") }
    }
    #expect(page.items.map(\.creator) == creators)
    for size in ["w64", "w300", "w640", "w1000", "original"] {
      let wanted = try #require(PosterSize(rawValue: size))
      let addresses = page.items.map { $0.request(size: wanted)?.address.canonical }
      let right = whole.map { entry in
        Self.best(entry.images ?? entry.album?.images ?? [], width: wanted.width)
      }
      #expect(addresses == right, "\(size)")
    }
  }

  /// The smallest that is wide enough, else the widest, else the first.
  private static func best(_ images: [Image], width: Int?) -> String? {
    let sized = images.filter { ($0.width ?? 0) > 0 }.sorted { ($0.width ?? 0) < ($1.width ?? 0) }
    let enough = sized.first { image in width.map { (image.width ?? 0) >= $0 } ?? false }
    return (enough ?? sized.last ?? images.first)?.url
  }

  @Test func `the addresses at the wanted widths, as people read them in a recording`()
    async throws
  {
    let body = PosterBody(copying: try Corpus.bytes("spotify/zmb3__recommendations.json"))
    let page = try SpotifyPage(.recommendations, json: body)
    guard case .item(let item) = page.entries[3] else {
      Issue.record("no item")
      return
    }
    #expect(item.creator?.hasPrefix("Gaetano Donizetti, Raymond Meylan, Béla Kovács") == true)
    guard case .addresses(let versions) = item.artwork else {
      Issue.record("no addresses")
      return
    }
    #expect(versions.map(\.width) == [636, 298, 64])
    let byWidth = ["w64", "w300", "w640", "w1000"].map { size in
      PosterSize(rawValue: size).flatMap { item.request(size: $0)?.address }
    }
    #expect(byWidth == [2, 0, 0, 0].map { versions[$0].address })
  }

  @Test func `a playlist whose images are null has no picture`() throws {
    let playlist = String(
      decoding: try Corpus.bytes("spotify/issue__playlist_images-null.json"), as: UTF8.self)
    let body = PosterBody(copying: #"{"playlists":{"items":[\#(playlist)]}}"#.utf8)
    #expect(
      try SpotifyPage(.featuredPlaylists, json: body).entries == [
        .item(
          FeedItem(
            id: "0b6zN2PUiMnjLsJ2DYiScj", kind: .playlist, title: "Vas3k.Music, February 2024",
            creator: "Yaroslav", artwork: nil))
      ])
  }
}
