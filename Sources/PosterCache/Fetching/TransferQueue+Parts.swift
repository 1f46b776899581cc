extension TransferQueue {
  /// What makes two requests one: pages differ by who asks, pictures do not.
  struct TransferKey: Hashable {
    let key: CacheKey
    /// Two addresses may share a cache key by accident.
    let address: PosterAddress
    let kind: FetchRequest.Kind

    init(_ request: FetchRequest) {
      key = request.key
      address = request.address
      kind = request.kind
    }

    /// The cache key is hash enough.
    func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }
  }

  /// What limits apply to: one server, not one name.
  struct HostKey: Hashable {
    let name: String
    let port: Int

    init(_ address: PosterAddress) {
      name = address.host
      port = address.port
    }
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
      case transfer(TransferID)
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

  /// A transfer that somebody wants. It waits in a queue, waits out a delay, or runs.
  struct Transfer {
    let request: FetchRequest
    let host: Int
    var tickets: InlineArray<3, TicketList> = .init(repeating: TicketList())
    var tries = 0
    var isRunning = false
    var queueEntry: Entry?
    var delayEntry: UInt64?
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

  /// What is known of a host.
  struct Host {
    let key: HostKey
    let limits: HostLimits
    var limiter: RateLimiter?
    /// Transfers waiting, delayed and running.
    var transferCount = 0
    var runningCount = 0
    var queuedCount = 0
    var queue = Heap<Entry>()
    /// No request before this time, because the host said so.
    var heldUntil: UInt64 = 0
    /// Its entry among the hosts that may start something.
    var offered: Entry?
    var wakeEntry: UInt64?
    var wakeTime: UInt64 = 0

    init(key: HostKey, limits: HostLimits) {
      self.key = key
      self.limits = limits
      limiter = limits.requestsPerSecond.map { RateLimiter(requestsPerSecond: $0) }
    }

    var hasConnection: Bool { runningCount < limits.connections }

    /// Whether forgetting it would change nothing.
    func isForgettable(now: UInt64) -> Bool {
      transferCount == 0 && heldUntil <= now && limiter?.isIdle(now: now) ?? true
    }

    /// When the next request may start, as far as time limits it.
    var opening: UInt64 { max(heldUntil, limiter?.nextStart ?? 0) }
  }

  /// The hosts by name. Those about which nothing needs to be remembered are forgotten whenever
  /// the table has doubled since it was last swept.
  struct HostTable {
    private var hosts: ContiguousArray<Host> = []
    private var indexes: [HostKey: Int] = [:]
    private var free: ContiguousArray<Int> = []
    private var sweepThreshold = 256

    /// Hosts in the table.
    var count: Int { indexes.count }

    subscript(index: Int) -> Host {
      get { hosts[index] }
      _modify { yield &hosts[index] }
    }

    /// Where `key` stands; it is added if missing.
    mutating func index(of key: HostKey, now: UInt64, limits: (HostKey) -> HostLimits) -> Int {
      if let index = indexes[key] { return index }
      if indexes.count >= sweepThreshold { sweep(now: now) }
      let host = Host(key: key, limits: limits(key))
      let index: Int
      if let vacant = free.popLast() {
        index = vacant
        hosts[index] = host
      } else {
        index = hosts.count
        hosts.append(host)
      }
      indexes[key] = index
      return index
    }

    private mutating func sweep(now: UInt64) {
      for (key, index) in indexes where hosts[index].isForgettable(now: now) {
        indexes[key] = nil
        free.append(index)
      }
      sweepThreshold = max(256, 2 * indexes.count)
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
