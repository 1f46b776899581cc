import FoundationEssentials

/// What is remembered about a picture that a server did not have: a row of table `negative`.
struct AbsenceRow: FixedSizeRow, Equatable {
  static let size = 36

  /// XXH3-64 of the canonical address with the directory's seed: two addresses that share a key by
  /// accident must not share this.
  var check: UInt64
  /// The place in the order in which the notes were made.
  var number: UInt64
  /// Milliseconds since 1970.
  var notedAt: Int64
  var until: Int64
  var status: UInt32

  var isPlausible: Bool {
    number <= RecencyKey.maximumTick && status <= 999
      && notedAt.magnitude <= Date.maximumMilliseconds.magnitude
      && until.magnitude <= Date.maximumMilliseconds.magnitude
  }
}

extension AbsenceRow {
  /// A row without its place in the order.
  ///
  /// - Returns: `nil` if the status is none.
  init?(_ absence: Absence, of address: PosterAddress, seed: UInt64) {
    guard (100...999).contains(absence.status) else { return nil }
    check = Self.check(address, seed: seed)
    number = 0
    notedAt = absence.notedAt.milliseconds
    until = absence.until.milliseconds
    status = UInt32(absence.status)
  }

  /// What the row says about `address`; nothing if it is about another one.
  func absence(of address: PosterAddress, seed: UInt64) -> Absence? {
    guard check == Self.check(address, seed: seed) else { return nil }
    return Absence(
      status: Int(status), notedAt: Date(milliseconds: notedAt), until: Date(milliseconds: until))
  }

  private static func check(_ address: PosterAddress, seed: UInt64) -> UInt64 {
    var canonical = address.canonical
    return canonical.withUTF8 { xxh3(UnsafeRawBufferPointer($0), seed: seed) }
  }
}

extension AbsenceRow {
  init(_ reader: inout RowReader) {
    check = reader.next()
    number = reader.next()
    notedAt = reader.next()
    until = reader.next()
    status = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(check)
    writer.append(number)
    writer.append(notedAt)
    writer.append(until)
    writer.append(status)
  }
}
