import TestSupport
import Testing

@testable import PosterCache

/// When the disk tier's queue has uses written, and between which other operations.
@Suite(.timeLimit(.minutes(1)))
struct DiskQueueUseTests {
  private func use(_ number: Int, isSeen: Bool = false) -> DiskQueue.Touch {
    DiskQueue.Touch(key: SamplePoster.request(number).key, isSeen: isSeen)
  }

  /// What a batch does, as words: `use 1` (`seen 1` where somebody asked to see it), `barrier`.
  private func words(_ batch: DiskQueue.Batch?) -> [String] {
    guard case .operations(let operations) = batch else { return [] }
    return operations.flatMap { operation -> [String] in
      switch operation {
      case .touch(let touches):
        touches.map { touch in
          let number = (0..<10).first { SamplePoster.request($0).key == touch.key } ?? -1
          return "\(touch.isSeen ? "seen" : "use") \(number)"
        }
      case .barrier: ["barrier"]
      default: ["other"]
      }
    }
  }

  @Test func `uses are due a second after they were announced, and not before`() {
    var queue = DiskQueue()
    queue.usesBegan(now: 5)
    // A later announcement does not put it off.
    queue.usesBegan(now: 900)
    queue.postersWereUsed([use(1), use(2), use(1, isSeen: true)])
    let due = 5 + DiskQueue.touchDelayNanoseconds
    #expect(queue.deadline == due)
    #expect(!queue.isDue(now: due - 1))
    let early = words(queue.takeDueBatch(now: due - 1))
    let batch = words(queue.takeDueBatch(now: due))
    #expect(early == [])
    #expect(batch == ["use 2", "seen 1"])
    #expect(queue.deadline == nil && queue.isEmpty)
  }

  @Test
  func `uses stay before what was asked for after them, and behind what was asked for before`() {
    var queue = DiskQueue()
    queue.postersWereUsed([use(1)])
    let isQueued = queue.operationWasAsked(.barrier { _ in })
    #expect(isQueued)
    queue.postersWereUsed([use(2)])
    let batch = words(queue.takeDueBatch(now: 0))
    #expect(batch == ["use 1", "barrier", "use 2"])
  }

  @Test func `many uses are due at once, and a closed queue takes none`() {
    var queue = DiskQueue()
    queue.postersWereUsed((0..<DiskQueue.dueTouches - 1).map { use($0) })
    #expect(!queue.isDue(now: 0))
    queue.postersWereUsed([use(DiskQueue.dueTouches)])
    #expect(queue.isDue(now: 0))
    queue.close()
    guard case .operations = queue.takeDueBatch(now: 0) else {
      Issue.record("what waited when it was closed is to be written")
      return
    }
    queue.postersWereUsed([use(1)])
    guard case .end = queue.takeDueBatch(now: 0) else {
      Issue.record("nothing waits")
      return
    }
  }
}
