/// Requests that are being looked for in the tiers, and what arrives for them meanwhile.
///
/// Between a look in vain and the moment at which the fetch thread knows of the request, the transfer of
/// another request for the same picture may end: then there is nothing to join any more, and the picture
/// would be transferred a second time. So whoever looks says so before, and the fetch thread asks here
/// when the request's turn has come.
///
/// Safe to use from any thread. Holds an entry for each picture that is just being looked for.
final class OpenLookups: Sendable {
  private struct Entry {
    var lookups = 0
    /// How many responses have arrived, and the last of them.
    var arrivals = 0
    var response: FetchResponse?
  }

  private let entries = Lock<[CacheKey: Entry]>([:])

  /// One look, from before it until the fetch thread knows of the request or nobody will tell it.
  final class Lookup: Sendable {
    private let table: OpenLookups
    private let key: CacheKey
    /// How many responses had arrived when it began: those are for earlier looks.
    private let arrivalsBefore: Int
    private let hasEnded = Lock(false)

    fileprivate init(_ table: OpenLookups, _ key: CacheKey, arrivalsBefore: Int) {
      self.table = table
      self.key = key
      self.arrivalsBefore = arrivalsBefore
    }

    deinit { _ = end() }

    /// Ends the look; what has arrived since it began, if anything has. Call it on the fetch thread, where
    /// nothing can arrive between this and joining or starting a transfer.
    func end() -> FetchResponse? {
      let isFirst = hasEnded.withLock { hasEnded in
        defer { hasEnded = true }
        return !hasEnded
      }
      return isFirst ? table.end(key, arrivalsBefore) : nil
    }
  }

  /// Begins a look for the picture that `key` names.
  func begin(_ key: CacheKey) -> Lookup {
    let arrivals = entries.withLock { entries in
      entries[key, default: Entry()].lookups += 1
      return entries[key]?.arrivals ?? 0
    }
    return Lookup(self, key, arrivalsBefore: arrivals)
  }

  /// Notes what has arrived and is in the tiers now, so far as these may keep it.
  func responseDidArrive(_ response: FetchResponse, for key: CacheKey) {
    entries.withLock { entries in
      guard entries[key] != nil else { return }
      entries[key]?.response = response
      entries[key]?.arrivals += 1
    }
  }

  private func end(_ key: CacheKey, _ arrivalsBefore: Int) -> FetchResponse? {
    entries.withLock { entries in
      guard var entry = entries[key] else {
        preconditionFailure("a look that ended before it began: \(key)")
      }
      entry.lookups -= 1
      entries[key] = entry.lookups == 0 ? nil : entry
      return entry.arrivals > arrivalsBefore ? entry.response : nil
    }
  }
}
