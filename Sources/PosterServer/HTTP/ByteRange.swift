/// The one range of bytes that a `Range` header asks for (RFC 9110, section 14.2).
enum ByteRange: Equatable {
  /// These bytes of the body.
  case part(Range<Int>)
  /// Nothing of the body: status 416.
  case unsatisfiable

  /// Reads `header` for a body of `count` bytes.
  ///
  /// Returns `nil` where the header must be ignored: another unit, several ranges, bad syntax.
  init?(_ header: String, count: Int) {
    guard header.lowercased().hasPrefix("bytes=") else { return nil }
    let bounds = header.dropFirst(6).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    func number(_ text: Substring) -> Int? {
      text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        ? Int(text) : nil
    }
    if bounds[0].isEmpty {
      guard let suffix = number(bounds[1]) else { return nil }
      self =
        suffix == 0 || count == 0 ? .unsatisfiable : .part(max(0, count - suffix)..<count)
      return
    }
    guard let first = number(bounds[0]) else { return nil }
    if bounds[1].isEmpty {
      self = first < count ? .part(first..<count) : .unsatisfiable
      return
    }
    guard let last = number(bounds[1]), first <= last else { return nil }
    self = first < count ? .part(first..<min(count, last + 1)) : .unsatisfiable
  }
}
