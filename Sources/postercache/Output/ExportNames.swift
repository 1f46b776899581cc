import PosterCache

/// The file names of all pictures of one export: each its own, whatever their order.
///
/// Where two pictures would get one name (two sizes, two hosts, or addresses that differ only in what
/// ``ExportName`` drops), all of that name are marked with the first 16 digits of their keys. So is
/// one that merely looks as if it were marked with the key of another, because keys can be computed
/// by whoever chooses names; and where the marks are equal, too, they are the whole keys.
struct ExportNames: Sendable {
  /// What a name is made from.
  struct Picture: Sendable {
    var key: CacheKey
    var address: PosterAddress
    var type: ImageType
  }

  /// The names, in the order of the pictures.
  let texts: [String]

  /// - Parameter pictures: pictures of which no two have one key.
  init(_ pictures: [Picture]) {
    let names = pictures.map { ExportName($0.address, $0.type) }
    let plain = names.map(\.text)
    let uses = Self.counts(plain)
    let marks = Set(pictures.map(\.key.high))
    let needsMark = names.indices.map { index in
      uses[plain[index]] != 1 || Self.looksMarked(names[index].stem, withOneOf: marks)
    }
    let marked = names.indices.map { index in
      needsMark[index]
        ? names[index].text(markedWith: pictures[index].key.description.prefix(16)) : nil
    }
    let markUses = Self.counts(marked.compactMap { $0 })
    texts = names.indices.map { index in
      guard let text = marked[index] else { return plain[index] }
      return markUses[text] == 1
        ? text : names[index].text(markedWith: pictures[index].key.description)
    }
  }

  /// Whether a name without its extension ends like one that was marked with a key of which the first
  /// half is one of `marks`.
  private static func looksMarked(_ stem: String, withOneOf marks: Set<UInt64>) -> Bool {
    let bytes = Array(stem.utf8)
    return [16, 32].contains { length in
      guard bytes.count > length, bytes[bytes.count - length - 1] == UInt8(ascii: "-") else {
        return false
      }
      let digits = String(decoding: bytes.suffix(length).prefix(16), as: UTF8.self)
      return UInt64(digits, radix: 16).map(marks.contains) ?? false
    }
  }

  private static func counts(_ texts: [String]) -> [String: Int] {
    texts.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }
}
