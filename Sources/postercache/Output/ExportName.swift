import PosterCache

/// The file name under which a picture is exported: the last component of its address' path, made
/// harmless, with an extension that says what the picture is.
///
/// The address may have been chosen by somebody who means harm. Whatever it holds, the name is one
/// component of 1 to 255 printable ASCII characters that does not begin with a dot:
/// - percent-escapes stay escaped, and what else is not printable ASCII becomes one;
/// - an empty name, and one that begins with a dot, gets a `_` in front;
/// - a name whose extension is not one of the picture's kind (`jpg` and `jpeg`, `png`, `webp`, either
///   case) gets the right one appended;
/// - a name that is too long is cut before its extension.
struct ExportName: Sendable, Hashable {
  /// What precedes the extension's dot; never empty.
  let stem: String
  /// The extension without its dot.
  let fileExtension: String

  /// Bytes that Linux' file systems allow for a name.
  static let maximumLength = 255

  /// The name for a picture of the kind `type` from `address`.
  init(_ address: PosterAddress, _ type: ImageType) {
    let path = address.withoutQuery
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    self.init(component: String(path[start...]), type)
  }

  /// The name for a picture of the kind `type` whose path ends in `component`.
  init(component: String, _ type: ImageType) {
    var name = ""
    for byte in component.utf8 {
      if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "/") {
        name.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        name += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
    if name.isEmpty || name.hasPrefix(".") { name = "_" + name }
    let given = name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? ""
    if type.fileExtensions.contains(given.lowercased()) {
      fileExtension = String(given)
      name.removeLast(given.count + 1)
    } else {
      fileExtension = type.fileExtensions[0]
    }
    stem = String(name.prefix(Self.maximumLength - 1 - fileExtension.count))
  }

  /// The whole name.
  var text: String { "\(stem).\(fileExtension)" }

  /// The whole name with `mark` before its extension, cut so that the mark fits.
  func text(markedWith mark: some StringProtocol) -> String {
    let length = Self.maximumLength - 2 - mark.count - fileExtension.count
    return "\(stem.prefix(length))-\(mark).\(fileExtension)"
  }
}

extension ImageType {
  /// The extensions of files that hold such a picture, the usual one first.
  fileprivate var fileExtensions: [String] {
    switch self {
    case .jpeg: ["jpg", "jpeg"]
    case .png: ["png"]
    case .webp: ["webp"]
    }
  }
}

extension PosterAddress {
  /// The address up to its query.
  fileprivate var withoutQuery: Substring { canonical.prefix { $0 != "?" } }

  /// Whether the path has `component` between two slashes, or at its end.
  func hasPathComponent(_ component: String) -> Bool {
    // Before the path stand the scheme and the host.
    withoutQuery.split(separator: "/").dropFirst(2).contains { $0 == component }
  }
}
