import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ScrollTraceTests {
  @Test func `a sample without rows has no row offsets`() {
    #expect(ScrollTrace.Sample(seconds: 0, offset: 1).rowOffsets.isEmpty)
  }
}
