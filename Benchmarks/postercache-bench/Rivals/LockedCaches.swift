import PosterCache
import Synchronization

/// What a program makes for itself: a dictionary behind a lock, by address. Keeps no order and has no limit.
final class LockedDictionary: Sendable {
  private let posters = Mutex<[String: StoredPoster]>([:])

  func insert(_ poster: StoredPoster, for name: String) {
    posters.withLock { $0[name] = poster }
  }

  func poster(for name: String) -> StoredPoster? {
    posters.withLock { $0[name] }
  }
}

/// The textbook's answer: a dictionary of places in a linked list, in which each hit moves to the front, behind
/// one lock.
final class LockedLRU: Sendable {
  private let list: Mutex<LinkedPosters>

  init(limitBytes: Int) {
    list = Mutex(LinkedPosters(limit: limitBytes))
  }

  func insert(_ poster: StoredPoster) {
    list.withLock { $0.insert(poster) }
  }

  func poster(for key: CacheKey) -> StoredPoster? {
    list.withLock { $0.poster(for: key) }
  }
}

private struct LinkedPosters {
  private struct Node {
    var poster: StoredPoster?
    var newer = 0
    var older = 0
  }

  private let limit: Int
  private var bytes = 0
  private var places: [CacheKey: Int] = [:]
  /// The first is the list's two ends.
  private var nodes = [Node()]
  private var vacant: [Int] = []

  init(limit: Int) {
    self.limit = limit
  }

  mutating func poster(for key: CacheKey) -> StoredPoster? {
    guard let place = places[key] else { return nil }
    unlink(place)
    linkAsNewest(place)
    return nodes[place].poster
  }

  mutating func insert(_ poster: StoredPoster) {
    if let place = places[poster.key] { remove(place) }
    while bytes + poster.body.count > limit, nodes[0].newer != 0 { remove(nodes[0].newer) }
    let place = vacant.popLast() ?? nodes.count
    if place == nodes.count { nodes.append(Node()) }
    nodes[place].poster = poster
    places[poster.key] = place
    bytes += poster.body.count
    linkAsNewest(place)
  }

  private mutating func remove(_ place: Int) {
    unlink(place)
    if let poster = nodes[place].poster {
      places[poster.key] = nil
      bytes -= poster.body.count
    }
    nodes[place].poster = nil
    vacant.append(place)
  }

  private mutating func unlink(_ place: Int) {
    let (newer, older) = (nodes[place].newer, nodes[place].older)
    nodes[newer].older = older
    nodes[older].newer = newer
  }

  private mutating func linkAsNewest(_ place: Int) {
    let newest = nodes[0].older
    nodes[place].newer = 0
    nodes[place].older = newest
    nodes[newest].newer = place
    nodes[0].older = place
  }
}
