import CXXHash

/// The XXH3-64 of `bytes` (seed 0).
func xxh3(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  XXH3_64bits(bytes.baseAddress, bytes.count)
}

/// XXH3-64 over several pieces; the same value as `xxh3` over their concatenation.
struct StreamingHash: ~Copyable {
  private let state: OpaquePointer

  init() {
    // Allocation is the only way this can fail; like every allocation in Swift, that traps.
    state = XXH3_createState()!
    XXH3_64bits_reset(state)
  }

  deinit {
    XXH3_freeState(state)
  }

  /// Forgets what was fed, so that one state serves many hashes.
  mutating func reset() {
    XXH3_64bits_reset(state)
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    XXH3_64bits_update(state, bytes.baseAddress, bytes.count)
  }

  func digest() -> UInt64 {
    XXH3_64bits_digest(state)
  }
}
