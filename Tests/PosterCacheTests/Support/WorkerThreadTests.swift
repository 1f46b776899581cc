import Glibc
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct WorkerThreadTests {
  private static let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
  private static let others = [
    SIGPIPE, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGHUP, SIGPROF,
  ]

  @Test func `a thread leaves signals to others, but for its own faults`() {
    let before = signalMask()
    let inside = Monitor<[CInt: Bool]>([:])
    WorkerThread(name: "signals") {
      let mask = signalMask()
      inside.withLock { $0 = mask }
    }.join()
    let mask = inside.withLock { $0 }
    for signal in Self.faults { #expect(mask[signal] == false, "\(signal)") }
    for signal in Self.others { #expect(mask[signal] == true, "\(signal)") }
    #expect(signalMask() == before)
  }

  @Test func `writing to a closed pipe is an error, not the end`() async {
    // In a process of its own, whose SIGPIPE ends it.
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      let outcome = Monitor<(written: Int, error: CInt, isPending: Bool)?>(nil)
      WorkerThread(name: "pipe") {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        close(ends[0])
        let written = write(ends[1], "x", 1)
        let error = errno
        close(ends[1])
        var pending = sigset_t()
        sigpending(&pending)
        outcome.withLock { $0 = (written, error, sigismember(&pending, SIGPIPE) == 1) }
      }.join()
      let result = try #require(outcome.withLock { $0 })
      #expect(result == (-1, EPIPE, true))
    }
  }
}

/// Which signals the calling thread blocks.
private func signalMask() -> [CInt: Bool] {
  var mask = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &mask)
  return Dictionary(
    uniqueKeysWithValues: (1..<32 as Range<CInt>).map { ($0, sigismember(&mask, $0) == 1) })
}
