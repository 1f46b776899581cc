import CXXHash

/// The XXH3-64 of `bytes`.
func xxh3(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
  XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
}

/// XXH3-64 over several pieces; the same value as `xxh3` over their concatenation.
struct StreamingHash: ~Copyable {
  private let state: OpaquePointer
  private let seed: UInt64

  init(seed: UInt64) {
    // Allocation is the only way this can fail; like every allocation in Swift, that traps.
    state = XXH3_createState()!
    self.seed = seed
    XXH3_64bits_reset_withSeed(state, seed)
  }

  deinit {
    XXH3_freeState(state)
  }

  /// Forgets what was fed, so that one state serves many hashes.
  mutating func reset() {
    XXH3_64bits_reset_withSeed(state, seed)
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    XXH3_64bits_update(state, bytes.baseAddress, bytes.count)
  }

  func digest() -> UInt64 {
    XXH3_64bits_digest(state)
  }
}
