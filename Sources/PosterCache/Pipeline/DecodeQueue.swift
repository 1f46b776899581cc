/// Which posters wait to be decoded, and which of them is next.
///
/// A struct without clock, lock or thread. A job is one picture in one rendition, decoded once however
/// many want it; each of them is an interest, which ends exactly once: with the job, dropped, or with the
/// shutdown. The next job is the one whose most urgent interest is the most urgent of all; of several the
/// one that was wanted earliest. What nobody wants any more is forgotten while it waits; a decode that
/// has begun goes on, and what comes of it is kept.
struct DecodeQueue {
  /// What is decoded. Two versions of a poster are two jobs.
  struct Name: Hashable, Sendable {
    let image: ImageKey
    /// ``PosterBody/contentHash`` of the encoded poster.
    let bodyHash: UInt64
    let allowsIncomplete: Bool
  }

  /// Somebody who waits for a job; numbers count up in the order in which they came.
  struct Interest: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: Interest, right: Interest) -> Bool { left.number < right.number }
  }

  /// Bytes of encoded posters that waiting jobs refer to, at most, but for those that must be.
  static let maximumHeldBytes = 32 << 20

  private struct Job {
    var interests: [Interest: Priority] = [:]
    /// Its place among those that wait; `nil` while it runs or nobody wants it.
    var rank: Rank?
    var isRunning = false
    /// Bytes of the encoded poster, if the job refers to it while it waits.
    var heldBytes: Int?
  }

  /// The order in which jobs are decoded: no two have an interest in common.
  private struct Rank: Comparable {
    let priority: Priority
    let interest: Interest

    static func < (left: Rank, right: Rank) -> Bool {
      left.priority != right.priority
        ? left.priority > right.priority : left.interest < right.interest
    }
  }

  /// A rank that a job has, or had: places that are out of date are passed over.
  private struct Place: Comparable {
    let rank: Rank
    let name: Name

    static func < (left: Place, right: Place) -> Bool { left.rank < right.rank }
    static func == (left: Place, right: Place) -> Bool { left.rank == right.rank }
  }

  private var jobs: [Name: Job] = [:]
  private var names: [Interest: Name] = [:]
  private var order = Heap<Place>()
  /// Bytes of encoded posters that waiting jobs refer to.
  private(set) var heldBytes = 0
  /// Jobs that wait.
  private(set) var waitingCount = 0
  /// Jobs that are being decoded.
  private(set) var runningCount = 0
  /// Nothing more is begun.
  private(set) var isClosed = false

  /// What became of an interest.
  struct Addition: Equatable {
    /// There was no such job yet.
    var isNew = false
    /// The job is to refer to the encoded poster that came with the interest.
    var holdsBody = false
  }

  /// Notes that somebody wants a picture decoded.
  ///
  /// - Parameters:
  ///   - interest: later than all before.
  ///   - bodyBytes: the length of the encoded poster that is at hand.
  ///   - mustHold: refer to it, however many bytes are referred to.
  /// - Returns: `nil` if the queue is closed.
  mutating func interestWasAdded(
    _ interest: Interest, in name: Name, _ priority: Priority, bodyBytes: Int, mustHold: Bool
  ) -> Addition? {
    guard !isClosed else { return nil }
    var addition = Addition()
    if jobs[name] == nil {
      jobs[name] = Job()
      waitingCount += 1
      addition.isNew = true
    }
    names[interest] = name
    jobs[name]?.interests[interest] = priority
    guard jobs[name]?.isRunning == false else { return addition }
    if jobs[name]?.heldBytes == nil, mustHold || heldBytes + bodyBytes <= Self.maximumHeldBytes {
      jobs[name]?.heldBytes = bodyBytes
      heldBytes += bodyBytes
      addition.holdsBody = true
    }
    let rank = Rank(priority: priority, interest: interest)
    if let earlier = jobs[name]?.rank, earlier < rank { return addition }
    place(name, rank)
    return addition
  }

  /// What became of a dropped interest.
  enum Drop: Equatable {
    /// It had ended already.
    case tooLate
    /// Its job is still wanted, or running.
    case ended
    /// Its job was wanted by nobody else, and is forgotten.
    case endedJob(Name)
  }

  /// Notes that somebody does not want a picture any more.
  mutating func interestWasDropped(_ interest: Interest) -> Drop {
    guard let name = names.removeValue(forKey: interest), let job = jobs[name] else {
      return .tooLate
    }
    jobs[name]?.interests[interest] = nil
    if job.isRunning { return .ended }
    guard job.interests.count == 1 else {
      if job.rank?.interest == interest, let rank = jobs[name].flatMap({ Self.rank(of: $0) }) {
        place(name, rank)
      }
      return .ended
    }
    jobs[name] = nil
    waitingCount -= 1
    heldBytes -= job.heldBytes ?? 0
    forgetOldPlaces()
    return .endedJob(name)
  }

  /// The job to decode now, if one waits; it runs from now on.
  mutating func workerBecameFree() -> Name? {
    while let place = order.removeFirst() {
      guard var job = jobs[place.name], job.rank == place.rank else { continue }
      job.rank = nil
      job.isRunning = true
      heldBytes -= job.heldBytes ?? 0
      job.heldBytes = nil
      jobs[place.name] = job
      waitingCount -= 1
      runningCount += 1
      return place.name
    }
    return nil
  }

  /// Whether somebody who wants a running job is looking at its place.
  func isSeen(_ name: Name) -> Bool {
    jobs[name]?.interests.values.contains(.visible) ?? false
  }

  /// Notes that a running job is done.
  ///
  /// - Returns: those who are to be told, the earliest first.
  mutating func jobDidFinish(_ name: Name) -> [Interest] {
    guard let job = jobs.removeValue(forKey: name), job.isRunning else {
      preconditionFailure("a job that does not run is done: \(name)")
    }
    runningCount -= 1
    return end(job)
  }

  /// Begins nothing more and forgets what waits.
  ///
  /// - Returns: those who are to be told that nothing comes of it, those of running jobs included.
  mutating func didShutDown() -> [Interest] {
    isClosed = true
    var ended: [Interest] = []
    for (name, job) in jobs {
      ended += end(job)
      jobs[name] = nil
      guard job.isRunning else { continue }
      var job = job
      job.interests = [:]
      jobs[name] = job
    }
    order = Heap()
    heldBytes = 0
    waitingCount = 0
    return ended.sorted()
  }

  // MARK: - Private

  private mutating func end(_ job: Job) -> [Interest] {
    for interest in job.interests.keys { names[interest] = nil }
    return job.interests.keys.sorted()
  }

  private static func rank(of job: Job) -> Rank? {
    job.interests.map { Rank(priority: $1, interest: $0) }.min()
  }

  private mutating func place(_ name: Name, _ rank: Rank) {
    jobs[name]?.rank = rank
    order.insert(Place(rank: rank, name: name))
    forgetOldPlaces()
  }

  /// Keeps places that are out of date from outnumbering the others.
  private mutating func forgetOldPlaces() {
    guard order.count > 2 * waitingCount + 16 else { return }
    order.removeAll { [jobs] in jobs[$0.name]?.rank != $0.rank }
  }
}
