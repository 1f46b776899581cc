/// A place in the order of eviction: the smallest goes first.
///
/// The rank stands in the two upper bits, so that one table in key order holds prefetched posters
/// nobody has looked at, then the others by their last use, then the pinned ones: finding the next
/// victim is reading the first row, and a pinned first row says that there is none.
struct RecencyKey: FixedSizeRow, Hashable {
  enum Rank: UInt64 {
    case unseen, seen, pinned
  }

  static let size = 8
  /// What fits below the rank: a billion uses a second for 146 years.
  static let maximumTick = UInt64(1) << 62 - 1
  let value: UInt64

  init(rank: Rank, tick: UInt64) {
    value = rank.rawValue << 62 | tick
  }

  init(_ reader: inout RowReader) {
    value = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(value)
  }

  var isPinned: Bool { value >> 62 == Rank.pinned.rawValue }
}
