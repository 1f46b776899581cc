import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct DecodeQueueTests {
  private func name(
    _ number: Int, width: Int = 10, version: UInt64 = 0, allowsIncomplete: Bool = false
  ) -> DecodeQueue.Name {
    DecodeQueue.Name(
      image: ImageKey(
        poster: SamplePoster.request(number).key,
        rendition: Rendition(.fitting(PixelSize(width: width, height: 10)))),
      bodyHash: version, allowsIncomplete: allowsIncomplete)
  }

  private func interest(_ number: UInt64) -> DecodeQueue.Interest {
    DecodeQueue.Interest(number: number)
  }

  @Test func `a visible interest in a job of a prefetch has it begin next`() {
    var queue = DecodeQueue()
    for number in 0..<5 {
      _ = queue.interestWasAdded(
        interest(UInt64(number)), in: name(number), .prefetch, bodyBytes: 1, mustHold: false)
    }
    #expect(queue.workerBecameFree() == name(0))
    let joined = queue.interestWasAdded(
      interest(5), in: name(3), .visible, bodyBytes: 1, mustHold: false)
    #expect(joined == DecodeQueue.Addition(isNew: false, holdsBody: false))
    #expect(queue.workerBecameFree() == name(3))
    #expect(queue.isSeen(name(3)) && !queue.isSeen(name(0)))
    #expect(queue.jobDidFinish(name(3)) == [interest(3), interest(5)])
    // A visible interest that goes takes its urgency along.
    _ = queue.interestWasAdded(interest(6), in: name(4), .visible, bodyBytes: 1, mustHold: false)
    #expect(queue.interestWasDropped(interest(6)) == .ended)
    #expect(queue.workerBecameFree() == name(1))
  }

  @Test func `sizes, versions and incomplete pictures are jobs of their own`() {
    var queue = DecodeQueue()
    let names = [
      name(1), name(1, width: 20), name(1, version: 1), name(1, allowsIncomplete: true), name(2),
    ]
    for (number, name) in names.enumerated() {
      let addition = queue.interestWasAdded(
        interest(UInt64(number)), in: name, .visible, bodyBytes: 1, mustHold: false)
      #expect(addition?.isNew == true)
    }
    #expect(names.map { _ in queue.workerBecameFree() } == names)
    #expect(queue.workerBecameFree() == nil)
  }

  @Test func `waiting jobs refer to 32 MiB of encoded posters, and to what they must`() {
    var queue = DecodeQueue()
    let mebibyte = 1 << 20
    func add(_ number: Int, _ bytes: Int, mustHold: Bool = false) -> Bool? {
      queue.interestWasAdded(
        interest(UInt64(number)), in: name(number), .prefetch, bodyBytes: bytes, mustHold: mustHold
      )?.holdsBody
    }
    #expect(add(0, 31 * mebibyte) == true)
    #expect(add(1, 2 * mebibyte) == false)
    #expect(add(2, mebibyte) == true)
    #expect(queue.heldBytes == 32 * mebibyte)
    #expect(add(3, 2 * mebibyte, mustHold: true) == true)
    #expect(queue.workerBecameFree() == name(0))
    #expect(queue.heldBytes == 3 * mebibyte)
    // Whoever joins with the poster at hand leaves it there, now that there is room.
    let joined = queue.interestWasAdded(
      interest(4), in: name(1), .prefetch, bodyBytes: 2 * mebibyte, mustHold: false)
    #expect(joined == DecodeQueue.Addition(isNew: false, holdsBody: true))
    #expect(queue.interestWasDropped(interest(1)) == .ended)
    #expect(queue.interestWasDropped(interest(4)) == .endedJob(name(1)))
    #expect(queue.heldBytes == 3 * mebibyte)
    #expect(queue.interestWasDropped(interest(4)) == .tooLate)
  }

  @Test func `what runs when the queue shuts down ends without anybody`() {
    var queue = DecodeQueue()
    _ = queue.interestWasAdded(interest(0), in: name(0), .visible, bodyBytes: 1, mustHold: false)
    _ = queue.interestWasAdded(interest(1), in: name(1), .visible, bodyBytes: 1, mustHold: false)
    #expect(queue.workerBecameFree() == name(0))
    #expect(queue.didShutDown() == [interest(0), interest(1)])
    #expect(queue.workerBecameFree() == nil)
    #expect(queue.jobDidFinish(name(0)) == [])
    let refused = queue.interestWasAdded(
      interest(2), in: name(2), .visible, bodyBytes: 1, mustHold: true)
    #expect(refused == nil && queue.heldBytes == 0)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `random events lead to the same jobs as in a naive model`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var queue = DecodeQueue()
    var model = QueueModel()
    var lastInterest: UInt64 = 0
    let megabyte = 1 << 20
    for step in 0..<500 {
      let place: Comment = "seed \(seed), step \(step)"
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9:
        lastInterest += 1
        let name = name(.random(in: 0..<8, using: &random), version: .random(in: 0..<2))
        let priority = Priority.allCases.randomElement(using: &random)!  // not empty
        let bytes = megabyte * [0, 3, 12, 20].randomElement(using: &random)!  // not empty
        let mustHold = Int.random(in: 0..<10, using: &random) == 0
        let addition = queue.interestWasAdded(
          interest(lastInterest), in: name, priority, bodyBytes: bytes, mustHold: mustHold)
        let expected = model.add(lastInterest, name, priority, bytes, mustHold)
        try #require(addition == expected, place)
      case 9..<13:
        let number = UInt64.random(in: 0...lastInterest + 1, using: &random)
        let dropped = queue.interestWasDropped(interest(number))
        let expected = model.drop(number)
        try #require(dropped == expected, place)
      case 13..<16:
        let name = queue.workerBecameFree()
        let expected = model.start()
        try #require(name == expected, place)
      case 16..<19:
        guard let name = model.running.randomElement(using: &random) else { continue }
        let isSeen = model.isSeen(name)
        try #require(queue.isSeen(name) == isSeen, place)
        let told = queue.jobDidFinish(name).map(\.number)
        let expected = model.finish(name)
        try #require(told == expected, place)
      default:
        guard step > 450 else { continue }
        let told = queue.didShutDown().map(\.number)
        let expected = model.shutDown()
        try #require(told == expected, place)
      }
      try #require(queue.heldBytes == model.heldBytes, place)
      try #require(queue.waitingCount == model.waiting.count, place)
      try #require(queue.runningCount == model.running.count, place)
    }
    let left = model.endings.values.filter { $0 != 1 }
    #expect(left.isEmpty, "seed \(seed)")
    let open = Set(1...max(lastInterest, 1)).subtracting(model.endings.keys)
    let live = Set((model.waiting + model.runningJobs).flatMap { $0.interests.map(\.number) })
    #expect(open.subtracting(model.refused) == live, "seed \(seed)")
  }
}

/// The same rules as plainly as possible: everything is looked at each time.
private struct QueueModel {
  struct Job {
    let name: DecodeQueue.Name
    var interests: [(number: UInt64, priority: PosterCache.Priority)]
    var held: Int?
  }

  var waiting: [Job] = []
  var runningJobs: [Job] = []
  /// How often each interest has ended.
  var endings: [UInt64: Int] = [:]
  var refused: Set<UInt64> = []
  var isClosed = false

  var heldBytes: Int { waiting.reduce(0) { $0 + ($1.held ?? 0) } }
  var running: [DecodeQueue.Name] { runningJobs.map(\.name) }

  mutating func add(
    _ number: UInt64, _ name: DecodeQueue.Name, _ priority: PosterCache.Priority, _ bytes: Int,
    _ mustHold: Bool
  ) -> DecodeQueue.Addition? {
    if isClosed {
      refused.insert(number)
      return nil
    }
    if let place = runningJobs.firstIndex(where: { $0.name == name }) {
      runningJobs[place].interests.append((number, priority))
      return DecodeQueue.Addition(isNew: false, holdsBody: false)
    }
    let isNew = !waiting.contains { $0.name == name }
    let fits = mustHold || heldBytes + bytes <= 32 << 20
    if isNew { waiting.append(Job(name: name, interests: [], held: nil)) }
    let place = waiting.firstIndex { $0.name == name }!  // it is there now
    waiting[place].interests.append((number, priority))
    let holds = waiting[place].held == nil && fits
    if holds { waiting[place].held = bytes }
    return DecodeQueue.Addition(isNew: isNew, holdsBody: holds)
  }

  mutating func drop(_ number: UInt64) -> DecodeQueue.Drop {
    func index(_ jobs: [Job]) -> Int? {
      jobs.firstIndex { $0.interests.contains { $0.number == number } }
    }
    if let place = index(runningJobs) {
      runningJobs[place].interests.removeAll { $0.number == number }
      endings[number, default: 0] += 1
      return .ended
    }
    guard let place = index(waiting) else { return .tooLate }
    waiting[place].interests.removeAll { $0.number == number }
    endings[number, default: 0] += 1
    guard waiting[place].interests.isEmpty else { return .ended }
    return .endedJob(waiting.remove(at: place).name)
  }

  mutating func start() -> DecodeQueue.Name? {
    guard !isClosed else { return nil }
    for priority in [PosterCache.Priority.visible, .prefetch, .background] {
      let wanted = waiting.flatMap { job in
        job.interests.filter { $0.priority == priority }.map { ($0.number, job.name) }
      }
      guard let first = wanted.min(by: { $0.0 < $1.0 }) else { continue }
      let place = waiting.firstIndex { $0.name == first.1 }!  // it was found there
      runningJobs.append(waiting.remove(at: place))
      return first.1
    }
    return nil
  }

  func isSeen(_ name: DecodeQueue.Name) -> Bool {
    runningJobs.first { $0.name == name }?.interests.contains { $0.priority == .visible } ?? false
  }

  mutating func finish(_ name: DecodeQueue.Name) -> [UInt64] {
    let place = runningJobs.firstIndex { $0.name == name }!  // one that runs is finished
    let told = runningJobs.remove(at: place).interests.map(\.number).sorted()
    for number in told { endings[number, default: 0] += 1 }
    return told
  }

  mutating func shutDown() -> [UInt64] {
    isClosed = true
    let told = (waiting + runningJobs).flatMap { $0.interests.map(\.number) }.sorted()
    for number in told { endings[number, default: 0] += 1 }
    waiting = []
    for place in runningJobs.indices { runningJobs[place].interests = [] }
    return told
  }
}
