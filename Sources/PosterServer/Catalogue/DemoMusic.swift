import PosterCache

/// The sections of the demo origin that are like Spotify's: playlists, albums and tracks with artwork in
/// squares, or without it.
///
/// | list | entries | null | repeats | without a picture | with one | pictures |
/// |---|---|---|---|---|---|---|
/// | featured playlists | 120 | 3 | 2 | 9 | 106 | 106 |
/// | the first 50 of them | 50 | 1 | 0 | 4 | 45 | 45 |
/// | new releases | 100 | 2 | 1 | 4 | 93 | 93 |
/// | the first 50 of them | 50 | 1 | 0 | 2 | 47 | 47 |
/// | recommendations | 100 | 5 | 0 | 15 | 80 | 75 |
/// | the first 20 of them | 20 | 1 | 0 | 3 | 16 | 15 |
///
/// Where there is no picture, `images` is empty, null or missing, or a track's `album` is. A repeat is the
/// entry before it once more, at the border of pages of 50. Five tracks are of the album of the one before.
/// Pictures come in the widths 640, 300 and 64, the widest first; those of every fourth playlist and every
/// tenth album in one that is not told.
struct DemoMusic {
  /// The host in the addresses of pictures.
  private let host: String

  /// - Parameter host: host and port in the addresses of pictures.
  init(host: String) {
    self.host = host
  }

  /// A list of Spotify's that has pages.
  enum Section: String {
    case featuredPlaylists = "featured-playlists"
    case newReleases = "new-releases"

    /// How many entries it has.
    var count: Int {
      switch self {
      case .featuredPlaylists: 120
      case .newReleases: 100
      }
    }
  }

  /// How many tracks are recommended at most.
  static let trackCount = 100

  /// The part of a section that begins at `offset` and has at most `limit` entries.
  func page(of section: Section, limit: Int, offset: Int) -> JSON {
    let start = min(offset, section.count)
    let range = start..<min(start + limit, section.count)
    let base = "http://\(host)/v1/browse/\(section.rawValue)"
    func address(_ offset: Int) -> JSON { .string("\(base)?offset=\(offset)&limit=\(limit)") }
    let page: JSON = .object([
      ("href", address(offset)),
      ("items", .array(range.map { section == .newReleases ? album($0) : playlist($0) })),
      ("limit", .integer(limit)),
      ("next", offset + limit < section.count ? address(offset + limit) : .null),
      ("offset", .integer(offset)),
      ("previous", offset > 0 ? address(max(0, offset - limit)) : .null),
      ("total", .integer(section.count)),
    ])
    return switch section {
    case .featuredPlaylists:
      .object([("message", "Something to listen to"), ("playlists", page)])
    case .newReleases: .object([("albums", page)])
    }
  }

  /// At most `limit` tracks.
  func recommendations(limit: Int) -> JSON {
    .object([
      ("tracks", .array((0..<min(limit, Self.trackCount)).map(track))),
      ("seeds", .array([])),
    ])
  }

  // MARK: Entries

  private func playlist(_ place: Int) -> JSON {
    guard place % 40 != 11 else { return .null }
    let number = place == 50 || place == 100 ? place - 1 : place
    let name = "playlist \(number)"
    var members: [(String, JSON)] = [
      ("collaborative", false), ("description", .string(DemoTitles.overview(for: name).english)),
      ("id", .string(identifier(name))),
    ]
    switch number % 40 {
    case 5: members.append(("images", .array([])))
    case 14: members.append(("images", .null))
    case 22: break
    default: members.append(("images", number % 4 == 1 ? unsized(name) : sized(name)))
    }
    members += [
      ("name", .string(title(name))),
      (
        "owner",
        .object([("display_name", "Demo Radio"), ("id", "demo-radio"), ("type", "user")])
      ), ("public", .null), ("tracks", .object([("total", .integer(20 + number))])),
      ("type", "playlist"),
    ]
    return .object(members)
  }

  private func album(_ place: Int) -> JSON {
    guard place % 50 != 12 else { return .null }
    let number = place == 50 ? place - 1 : place
    let name = "album \(number)"
    return switch number % 50 {
    case 7: album(name, images: .array([]))
    case 22: album(name, images: .null)
    default: album(name, images: number % 10 == 4 ? unsized(name) : sized(name))
    }
  }

  private func album(_ name: String, images: JSON) -> JSON {
    .object([
      ("album_type", "album"), ("artists", artists(name)), ("id", .string(identifier(name))),
      ("images", images), ("name", .string(title(name))), ("release_date", "2024-12-11"),
      ("total_tracks", 10), ("type", "album"),
    ])
  }

  private func track(_ number: Int) -> JSON {
    let name = "track \(number)"
    var members: [(String, JSON)] = []
    switch number % 20 {
    case 6: members.append(("album", .null))
    case 11: break
    case 13: members.append(("album", album("album of \(name)", images: .array([]))))
    case 16: return .null
    case 18: members.append(("album", sizedAlbum(number - 1)))
    default: members.append(("album", sizedAlbum(number)))
    }
    members += [
      ("artists", artists(name)), ("duration_ms", .integer(150_000 + number * 1_009)),
      ("explicit", false), ("id", .string(identifier(name))), ("name", .string(title(name))),
      ("track_number", .integer(1 + number % 10)), ("type", "track"),
    ]
    return .object(members)
  }

  private func sizedAlbum(_ number: Int) -> JSON {
    let name = "album of track \(number)"
    return album(name, images: sized(name))
  }

  // MARK: Members

  private func artists(_ name: String) -> JSON {
    let artist = DemoTitles.person(for: name)
    return .array([
      .object([
        ("id", .string(identifier("artist " + artist.english))), ("name", .string(artist.english)),
        ("type", "artist"),
      ])
    ])
  }

  /// What is written on the cover, too.
  private func title(_ name: String) -> String {
    DemoTitles.title(for: DemoCover.stem(for: name)).english
  }

  private func sized(_ name: String) -> JSON {
    .array(
      [DemoCover.Size.large, .medium, .small].map { size in
        .object([
          ("height", .integer(size.width)), ("url", address(name, size)),
          ("width", .integer(size.width)),
        ])
      })
  }

  private func unsized(_ name: String) -> JSON {
    .array([
      .object([("height", .null), ("url", address(name, .unsaid)), ("width", .null)])
    ])
  }

  private func address(_ name: String, _ size: DemoCover.Size) -> JSON {
    .string("http://\(host)/image/\(DemoCover.name(for: name, size: size))")
  }

  /// 22 letters and digits, as Spotify has them.
  private func identifier(_ name: String) -> String {
    let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    var random = SeededRandom("identifier " + name)
    return String((0..<22).map { _ in random.pick(alphabet) })
  }
}
