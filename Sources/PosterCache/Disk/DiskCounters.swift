import Synchronization

/// Reads that found their poster and that did not, and that the index has not been told of yet.
final class DiskCounters: Sendable {
  /// A number of each.
  struct Uses: Equatable {
    var hits = 0
    var misses = 0
  }

  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)

  /// Counts one read.
  func count(isHit: Bool) {
    if isHit {
      hits.add(1, ordering: .relaxed)
    } else {
      misses.add(1, ordering: .relaxed)
    }
  }

  /// Those so far.
  var current: Uses {
    Uses(hits: hits.load(ordering: .relaxed), misses: misses.load(ordering: .relaxed))
  }

  /// Forgets `uses`, which have been noted; what came meanwhile stays.
  func subtract(_ uses: Uses) {
    hits.subtract(uses.hits, ordering: .relaxed)
    misses.subtract(uses.misses, ordering: .relaxed)
  }
}
