import Dispatch
import TestSupport
import Testing

@testable import PosterCache

/// Uses that many threads note at once.
@Suite(.timeLimit(.minutes(1)))
struct RecentUsesTests {
  private func key(_ number: Int) -> CacheKey { SamplePoster.request(number).key }

  @Test func `uses come back once each, in the order of the last one`() {
    let uses = RecentUses()
    for (time, number) in [1, 2, 3, 1].enumerated() {
      _ = uses.note(key(number), isSeen: number == 2, at: UInt64(100 + time))
    }
    let taken = uses.take()
    #expect(taken.map(\.key) == [2, 3, 1].map(key))
    #expect(taken.map(\.isSeen) == [true, false, false])
    #expect(uses.isEmpty && uses.take().isEmpty)
  }

  @Test func `who was seen once stays seen`() {
    let uses = RecentUses()
    _ = uses.note(key(1), isSeen: true, at: 1)
    _ = uses.note(key(1), isSeen: false, at: 2)
    #expect(uses.take().map(\.isSeen) == [true])
    _ = uses.note(key(1), isSeen: false, at: 3)
    #expect(uses.take().map(\.isSeen) == [false])
  }

  @Test func `threads' uses come in the order of their times`() {
    let uses = RecentUses()
    // Each thread notes every fourth time.
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for step in 0..<500 {
        let time = step * 4 + thread
        _ = uses.note(key(time), isSeen: false, at: UInt64(time))
      }
    }
    let isInOrder = uses.take().map(\.key) == (0..<2000).map(key)
    #expect(isInOrder)
  }

  @Test func `the first is announced, and again after the announcement has ended`() {
    let uses = RecentUses()
    #expect(uses.note(key(1), isSeen: true, at: 1) == .announce)
    #expect(uses.note(key(2), isSeen: true, at: 2) == .nothing)
    uses.endAnnouncement()
    #expect(uses.take().count == 2)
    #expect(uses.note(key(1), isSeen: true, at: 3) == .announce)
  }

  @Test func `many are to be written at once, and a stripe forgets its oldest`() {
    let uses = RecentUses()
    var hurried: [Int] = []
    for number in 0..<RecentUses.stripeLimit + 10 {
      let demand = uses.note(key(number), isSeen: false, at: UInt64(number))
      if demand == .hurry { hurried.append(number) }
    }
    #expect(hurried == [DiskQueue.dueTouches - 1])
    #expect(uses.areMany)
    let taken = uses.take()
    #expect(taken.count == RecentUses.stripeLimit)
    #expect(taken.first?.key == key(10))
    #expect(!uses.areMany)
  }

  /// A use is there before an announcement is ended and taken, or its own thread is told to announce it: so
  /// nothing is left where everybody who announces ends the announcement and takes.
  @Test func `no use is lost or left unannounced while threads note and take`() {
    for round in 0..<20 {
      let uses = RecentUses()
      let taken = Lock<Set<CacheKey>>([])
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for step in 0..<500 {
          let number = thread * 500 + step
          guard uses.note(key(number), isSeen: false, at: UInt64(number)) == .announce else {
            continue
          }
          uses.endAnnouncement()
          let keys = uses.take().map(\.key)
          taken.withLock { $0.formUnion(keys) }
        }
      }
      #expect(uses.isEmpty, "round \(round)")
      #expect(taken.withLock { $0 } == Set((0..<2000).map(key)), "round \(round)")
    }
  }
}
