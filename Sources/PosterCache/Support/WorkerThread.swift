import CLinux
import Glibc

/// A thread of our own, for work that owns something for its whole life (curl's handles, the index
/// writer) or that blocks, which Swift's cooperative threads must not.
///
/// Blocks every signal but those that report a fault of its own: the application's signals are for
/// the application's threads, and writing to a connection that the peer has closed must not end the
/// process. (curl leaves SIGPIPE alone once `CURLOPT_NOSIGNAL` is set, and OpenSSL writes without
/// `MSG_NOSIGNAL`.) Threads that the thread itself starts inherit that.
package final class WorkerThread: Sendable {
  private let thread: pthread_t

  /// Starts a thread that runs `body` once.
  ///
  /// - Parameter name: what debuggers and `top -H` show; at most 15 bytes.
  package init(name: String, _ body: @escaping @Sendable () -> Void) {
    precondition(name.utf8.count <= 15, "thread name too long: \(name)")
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    // Inherited from the creator: so there is no moment at which the thread has another mask.
    var mask = Self.blockedSignals
    var creatorsMask = sigset_t()
    let masking = pthread_sigmask(SIG_SETMASK, &mask, &creatorsMask)
    precondition(masking == 0, "pthread_sigmask failed with \(masking)")
    let status = pthread_create(
      &thread, nil,
      { context in
        // Created by passRetained above and never null.
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        _ = postercache_name_thread(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    let restoring = pthread_sigmask(SIG_SETMASK, &creatorsMask, nil)
    precondition(restoring == 0, "pthread_sigmask failed with \(restoring)")
    precondition(status == 0, "pthread_create failed with \(status)")
    self.thread = thread
  }

  /// Waits until the thread has ended. Call it exactly once, never from the thread itself.
  package func join() {
    let status = pthread_join(thread, nil)
    precondition(status == 0, "pthread_join failed with \(status)")
  }

  /// Lets the thread end without anybody waiting for it. Call it instead of ``join()``.
  package func detach() {
    let status = pthread_detach(thread)
    precondition(status == 0, "pthread_detach failed with \(status)")
  }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// All but the synchronous ones, which a thread gets for what it does itself: blocking those is
  /// undefined (POSIX, `pthread_sigmask`).
  private static var blockedSignals: sigset_t {
    var signals = sigset_t()
    sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
      sigdelset(&signals, fault)
    }
    return signals
  }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
