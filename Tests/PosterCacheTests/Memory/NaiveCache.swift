@testable import PosterCache

/// A cache as its contract says, and as slow as that comes out: what others are compared with.
struct NaiveCache<Key: LookupKey, Value> {
  struct Item {
    let key: Key
    var value: Value
    let cost: Int
    var isSeen: Bool
  }

  let limit: Int
  /// The least recently used first.
  private(set) var items: [Item] = []
  private var pins: [Key: Int] = [:]

  init(limit: Int) {
    self.limit = limit
  }

  var totalCost: Int { items.reduce(0) { $0 + $1.cost } }
  var pinnedCost: Int { items.reduce(0) { isPinned($1.key) ? $0 + $1.cost : $0 } }

  /// What may go, in the order in which it would.
  var keysByEviction: [Key] {
    let unpinned = items.filter { !isPinned($0.key) }
    return (unpinned.filter { !$0.isSeen } + unpinned.filter(\.isSeen)).map(\.key)
  }

  func isPinned(_ key: Key) -> Bool { pins[key] != nil }

  mutating func value(for key: Key, isSeen: Bool) -> Value? {
    guard let index = items.firstIndex(where: { $0.key == key }) else { return nil }
    var item = items.remove(at: index)
    item.isSeen = item.isSeen || isSeen
    items.append(item)
    return item.value
  }

  mutating func insert(_ value: Value, for key: Key, cost: Int, isSeen: Bool) -> Bool {
    let wasSeen = items.first { $0.key == key }?.isSeen ?? false
    items.removeAll { $0.key == key }
    guard cost * 10 <= limit, pinnedCost + cost <= limit else { return false }
    trim(to: limit - cost)
    let isSeen = isSeen || wasSeen || isPinned(key)
    items.append(Item(key: key, value: value, cost: cost, isSeen: isSeen))
    return true
  }

  mutating func trim(to cost: Int) {
    while totalCost > cost, let next = keysByEviction.first {
      items.removeAll { $0.key == next }
    }
  }

  mutating func remove(where isGone: (Key) -> Bool) {
    items.removeAll { isGone($0.key) }
  }

  mutating func renew(where isRenewed: (Key) -> Bool, _ renewed: (Value) -> Value) {
    for index in items.indices where isRenewed(items[index].key) {
      items[index].value = renewed(items[index].value)
    }
  }

  mutating func pin(_ key: Key) {
    pins[key, default: 0] += 1
    if let index = items.firstIndex(where: { $0.key == key }) { items[index].isSeen = true }
  }

  /// Whether there was a pin to take back.
  mutating func unpin(_ key: Key) -> Bool {
    guard let count = pins[key] else { return false }
    pins[key] = count == 1 ? nil : count - 1
    if count == 1 { _ = value(for: key, isSeen: true) }
    return true
  }
}
