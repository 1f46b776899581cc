extension TransferQueue {
  /// What makes two requests one: pages differ by who asks, and about which version, pictures do not.
  struct TransferKey: Hashable {
    let key: CacheKey
    /// Two addresses may share a cache key by accident.
    let address: PosterAddress
    let kind: FetchRequest.Kind
    /// That a version is still right says nothing to whoever does not have it.
    let pageValidators: FetchRequest.Validators?

    init(_ request: FetchRequest) {
      key = request.key
      address = request.address
      kind = request.kind
      pageValidators = request.pageValidators
    }

    /// The cache key is hash enough.
    func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }
  }

  /// Highest priority first, then the oldest ticket.
  struct Rank: Comparable {
    let priority: Priority
    let ticket: Ticket

    static func < (left: Rank, right: Rank) -> Bool {
      left.priority != right.priority
        ? left.priority > right.priority : left.ticket < right.ticket
    }
  }

  /// An element of a queue. Whatever it points to remembers its current entry; others are stale.
  struct Entry: Comparable {
    let rank: Rank
    /// Tells this entry from earlier ones with the same rank.
    let serial: UInt64
    /// A transfer or a host.
    let index: Int

    static func == (left: Entry, right: Entry) -> Bool { left.serial == right.serial }

    static func < (left: Entry, right: Entry) -> Bool {
      left.rank != right.rank ? left.rank < right.rank : left.serial < right.serial
    }
  }

  /// A moment at which something may go on.
  struct Wake: Comparable {
    enum Target {
      /// A transfer that waits for its next try.
      case transfer(TransferID)
      /// A transfer in flight that was to be done by now, as nobody wants it.
      case unwanted(TransferID)
      case host(Int)
    }

    let time: UInt64
    let serial: UInt64
    let target: Target

    static func == (left: Wake, right: Wake) -> Bool { left.serial == right.serial }

    static func < (left: Wake, right: Wake) -> Bool {
      left.time != right.time ? left.time < right.time : left.serial < right.serial
    }
  }

  /// Where a live ticket counts.
  struct TicketPlace {
    let transfer: TransferID
    let priority: Priority
  }

  /// A transfer. It waits in a queue, waits out a delay, or is in flight; nobody has to want it any
  /// more in the last case, if it was nearly done when the last ticket was dropped.
  struct Transfer {
    var request: FetchRequest
    let host: Int
    var tickets: InlineArray<3, TicketList> = .init(repeating: TicketList())
    var tries = 0
    /// As what it counts while it is in flight; `nil` if it is not.
    var runsAs: Priority?
    /// Whether nothing else of its host was in flight when it started.
    var isAlone = false
    var queueEntry: Entry?
    var delayEntry: UInt64?
    /// While nobody wants it.
    var unwantedEntry: UInt64?
  }

  /// One transfer's tickets of one priority, oldest first, dropped ones among them.
  struct TicketList {
    private(set) var all: ContiguousArray<Ticket> = []
    private var firstLive = 0
    /// The live ones.
    var count = 0

    mutating func append(_ ticket: Ticket) {
      all.append(ticket)
      count += 1
    }

    /// The oldest live ticket. Never looks at a dropped one twice.
    mutating func first(in live: [Ticket: TicketPlace]) -> Ticket? {
      while firstLive < all.count {
        if live[all[firstLive]] != nil { return all[firstLive] }
        firstLive += 1
      }
      return nil
    }

    var isMostlyStale: Bool { all.count > 2 * count + 16 }

    mutating func removeStale(exceptIn live: [Ticket: TicketPlace]) {
      all.removeAll { live[$0] == nil }
      firstLive = 0
    }
  }
}

extension InlineArray where Element == TransferQueue.TicketList {
  /// Live tickets of all priorities.
  var liveCount: Int {
    var sum = 0
    for index in indices { sum += self[index].count }
    return sum
  }
}
