/// What a process itself has learned about pictures that their server does not have: where there is no
/// disk tier, and until that has it.
///
/// Keeps the last 4,096 that were noted or looked at. Safe to use from any thread.
final class AbsenceTable: Sendable {
  private struct Note: Sendable {
    let address: PosterAddress
    let absence: Absence
  }

  private static let capacity = 4096

  private let table = Lock(LRUTable<Note>(limit: capacity))

  subscript(request: PosterRequest) -> Absence? {
    let note = table.withLock { $0.value(for: request.key) }
    return note?.address == request.address ? note?.absence : nil
  }

  func note(_ absence: Absence, of request: PosterRequest) {
    let note = Note(address: request.address, absence: absence)
    table.withLock { _ = $0.insert(note, for: request.key, cost: 1) }
  }

  func forget(_ key: CacheKey) {
    table.withLock { _ = $0.remove(key) }
  }
}
