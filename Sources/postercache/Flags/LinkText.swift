import PosterCache

/// Reads latencies and bandwidths as people write them.
enum LinkText {
  /// What a bandwidth counts that does not say it.
  enum Unit: Sendable {
    case bits, bytes
  }

  /// The longest latency that is taken, in milliseconds: an hour.
  static let maximumMilliseconds = 3_600_000

  /// `80ms`, `80` or `0.08s` in whole milliseconds; `nil` if `text` is no time, or too long a one.
  static func milliseconds(_ text: String) -> Int? {
    let (number, unit) = parts(of: text)
    let factor: Double
    switch unit {
    case "", "ms": factor = 1
    case "s": factor = 1000
    default: return nil
    }
    return whole(number, times: factor, in: 0...Double(maximumMilliseconds))
  }

  /// A bandwidth in bytes a second; `nil` if `text` is none, or below 1.
  ///
  /// Bits are counted in powers of 1,000, as links are named (`20Mbit`, `20Mbit/s`, `1.5Gbit`), and bytes
  /// in powers of 1,024, as sizes are everywhere here (`2.5MB`, `2.5MB/s`, `2500000B`). A number with a
  /// prefix alone (`20M`) or without one counts `bare`.
  ///
  /// - Parameter bare: also decides whether a small `b` may stand for bytes.
  static func bytesPerSecond(_ text: String, bare: Unit) -> Int? {
    let (number, suffix) = parts(of: text)
    let word = suffix.lowercased().hasSuffix("/s") ? suffix.dropLast(2) : Substring(suffix)
    var name = Substring(word.lowercased())
    var unit = bare
    if name.hasSuffix("bit") {
      unit = .bits
      name = name.dropLast(3)
    } else if name.hasSuffix("b") {
      // Who writes `20Mb` of a link may mean either.
      guard bare == .bytes || word.hasSuffix("B") else { return nil }
      unit = .bytes
      name = name.dropLast(name.hasSuffix("ib") ? 2 : 1)
    }
    let base: Double = unit == .bits ? 1000 : 1024
    let prefixes: [Substring: Double] = [
      "": 1, "k": base, "m": base * base, "g": base * base * base,
      "t": base * base * base * base,
    ]
    guard let prefix = prefixes[name] else { return nil }
    return whole(number, times: unit == .bits ? prefix / 8 : prefix, in: 1...1e15)
  }

  /// A bandwidth as links are named: `20 Mbit/s`.
  static func words(bytesPerSecond: Int) -> String {
    let bits = Double(bytesPerSecond) * 8
    let (value, unit) =
      bits >= 1e9
      ? (bits / 1e9, "Gbit/s") : bits >= 1e6 ? (bits / 1e6, "Mbit/s") : (bits / 1e3, "kbit/s")
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// The digits at the beginning of `text`, and the rest.
  private static func parts(of text: String) -> (number: Substring, rest: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    return (number, String(text.dropFirst(number.count)))
  }

  private static func whole(
    _ number: Substring, times factor: Double, in range: ClosedRange<Double>
  ) -> Int? {
    guard let value = Double(String(number)), range.contains((value * factor).rounded()) else {
      return nil
    }
    return Int((value * factor).rounded())
  }
}
