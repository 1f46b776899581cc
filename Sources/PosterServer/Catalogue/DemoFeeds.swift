import PosterCache

/// The feeds of the demo origin that are no API's: a mixed feed, a JSON Feed and a list of addresses.
///
/// | feed | entries | pictures | without a picture | repeats | cannot be understood |
/// |---|---|---|---|---|---|
/// | mixed feed | 60 | 26 | 24 | 1 | 9 |
/// | JSON Feed, three pages | 36 | 29 | 4 | 1 | 2 |
/// | its first page | 12 | 10 | 2 | 0 | 0 |
/// | list of addresses | 46 | 40 | | 1 | 5 |
///
/// Posters are those of other films of the catalogue, in width 342 where a feed has whole addresses.
struct DemoFeeds {
  /// The host in the addresses of pictures and pages.
  private let host: String

  /// - Parameter host: host and port in the addresses of pictures and pages.
  init(host: String) {
    self.host = host
  }

  // MARK: Mixed feed

  /// One document with entries of three types: `CONTENT_WITH_TITLE`, `IMAGE_ONLY` and `TITLE_ONLY` in turn,
  /// 20 of each but for the odd ones.
  ///
  /// Not to be understood are the entries 10 and 31 (of types that there are not), 13 (`IMAGE_ONLY` without
  /// an `imageURL`), 19 (no type), 25 (null), 28 (an address with another scheme than http), 33 (no title),
  /// 36 (an address that is a script) and 39 (a path that leaves its directory). The 20 of type `TITLE_ONLY`
  /// have no picture, and of the others 6 and 24 (none), 42 (null) and 48 (empty). 51 repeats 45. The
  /// pictures of 15 and 30 are a poster's path instead of an address.
  var mixed: JSON {
    .object([("data", .array((0..<60).map(mixedEntry)))])
  }

  private func mixedEntry(_ place: Int) -> JSON {
    let number = place == 51 ? 45 : place
    let stem = DemoArtwork.stem(of: .movie, number: 400 + number)
    let type =
      switch place {
      case 10: "VIDEO_ONLY"
      case 31: "LIVE_EVENT"
      default: ["CONTENT_WITH_TITLE", "IMAGE_ONLY", "TITLE_ONLY"][place % 3]
      }
    let id: [(String, JSON)] = [("id", .string("mixed-\(number)"))]
    let kind: [(String, JSON)] = place == 19 ? [] : [("type", .string(type))]
    let title: [(String, JSON)] = [("title", .string(DemoTitles.title(for: stem).english))]
    let content: [(String, JSON)] = [("content", .string(DemoTitles.overview(for: stem).english))]
    let picture: [(String, JSON)] =
      switch place {
      case 6, 13, 24: []
      case 15, 30: [("imageURL", .string("/\(stem).jpg"))]
      case 28: [("imageURL", "ftp://pictures.example/28.jpg")]
      case 36: [("imageURL", "javascript:alert(36)")]
      case 39: [("imageURL", "/../../etc/passwd")]
      case 42: [("imageURL", .null)]
      case 48: [("imageURL", "")]
      default: [("imageURL", .string(poster(stem)))]
      }
    if place == 25 { return .null }
    return switch place % 3 {
    case 0: .object(id + kind + (place == 33 ? [] : title) + content + picture)
    case 1: .object(id + kind + picture)
    default: .object(id + kind + title)
    }
  }

  // MARK: JSON Feed

  /// How many pages the JSON Feed has.
  static let jsonFeedPageCount = 3
  private static let jsonFeedPageSize = 12

  /// A page of a JSON Feed (https://www.jsonfeed.org/version/1.1/), from 1; `nil` for those beyond its last.
  ///
  /// On each page the fifth item has a `banner_image` only and the eighth no picture at all. Item 9, counted
  /// from 0, has an empty `image`; 14 is null, and the `image` of 22 is no http address; that of 30 is none
  /// either, but it has a `banner_image`. 24 repeats 23.
  func jsonFeed(page: Int) -> JSON? {
    guard (1...Self.jsonFeedPageCount).contains(page) else { return nil }
    let start = (page - 1) * Self.jsonFeedPageSize
    let address = "http://\(host)/feeds/feed.json"
    var members: [(String, JSON)] = [
      ("version", "https://jsonfeed.org/version/1.1"), ("title", "Demo cinema"),
      ("home_page_url", .string("http://\(host)/")), ("feed_url", .string(address)),
      ("language", "en"),
    ]
    if page < Self.jsonFeedPageCount {
      members.append(("next_url", .string("\(address)?page=\(page + 1)")))
    }
    members += [
      ("authors", .array([.object([("name", "Demo cinema")])])),
      ("items", .array((start..<start + Self.jsonFeedPageSize).map(jsonFeedItem))),
    ]
    return .object(members)
  }

  private func jsonFeedItem(_ place: Int) -> JSON {
    if place == 14 { return .null }
    let number = place == 24 ? 23 : place
    let stem = DemoArtwork.stem(of: .movie, number: 500 + number)
    let id = "http://\(host)/feeds/items/\(number)"
    var members: [(String, JSON)] = [
      // Numbers occur, too, and are to be taken for texts.
      ("id", number % 12 == 2 ? .integer(number) : .string(id)), ("url", .string(id)),
      ("title", .string(DemoTitles.title(for: stem).english)),
      ("content_text", .string(DemoTitles.overview(for: stem).english)),
      ("date_published", .string("\(DemoFacts(stem: stem).date)T12:00:00Z")),
    ]
    if number % 3 == 0 {
      let author: JSON = .string(DemoTitles.person(for: stem).english)
      members.append(("authors", .array([.object([("name", author)])])))
    }
    let banner = "http://\(host)/t/p/w780/\(DemoTitles.backdropPrefix)\(stem).jpg"
    switch number {
    case _ where number % 12 == 4: members.append(("banner_image", .string(banner)))
    case _ where number % 12 == 7: break
    case 9: members.append(("image", ""))
    case 22: members.append(("image", "file:///etc/passwd"))
    case 30: members += [("image", "poster.jpg"), ("banner_image", .string(banner))]
    default: members.append(("image", .string(poster(stem))))
    }
    return .object(members)
  }

  // MARK: List of addresses

  /// Which lines of ``addresses`` name no picture, from 1.
  static let badLines = [8, 14, 20, 26, 42]

  /// A text with 40 pictures, one a line: 30 addresses and ten paths of posters.
  ///
  /// It begins with a byte order mark, and has comments, empty lines and lines of spaces. Its lines end as
  /// on Unix, those behind a comment that says so as on Windows, the last one not at all. See ``badLines``
  /// for what is wrong; another line repeats the first address.
  var addresses: String {
    var text = "\u{FEFF}# Posters of the demo origin: addresses and paths, one a line.\n\n"
    var end = "\n"
    for number in 0..<40 {
      if number > 0 { text += end }
      let stem = DemoArtwork.stem(of: .movie, number: 600 + number)
      text += number % 4 == 3 ? "/\(stem).jpg" : poster(stem)
      switch number {
      case 4: text += end + "not an address"
      case 9: text += end + "ftp://pictures.example/9.jpg"
      case 14: text += end + "http://"
      case 19: text += end + "/../../etc/passwd"
      case 24: text += end + poster(DemoArtwork.stem(of: .movie, number: 600))
      case 29:
        text += end + "   " + end + "# From here on, lines end as on Windows."
        end = "\r\n"
      case 31: text += end + "//pictures.example/31.jpg"
      default: break
      }
    }
    return text
  }

  private func poster(_ stem: String) -> String { "http://\(host)/t/p/w342/\(stem).jpg" }
}
