import Glibc

/// Which boot of the machine this is.
enum Boot {
  /// The 128 bits of `/proc/sys/kernel/random/boot_id`; zero where that cannot be read.
  static let current: (high: UInt64, low: UInt64) = {
    guard
      let file = try? FileDescriptor(opening: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY)
    else { return (0, 0) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = retryingOnInterrupt { read(file.number, &bytes, bytes.count) }
    let digits = bytes[..<max(0, count)].filter { $0 != UInt8(ascii: "-") }.prefix(32)
    let text = String(decoding: digits, as: UTF8.self)
    guard text.count == 32, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return (0, 0) }
    return (high, low)
  }()
}
