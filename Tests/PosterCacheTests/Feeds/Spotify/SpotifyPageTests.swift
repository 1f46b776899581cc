import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct SpotifyPageTests {
  private func page(_ list: SpotifyList, _ json: String) throws(PosterError) -> SpotifyPage {
    try SpotifyPage(list, json: PosterBody(copying: json.utf8))
  }

  /// The only item of a page with this playlist.
  private func playlist(_ json: String) throws -> FeedPageBuilder.Entry {
    let page = try page(.featuredPlaylists, #"{"playlists":{"items":[\#(json)]}}"#)
    #expect(page.entries.count == 1)
    return page.entries[0]
  }

  /// The widths of the pictures with these images, in order; `nil` if there is no picture.
  private func widths(_ images: String) throws -> [Int?]? {
    guard case .item(let item) = try playlist(#"{"id":"1","name":"A","images":\#(images)}"#),
      case .addresses(let versions) = item.artwork
    else { return nil }
    return versions.map(\.width)
  }

  @Test func `entries have names, creators and pictures`() throws {
    let picture = #""images":[{"url":"https://i.example/1","width":300,"height":300}]"#
    let artwork = Artwork.addresses([
      Artwork.Version(try PosterAddress("https://i.example/1"), width: 300)
    ])
    #expect(
      try page(
        .featuredPlaylists,
        #"{"playlists":{"items":[{"id":"1","name":"A","owner":{"display_name":"O"},\#(picture)}]}}"#
      ).entries == [
        .item(FeedItem(id: "1", kind: .playlist, title: "A", creator: "O", artwork: artwork))
      ])
    #expect(
      try page(
        .newReleases,
        #"{"albums":{"items":[{"id":"2","name":"B","artists":[{"name":"P"},null,{},{"name":"Q"}],"#
          + #"\#(picture)}]}}"#
      ).entries == [
        .item(FeedItem(id: "2", kind: .album, title: "B", creator: "P, Q", artwork: artwork))
      ])
    #expect(
      try page(
        .recommendations,
        #"{"tracks":[{"id":"3","name":"C","artists":[{"name":"P"}],"album":{"name":"D",\#(picture)}}]}"#
      ).entries == [
        .item(FeedItem(id: "3", kind: .track, title: "C", creator: "P", artwork: artwork))
      ])
  }

  @Test func `widths that are none are not known`() throws {
    let address = #""url":"https://i.example/1""#
    let images = [
      "640", "null", "0", #""300""#, #""wide""#, "-1", "1e99", "{}", "640.0", "1.5",
    ].map { #"{\#(address),"width":\#($0)}"# }.joined(separator: ",")
    #expect(
      try widths("[\(images),{\(address)}]")
        == [640, nil, nil, 300, nil, nil, nil, nil, 640, nil, nil])
  }

  @Test(arguments: [
    "[]", "null", "{}", #""https://i.example/1""#, "[null]", "[7,{}]", #"[{"url":null}]"#,
    #"[{"url":""}]"#, #"[{"url":"ftp://i.example/1","width":300}]"#, #"[{"url":"/abc.jpg"}]"#,
    #"[{"url":"spotify:image:1"},{"url":"http://u:p@i.example/"}]"#,
  ])
  func `a playlist without a usable picture is a playlist without a picture`(
    images: String
  ) throws {
    let json = #"{"id":"1","name":"A","owner":null,"images":\#(images)}"#
    #expect(
      try playlist(json) == .item(FeedItem(id: "1", kind: .playlist, title: "A", artwork: nil)))
  }

  @Test func `pictures that can be used are left when others go`() throws {
    let images = #"[{"url":"data:,x","width":640},null,{"url":" https://i.example/1 ","width":64}]"#
    #expect(try widths(images) == [64])
  }

  @Test func `odd entries are faults or lack what is odd`() throws {
    #expect(try playlist("null") == .fault("no JSON object"))
    #expect(try playlist("7") == .fault("no JSON object"))
    #expect(try playlist("[]") == .fault("no JSON object"))
    #expect(try playlist(#"{"id":null}"#) == .fault("no id, no name and no picture"))
    #expect(
      try playlist(#"{"id":7,"name":["A"],"owner":"O","artists":{}}"#)
        == .item(FeedItem(id: "7", kind: .playlist, artwork: nil)))
    let track = try page(.recommendations, #"{"tracks":[{"id":"1","name":"A","album":null}]}"#)
    #expect(track.entries == [.item(FeedItem(id: "1", kind: .track, title: "A", artwork: nil))])
  }

  @Test(arguments: [
    (SpotifyList.featuredPlaylists, #"{"albums":{"items":[]}}"#, "JSON without playlists.items"),
    (.newReleases, #"{"albums":{"items":null}}"#, "JSON without albums.items"),
    (.recommendations, #"{"tracks":{"items":[]}}"#, "JSON without tracks"),
    (.newReleases, "<html>", "HTML or XML"), (.newReleases, "", "empty"),
    (.newReleases, #"{"albums":{"items":[{"id":"#, "broken or cut JSON"),
  ])
  func `what is no page is told as what it is`(
    list: SpotifyList, json: String, words: String
  ) {
    let error = #expect(throws: PosterError.self) { try page(list, json) }
    #expect(error?.code == .malformedPage)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `what a page says about others is read as it stands there`() throws {
    func claims(_ members: String) throws -> SpotifyPager.Claims {
      try page(.newReleases, #"{"albums":{"items":[null,null]\#(members)}}"#).claims
    }
    #expect(
      try claims(#","limit":20,"total":500,"next":"https://x.example/""#)
        == .init(entryCount: 2, limit: 20, total: 500, next: .some))
    #expect(try claims(#","next":null"#) == .init(entryCount: 2, next: .none))
    #expect(
      try claims(#","limit":"20","total":null,"next":7"#) == .init(entryCount: 2, next: .unsaid))
    #expect(try claims("") == .init(entryCount: 2, next: .unsaid))
  }
}
