/// The last keys of a sequence that may be endless: remembers ``limit`` different ones, in constant memory.
package struct RecentKeys: Sendable {
  /// How many keys are remembered: 1 MiB of them.
  package static let limit = 65_536

  private let limit: Int
  private var keys: Set<CacheKey> = []
  /// The same in the order in which they came; full, it begins at ``next``.
  private var order: [CacheKey] = []
  private var next = 0

  /// - Parameter limit: how many keys to remember, at least one. Default ``limit``.
  package init(limit: Int = Self.limit) {
    self.limit = limit
  }

  /// Whether `key` is one of them.
  package func contains(_ key: CacheKey) -> Bool { keys.contains(key) }

  /// Remembers `key` instead of the oldest one; returns `false` if it was remembered already.
  package mutating func insert(_ key: CacheKey) -> Bool {
    guard keys.insert(key).inserted else { return false }
    if order.count < limit {
      order.append(key)
    } else {
      keys.remove(order[next])
      order[next] = key
      next = (next + 1) % limit
    }
    return true
  }
}
