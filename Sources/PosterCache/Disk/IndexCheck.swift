import CIndexWalk
import Glibc

/// Looks at an index without trusting it.
enum IndexCheck {
  /// Walks every page of the index in `directory` in a process of its own, because LMDB trusts what it
  /// reads and a damaged page can end whoever reads it.
  ///
  /// - Returns: what is wrong, in words, or `nil`.
  static func damage(of directory: FileDescriptor) throws(PosterError) -> String? {
    var finding = [CChar](repeating: 0, count: 256)
    let status = postercache_walk_index(
      directory.number, UInt32(Index.Table.allCases.count),
      Index.maximumReaders, &finding, CInt(finding.count))
    guard status >= 0 else {
      throw PosterError(
        .resourcesExhausted, "cannot start a process that looks at the cache index",
        underlying: SystemError(call: "fork"))
    }
    guard status > 0 else { return nil }
    let words = String(
      decoding: finding.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // What an index claims to need may be nonsense: so it is, where there is room for a right one.
    guard status == 1 || status == 3 && Index.canMap else {
      throw PosterError(.resourcesExhausted, "cannot look at the cache index: \(words)")
    }
    return words
  }

  /// Checks that the tables of `index`, every page of which can be read, agree with each other.
  ///
  /// - Returns: what is wrong, in words, or `nil`.
  static func contradiction(in index: Index) throws(PosterError) -> String? {
    do throws(PosterError) {
      return try index.read { transaction throws(PosterError) in
        var sums = Sums()
        try transaction.forEachRow(.entries) { key, value throws(PosterError) in
          guard let key = CacheKey(bytes: key), let entry = EntryRow(bytes: value) else {
            throw .damagedIndex("a row of entries")
          }
          guard try transaction.recencyOwner(entry.recency) == key else {
            throw .damagedIndex("order of use")
          }
          sums.count(entry)
          return true
        }
        try sums.compare(with: transaction)
        try checkAbsences(transaction)
        try checkPages(transaction)
        return nil
      }
    } catch {
      guard error.code == .damagedIndex else { throw error }
      return error.message
    }
  }

  /// Checks that every note has its own place in the order in which they were made.
  private static func checkAbsences(_ transaction: IndexTransaction) throws(PosterError) {
    let count = try transaction.count(.negative)
    guard count <= IndexEditor.mostAbsences, count == (try transaction.count(.negativeOrder)) else {
      throw .damagedIndex("the number of remembered absences")
    }
    try transaction.forEachRow(.negative) { key, value throws(PosterError) in
      guard let key = CacheKey(bytes: key), let row = AbsenceRow(bytes: value) else {
        throw .damagedIndex("a row of negative")
      }
      let owner: CacheKey? = try transaction.row(.negativeOrder, NumberRow(row.number))
      guard owner == key else { throw .damagedIndex("the order of remembered absences") }
      return true
    }
  }

  /// Checks that what is kept of lists can be found. What is damaged inside its row, which has a checksum,
  /// is a miss for whoever reads it.
  private static func checkPages(_ transaction: IndexTransaction) throws(PosterError) {
    try transaction.forEachRow(.pages) { key, _ throws(PosterError) in
      guard CacheKey(bytes: key) != nil else { throw .damagedIndex("a row of pages") }
      return true
    }
  }

  /// What the rows of the entries come to.
  private struct Sums {
    private var totals = TotalsRow()
    private var segments: [UInt32: (bytes: UInt64, count: UInt32, end: UInt64)] = [:]

    mutating func count(_ entry: EntryRow) {
      let blockBytes = UInt64(entry.blockBytes)
      totals.entries += 1
      totals.bodyBytes += UInt64(entry.bodyLength)
      totals.liveBytes += blockBytes
      if entry.isPinned { totals.pinnedBytes += blockBytes }
      totals.nextTick = max(totals.nextTick, entry.tick + 1)
      totals.nextSequence = max(totals.nextSequence, entry.sequence + 1)
      var segment = segments[entry.segment] ?? (0, 0, 0)
      segment.bytes += blockBytes
      segment.count += 1
      segment.end = max(segment.end, entry.offset + blockBytes)
      segments[entry.segment] = segment
    }

    func compare(with transaction: IndexTransaction) throws(PosterError) {
      let stored = try transaction.totals()
      guard totals.entries == stored.entries, totals.bodyBytes == stored.bodyBytes,
        totals.liveBytes == stored.liveBytes, totals.pinnedBytes == stored.pinnedBytes,
        totals.nextTick <= stored.nextTick, totals.nextSequence <= stored.nextSequence,
        try transaction.count(.recency) == Int(totals.entries)
      else { throw .damagedIndex("totals") }
      var unentered = segments
      for (number, row) in try transaction.segments() {
        let segment = unentered.removeValue(forKey: number) ?? (0, 0, 0)
        guard segment.bytes == row.liveBytes, segment.count == row.liveCount,
          segment.end <= row.committedEnd, UInt64(number) < stored.nextSegment
        else { throw .damagedIndex("sums of segment \(number)") }
      }
      guard unentered.isEmpty else { throw .damagedIndex("a segment without a row") }
      _ = try transaction.pendingExtents()
    }
  }
}
