/// A link of a fixed bandwidth that all answers share, as a calculation in virtual time: who wants
/// to send is told when his bytes will have passed.
///
/// First come, first served; as everybody sends a little at a time, all get equal shares.
struct SharedLink {
  /// The bandwidth.
  let bytesPerSecond: Int
  /// When everything reserved so far will have passed, in monotonic nanoseconds.
  private var freeAt: UInt64 = 0

  /// - Parameter bytesPerSecond: at least 1.
  init(bytesPerSecond: Int) {
    precondition(bytesPerSecond > 0, "\(bytesPerSecond) bytes a second")
    self.bytesPerSecond = bytesPerSecond
  }

  /// How much one answer should send at a time: what passes in four milliseconds, from 256 bytes to
  /// 64 KiB.
  var quantum: Int { min(max(bytesPerSecond / 250, 256), 64 * 1024) }

  /// Reserves the link for `count` bytes that are ready to be sent at `ready`.
  ///
  /// - Returns: when the last of them will have passed.
  mutating func reserve(_ count: Int, readyAt ready: UInt64) -> UInt64 {
    freeAt = max(freeAt, ready) + UInt64(count) * 1_000_000_000 / UInt64(bytesPerSecond)
    return freeAt
  }
}
