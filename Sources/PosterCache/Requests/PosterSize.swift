/// A size in which TMDB's image host offers pictures: of a width (`w342`), of a height (`h632`), or as
/// uploaded.
///
/// Which of them there are for which kind of picture is said by ``ImageHost``.
public struct PosterSize: RawRepresentable, Sendable, Hashable {
  /// The name as it stands in an address.
  public let rawValue: String

  /// The size called `rawValue`; `nil` if that is no name of a size: `w` or `h` and one to five digits,
  /// or `original`.
  public init?(rawValue: String) {
    guard rawValue != "original" else {
      self.init(name: rawValue)
      return
    }
    let bytes = rawValue.utf8
    guard let first = bytes.first, first == UInt8(ascii: "w") || first == UInt8(ascii: "h"),
      (2...6).contains(bytes.count), bytes.dropFirst().first != UInt8(ascii: "0"),
      bytes.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    self.init(name: rawValue)
  }

  private init(name: String) {
    rawValue = name
  }

  /// Sizes of posters.
  public static let w92 = PosterSize(name: "w92")
  public static let w154 = PosterSize(name: "w154")
  public static let w185 = PosterSize(name: "w185")
  public static let w342 = PosterSize(name: "w342")
  public static let w500 = PosterSize(name: "w500")
  public static let w780 = PosterSize(name: "w780")
  /// As uploaded: a poster is usually 2,000 pixels wide.
  public static let original = PosterSize(name: "original")

  /// The width in pixels, or `nil` for ``original`` and what is named by its height.
  public var width: Int? { rawValue.hasPrefix("w") ? Int(rawValue.dropFirst()) : nil }

  /// The height in pixels, or `nil` for ``original`` and what is named by its width.
  public var height: Int? { rawValue.hasPrefix("h") ? Int(rawValue.dropFirst()) : nil }
}

extension PosterSize: CustomStringConvertible {
  /// The name: `w342`.
  public var description: String { rawValue }
}
