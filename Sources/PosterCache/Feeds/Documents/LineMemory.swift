/// Remembers which pictures a list has had lately, in constant memory: the last ``capacity`` different ones.
struct LineMemory: Sendable {
  /// How many pictures are remembered.
  static let capacity = 65_536

  private var known: Set<CacheKey> = []
  /// The same in the order in which they came, beginning anew when full.
  private var order: [CacheKey] = []
  private var oldest = 0

  /// Remembers a picture, and says whether it was not known.
  mutating func insert(_ key: CacheKey) -> Bool {
    guard known.insert(key).inserted else { return false }
    if order.count < Self.capacity {
      order.append(key)
    } else {
      known.remove(order[oldest])
      order[oldest] = key
      oldest = (oldest + 1) % Self.capacity
    }
    return true
  }
}
