import CXXHash

/// The 128-bit name under which a poster is stored: XXH3-128 (seed 0) of its canonical address.
///
/// Two addresses that share a key by accident do no harm: a tier compares the address, too, before
/// it hands out anything.
public struct CacheKey: Sendable, Hashable {
  /// The upper 64 bits.
  public let high: UInt64
  /// The lower 64 bits.
  public let low: UInt64

  /// The key of `address`.
  public init(_ address: PosterAddress) {
    self.init(hashing: address.canonical)
  }

  /// The key of what is called `name` and is no address.
  init(hashing name: String) {
    var name = name
    let hash = name.withUTF8 { XXH3_128bits($0.baseAddress, $0.count) }
    high = hash.high64
    low = hash.low64
  }

  /// A key from its two halves, as found in an index.
  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The key is uniformly distributed already: its lower half is hash enough.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }
}

extension CacheKey: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits, high half first.
  public var description: String {
    func hexadecimal(_ value: UInt64) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return hexadecimal(high) + hexadecimal(low)
  }
}
