import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ListLockTests {
  private let directory = TemporaryDirectory()

  private func lock(_ name: String = "trending") throws -> ListLock {
    try ListLock(directory: directory.path, list: name)
  }

  @Test func `the second waits until the first lets go, and others do not`() async throws {
    let cache = try DiskCache(directory: directory.path)
    let (first, second, other) = (try lock(), try lock(), try lock("popular"))
    let events = Monitor<[String]>([])
    func note(_ event: String) { events.withLock { $0.append(event) } }
    try await first.acquire { note("first waits") }
    try await other.acquire { note("other waits") }
    let task = Task {
      try await second.acquire { events.withLock { $0.append("second waits") } }
      events.withLock { $0.append("second has it") }
    }
    // Not a wait that keeps a task's thread: with as many as there are processors, nobody would go on.
    while events.withLock({ $0.isEmpty }) { await Task.yield() }
    // Storing goes on meanwhile.
    #expect(cache.store(SamplePoster.make(1)) == nil)
    note("first lets go")
    first.release()
    try await task.value
    #expect(events.withLock { $0 } == ["second waits", "first lets go", "second has it"])
    second.release()
    try await first.acquire { note("first waits again") }
    #expect(events.withLock { $0 }.count == 3)
    first.release()
    other.release()
  }

  @Test func `whoever is cancelled stops waiting and leaves the lock to the next`() async throws {
    _ = try DiskCache(directory: directory.path)
    let (first, second, third) = (try lock(), try lock(), try lock())
    try await first.acquire {}
    let isWaiting = Monitor(false)
    let task = Task {
      try await second.acquire { isWaiting.withLock { $0 = true } }
    }
    while !isWaiting.withLock({ $0 }) { await Task.yield() }
    task.cancel()
    let result = await task.result
    #expect(throws: PosterError.self) { try result.get() }
    first.release()
    try await third.acquire {}
    third.release()
  }

  @Test func `a lock that nobody refers to any more is free`() async throws {
    _ = try DiskCache(directory: directory.path)
    do {
      let lost = try lock()
      try await lost.acquire {}
    }
    var hasWaited = false
    let next = try lock()
    try await next.acquire { hasWaited = true }
    #expect(!hasWaited)
    next.release()
  }

  @Test func `a directory without a cache has no lists to lock`() {
    let error = #expect(throws: PosterError.self) { try lock() }
    #expect(error?.code == .directoryUnavailable)
  }
}
