/// The paths under which TMDB's image host and its mirrors have posters: `/t/p/{size}/{file}`.
enum PosterPath {
  /// `path` with one slash between size and file, where it is such a path; every other one as it is.
  ///
  /// A poster's path begins with a slash, and whoever puts one more before it gets the same picture
  /// from the host. Anywhere else, two slashes are not the same as one (RFC 3986, section 3.3).
  static func withOneSlash(_ path: String) -> String {
    let bytes = path.utf8
    guard bytes.starts(with: "/t/p/".utf8) else { return path }
    let size = bytes.dropFirst(5).prefix { $0 != UInt8(ascii: "/") }
    let file = bytes[size.endIndex...].drop { $0 == UInt8(ascii: "/") }
    guard isSize(Substring(size)), bytes.distance(from: size.endIndex, to: file.startIndex) > 1
    else { return path }
    return "/t/p/\(Substring(size))/\(Substring(file))"
  }

  /// Whether `text` is such as `w342`, `h632`, `w600_and_h900_bestv2` or `original`.
  private static func isSize(_ text: Substring) -> Bool {
    guard text != "original" else { return true }
    guard let first = text.utf8.first, first == UInt8(ascii: "w") || first == UInt8(ascii: "h"),
      let second = text.utf8.dropFirst().first, (0x30...0x39).contains(second)
    else { return false }
    return text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
  }
}
