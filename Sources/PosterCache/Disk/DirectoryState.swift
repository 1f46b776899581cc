/// What is known about a cache directory without its index: file `state`.
///
/// Lines of text, padded with spaces to ``size`` so that one write replaces all of it: `limit BYTES`,
/// `seed DIGITS`, and `synced` or `unsynced BOOT`.
struct DirectoryState: Equatable {
  static let size = 128

  /// The directory's limit in bytes, so that a rebuilt index keeps it.
  var limit: UInt64?
  /// What the checksums begin with, should `format` be lost.
  var seed: UInt64?
  /// The boot in which the index was changed and perhaps not synced since: after a power cut such an
  /// index cannot be trusted. `nil` if everything that was committed has been synced.
  var unsyncedIn: Boot?

  /// Whether the index may be half on the disk: what was written in this boot is at least in the
  /// kernel's memory, which a killed process does not take along.
  func isIndexDoubtful(in boot: Boot) -> Bool {
    guard let unsyncedIn else { return false }
    return unsyncedIn != .unknown && boot != .unknown && unsyncedIn != boot
  }
}

extension DirectoryState {
  /// Reads the file's text. What cannot be understood is not known.
  init(text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2 else { continue }
      switch words[0] {
      case "limit": limit = UInt64(words[1]).flatMap { $0 <= IndexEditor.largestLimit ? $0 : nil }
      case "seed": seed = UInt64(words[1], radix: 16)
      case "unsynced": unsyncedIn = Boot(digits: words[1])
      default: break
      }
    }
  }

  /// The file's text.
  var text: String {
    var text = limit.map { "limit \($0)\n" } ?? ""
    text += seed.map { "seed \(DirectoryFormat.digits(of: $0))\n" } ?? ""
    text += unsyncedIn.map { "unsynced \($0.digits)" } ?? "synced"
    return text + String(repeating: " ", count: Self.size - 1 - text.utf8.count) + "\n"
  }
}
