/// A number of bytes as people write it: `1048576`, `512M`, `2G`.
///
/// The suffixes `K`, `M`, `G` and `T` (either case, optionally followed by `B` or `iB`) are powers
/// of 1,024.
public struct ByteSize: Sendable, Hashable {
  /// The number of bytes, never negative.
  public let bytes: Int

  /// - Parameter bytes: a number of bytes; a negative one is a programming error.
  public init(bytes: Int) {
    precondition(bytes >= 0, "negative size: \(bytes)")
    self.bytes = bytes
  }

  /// Parses `text`, or returns `nil` if it is no size or too large for 63 bits.
  public init?(_ text: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits) else { return nil }
    let shift: Int
    switch text.dropFirst(digits.count).lowercased() {
    case "", "b": shift = 0
    case "k", "kb", "kib": shift = 10
    case "m", "mb", "mib": shift = 20
    case "g", "gb", "gib": shift = 30
    case "t", "tb", "tib": shift = 40
    default: return nil
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else { return nil }
    self.bytes = bytes
  }
}

extension ByteSize: CustomStringConvertible {
  /// The size with one decimal and a binary unit: `512 B`, `39.5 KiB`, `1.0 GiB`.
  public var description: String {
    let units = ["KiB", "MiB", "GiB", "TiB"]
    guard bytes >= 1024 else { return "\(bytes) B" }
    var value = Double(bytes) / 1024
    var unit = 0
    while value >= 1023.95, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
