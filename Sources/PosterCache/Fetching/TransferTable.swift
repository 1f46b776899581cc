/// The transfers of a ``TransferQueue`` and who wants them.
///
/// Knows nothing of what runs when. Every call takes (amortised) constant time.
struct TransferTable {
  typealias TransferID = TransferQueue.TransferID
  typealias Transfer = TransferQueue.Transfer
  typealias TransferKey = TransferQueue.TransferKey
  typealias TicketPlace = TransferQueue.TicketPlace

  private var transfers: ContiguousArray<Transfer> = []
  private var free: ContiguousArray<TransferID> = []
  private var numbers: [TransferKey: TransferID] = [:]
  private var tickets: [Ticket: TicketPlace] = [:]

  /// The numbers of all transfers, in no order.
  var all: some Collection<TransferID> { numbers.values }

  /// A transfer; one that was removed is there until its number is used again.
  subscript(id: TransferID) -> Transfer {
    get { transfers[id] }
    _modify { yield &transfers[id] }
  }

  /// The transfer that does what a request with this key asks for.
  func transfer(for key: TransferKey) -> TransferID? { numbers[key] }

  // MARK: - Transfers

  /// Adds a transfer that nobody wants yet; there must be none with `key`, which is its request's.
  mutating func insert(_ transfer: Transfer, for key: TransferKey) -> TransferID {
    let id = free.popLast() ?? transfers.count
    if id < transfers.count { transfers[id] = transfer } else { transfers.append(transfer) }
    numbers[key] = id
    return id
  }

  /// Forgets a transfer that has no tickets left.
  mutating func remove(_ id: TransferID) {
    numbers[TransferKey(transfers[id].request)] = nil
    free.append(id)
  }

  // MARK: - Tickets

  mutating func add(_ ticket: Ticket, priority: Priority, to id: TransferID) {
    let previous = tickets.updateValue(
      TicketPlace(transfer: id, priority: priority), forKey: ticket)
    precondition(previous == nil, "ticket \(ticket.number) used twice")
    transfers[id].tickets[priority.rawValue].append(ticket)
  }

  /// Removes `ticket` and says whose it was; `nil` if it is none.
  mutating func remove(_ ticket: Ticket) -> TransferID? {
    guard let place = tickets.removeValue(forKey: ticket) else { return nil }
    let (id, list) = (place.transfer, place.priority.rawValue)
    transfers[id].tickets[list].count -= 1
    if transfers[id].tickets[list].isMostlyStale {
      transfers[id].tickets[list].removeStale(exceptIn: tickets)
    }
    return id
  }

  /// Removes all tickets of a transfer: those of the highest priority first, the oldest of those first.
  mutating func removeTickets(of id: TransferID) -> [Ticket] {
    var removed: [Ticket] = []
    for priority in Priority.allCases.reversed() {
      for ticket in transfers[id].tickets[priority.rawValue].all
      where tickets.removeValue(forKey: ticket) != nil {
        removed.append(ticket)
      }
    }
    return removed
  }

  /// The best of a transfer's tickets, `nil` if it has none.
  mutating func rank(of id: TransferID) -> TransferQueue.Rank? {
    for priority in Priority.allCases.reversed() {
      let first = transfers[id].tickets[priority.rawValue].first(in: tickets)
      if let first { return TransferQueue.Rank(priority: priority, ticket: first) }
    }
    return nil
  }
}
