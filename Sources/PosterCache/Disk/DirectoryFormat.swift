/// What the file `format` of a cache directory says.
struct DirectoryFormat: Equatable {
  /// The version of the format that this code reads and writes.
  static let version = 2

  /// What the directory's checksums begin with: a number that nobody outside knows, so that a picture
  /// cannot be made to hold what passes for a record when segments are searched for records. Zero in
  /// directories whose file does not name one.
  var seed: UInt64

  private static let prefix = "postercache cache format "
  private static let seedPrefix = "seed "

  /// The file's text.
  var text: String {
    "\(Self.prefix)\(Self.version)\n\(Self.seedPrefix)\(Self.digits(of: seed))\n"
  }

  /// A seed as it is written: 16 hexadecimal digits.
  static func digits(of seed: UInt64) -> String {
    let digits = String(seed, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Reads the file's text.
  ///
  /// - Throws: ``PosterError/Code/unsupportedFormat``, naming `path`.
  init(text: String, of path: String) throws(PosterError) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.first, first.hasPrefix(Self.prefix) else {
      throw PosterError(
        .unsupportedFormat, "\(path) is no cache directory: its file `format` is not ours")
    }
    let digits =
      lines.count > 1 && lines[1].hasPrefix(Self.seedPrefix)
      ? lines[1].dropFirst(Self.seedPrefix.count) : "0"
    guard first == "\(Self.prefix)\(Self.version)", let seed = UInt64(digits, radix: 16) else {
      throw PosterError(
        .unsupportedFormat,
        "the cache directory \(path) was written by another version of postercache "
          + "(\"\(first)\"): use that version or another directory")
    }
    self.seed = seed
  }

  init(seed: UInt64) {
    self.seed = seed
  }
}
