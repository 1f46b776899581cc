import Glibc

/// Which boot of a machine something was done in.
struct Boot: Equatable {
  var high: UInt64 = 0
  var low: UInt64 = 0

  /// Not known; equal to no boot that is.
  static let unknown = Boot()

  /// This one, from `/proc/sys/kernel/random/boot_id`; unknown where that cannot be read.
  static let current: Boot = {
    guard
      let file = try? FileDescriptor(opening: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY)
    else { return .unknown }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = retryingOnInterrupt { read(file.number, &bytes, bytes.count) }
    let digits = bytes[..<max(0, count)].filter { $0 != UInt8(ascii: "-") }.prefix(32)
    return Boot(digits: String(decoding: digits, as: UTF8.self)) ?? .unknown
  }()
}

extension Boot {
  /// Reads 32 hexadecimal digits.
  init?(digits: some StringProtocol) {
    guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
      let low = UInt64(digits.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// 32 hexadecimal digits.
  var digits: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
