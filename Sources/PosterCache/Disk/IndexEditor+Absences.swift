/// Remembering pictures that a server did not have, the latest of them.
extension IndexEditor {
  /// Notes that are kept at most.
  static let mostAbsences = 65_536
  /// What the rows of a note take up: 130 measured with 65,536 of them, keys being random.
  static let absenceRowBytes = 136
  /// What they give back at most.
  static let freedAbsenceRowBytes = 192
  /// Notes whose time is over that go when another one comes, at most.
  private static let expiredAtOnce = 2

  /// Notes that are kept at most in a directory with this limit: one for every 2 KiB of it, so that they
  /// take up a fifteenth.
  static func maximumAbsences(limit: UInt64) -> Int {
    Int(min(UInt64(mostAbsences), limit / 2048))
  }

  /// Enters `row`, whose place in the order is the last, in place of an earlier note. Where there are too
  /// many, the oldest go; where pinned posters leave no room for it, it is not entered.
  mutating func noteAbsence(_ key: CacheKey, _ row: AbsenceRow) throws(PosterError) {
    try forgetAbsence(key)
    let room = UInt64(Self.absenceRowBytes) + totals.pinnedBytes + overheadBytes
    guard room <= totals.limit else { return }
    // Otherwise what is over would stay until there are too many.
    for _ in 0..<Self.expiredAtOnce {
      guard let oldest = try oldestAbsence(), oldest.row.until <= row.notedAt else { break }
      try forget(oldest.key, oldest.row)
    }
    var row = row
    row.number = try transaction.absence(.backward).map { $0.number + 1 } ?? 0
    try transaction.put(.negative, key, row)
    try transaction.put(.negativeOrder, NumberRow(row.number), key)
    size.used += Self.absenceRowBytes
    try forgetAbsences(beyond: Self.maximumAbsences(limit: totals.limit))
  }

  /// Forgets what is remembered for `key`, if anything is.
  mutating func forgetAbsence(_ key: CacheKey) throws(PosterError) {
    guard let row = try transaction.absence(key) else { return }
    try forget(key, row)
  }

  /// Forgets the oldest notes until there are at most `count`.
  mutating func forgetAbsences(beyond count: Int) throws(PosterError) {
    var surplus = try transaction.count(.negative) - count
    while surplus > 0, let oldest = try oldestAbsence() {
      try forget(oldest.key, oldest.row)
      surplus -= 1
    }
  }

  private func oldestAbsence() throws(PosterError) -> (key: CacheKey, row: AbsenceRow)? {
    guard let oldest = try transaction.absence(.forward) else { return nil }
    guard let row = try transaction.absence(oldest.key), row.number == oldest.number else {
      throw .damagedIndex("the order of remembered absences")
    }
    return (oldest.key, row)
  }

  private mutating func forget(_ key: CacheKey, _ row: AbsenceRow) throws(PosterError) {
    try transaction.delete(.negative, key)
    try transaction.delete(.negativeOrder, NumberRow(row.number))
    size.used -= Self.freedAbsenceRowBytes
  }
}
