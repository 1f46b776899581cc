/// A note that a server has no picture for a key, on its way into the index; told from another one about
/// the same key by its identity.
final class NotedAbsence: Sendable {
  let key: CacheKey
  let row: AbsenceRow

  init(_ key: CacheKey, _ row: AbsenceRow) {
    self.key = key
    self.row = row
  }
}
