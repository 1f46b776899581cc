import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct QueuedFetchingTests {
  private func ask(_ item: Int) -> WindowAsk { WindowAsk(WindowCell(section: 0, item: item)) }

  /// A link of 1 MB/s and 100 ms, pictures of 50 KB, and a last one of 200 KB.
  private func fetching() -> QueuedFetching {
    QueuedFetching(
      SimulatedPictures(sizes: [Array(repeating: 50_000, count: 20) + [200_000]]),
      bytesPerSecond: 1e6, latency: 0.1)
  }

  /// Lets everything happen up to a time, or until nothing is on its way.
  private func run(
    _ fetching: inout QueuedFetching, until end: Double = .infinity
  ) -> [(seconds: Double, ask: WindowAsk)] {
    var arrivals: [(Double, WindowAsk)] = []
    while let time = fetching.nextTime(), time <= end {
      fetching.advance(to: time)
      arrivals += fetching.takeArrivals().map { (time, $0) }
    }
    if end < .infinity { fetching.advance(to: end) }
    return arrivals
  }

  @Test func `a new connection costs twice the latency, a used one once`() {
    var fetching = fetching()
    fetching.begin(ask(0), isVisible: true)
    var arrivals = run(&fetching)
    #expect(arrivals.map(\.ask) == [ask(0)])
    #expect(abs(arrivals[0].seconds - 0.25) < 1e-6)
    fetching.begin(ask(1), isVisible: true)
    arrivals = run(&fetching)
    #expect(abs(arrivals[0].seconds - 0.4) < 1e-6)
    #expect(fetching.takeReceived().map(\.bytes) == [50_000, 50_000])
    #expect(fetching.reconnects == 0)
  }

  @Test func `transfers at once share the link, and the queue learns how fast it is`() {
    var fetching = fetching()
    for item in 0..<4 { fetching.begin(ask(item), isVisible: true) }
    let arrivals = run(&fetching)
    #expect(arrivals.count == 4)
    #expect(arrivals.allSatisfy { abs($0.seconds - 0.4) < 1e-6 })
    fetching.begin(ask(4), isVisible: true)
    _ = run(&fetching)
    fetching.begin(ask(5), isVisible: true)
    let figures = fetching.figures
    // While it came it came at 1 MB/s; alone on a used connection, the first byte takes 0.1 s.
    let rate = figures?.bytesPerSecond ?? 0
    let latency = figures?.firstByteSeconds ?? 0
    #expect(abs(rate - 1e6) < 100)
    #expect(abs(latency - 0.1) < 1e-6)
    #expect(figures?.meanBytes == 50_000)
  }

  @Test func `what is stopped closes its connection and is continued later`() {
    var fetching = fetching()
    fetching.begin(ask(20), isVisible: true)
    _ = run(&fetching, until: 0.25)
    #expect(fetching.bytesLeft.map { Int($0.bytes.rounded()) } == [150_000])
    fetching.drop(ask(20))
    #expect(fetching.reconnects == 1)
    #expect(fetching.cancelled.receiving == 1)
    #expect(fetching.takeReceived().map(\.bytes) == [50_000])
    #expect(run(&fetching).isEmpty)
    fetching.begin(ask(20), isVisible: true)
    let arrivals = run(&fetching)
    // Another connection: 0.2 s, and 150 KB.
    #expect(abs(arrivals[0].seconds - 0.6) < 1e-3)
  }

  @Test func `what has not begun is stopped, too, and what is nearly done is finished`() {
    var fetching = fetching()
    fetching.begin(ask(0), isVisible: true)
    _ = run(&fetching, until: 0.1)
    fetching.drop(ask(0))
    #expect(fetching.cancelled.requesting == 1)
    #expect(fetching.reconnects == 1)
    fetching.begin(ask(1), isVisible: true)
    // From 0.3 s on, 50 ms long: 10 KB are left at 0.34 s.
    _ = run(&fetching, until: 0.34)
    fetching.drop(ask(1))
    #expect(fetching.cancelled.finishing == 1)
    #expect(fetching.reconnects == 1)
    #expect(run(&fetching).map(\.ask) == [ask(1)])
  }

  @Test func `a queued one is forgotten for nothing`() {
    var fetching = fetching()
    for item in 0..<20 { fetching.begin(ask(item), isVisible: true) }
    fetching.drop(ask(19))
    #expect(fetching.cancelled.queued == 1)
    #expect(fetching.reconnects == 0)
    #expect(run(&fetching).count == 19)
  }

  @Test func `a prefetch that becomes visible goes on`() {
    var fetching = fetching()
    fetching.begin(ask(0), isVisible: false)
    _ = run(&fetching, until: 0.1)
    fetching.screenDidChange { _ in true }
    fetching.screenDidChange { _ in false }
    let arrivals = run(&fetching)
    #expect(arrivals.map(\.ask) == [ask(0)])
    #expect(abs(arrivals[0].seconds - 0.25) < 1e-6)
    #expect(fetching.cancelled.total == 0)
  }

  @Test func `at the end, what is under way counts as far as it has come`() {
    var fetching = fetching()
    fetching.begin(ask(20), isVisible: false)
    _ = run(&fetching, until: 0.3)
    fetching.end()
    #expect(fetching.takeReceived().map(\.bytes) == [100_000])
    #expect(fetching.nextTime() == nil)
  }
}
