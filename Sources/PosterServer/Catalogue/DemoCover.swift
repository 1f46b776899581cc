/// The square pictures of playlists and albums, whose names are 40 hexadecimal digits as Spotify's are: 16
/// for the size, 24 for the picture.
enum DemoCover {
  /// In which size.
  enum Size: String, CaseIterable {
    case large = "ab67616d0000b273"
    case medium = "ab67616d00001e02"
    case small = "ab67616d00004851"
    /// Of pictures whose list does not say how large they are.
    case unsaid = "ab67706f00000003"

    /// In pixels.
    var width: Int {
      switch self {
      case .large: 640
      case .medium, .unsaid: 300
      case .small: 64
      }
    }
  }

  /// The 24 digits of the cover of what is called `name`.
  static func stem(for name: String) -> String {
    var random = SeededRandom("cover " + name)
    let digits = Array("0123456789abcdef")
    return String((0..<24).map { _ in random.pick(digits) })
  }

  /// The name of the cover of what is called `name`.
  static func name(for name: String, size: Size) -> String {
    size.rawValue + stem(for: name)
  }

  /// The size and the stem of a picture's name; `nil` if it is no such name.
  static func parts(of name: some StringProtocol) -> (size: Size, stem: String)? {
    guard name.utf8.count == 40, let size = Size(rawValue: String(name.prefix(16))) else {
      return nil
    }
    let stem = name.dropFirst(16)
    guard stem.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
      return nil
    }
    return (size, String(stem))
  }
}
