import CLinux
import Glibc

/// A thread of our own, for work that owns something for its whole life (curl's handles, the index
/// writer) or that blocks, which Swift's cooperative threads must not.
package final class WorkerThread: Sendable {
  private let thread: pthread_t

  /// Starts a thread that runs `body` once.
  ///
  /// - Parameter name: what debuggers and `top -H` show; at most 15 bytes.
  package init(name: String, _ body: @escaping @Sendable () -> Void) {
    precondition(name.utf8.count <= 15, "thread name too long: \(name)")
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        // Created by passRetained above and never null.
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        _ = postercache_name_thread(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    precondition(status == 0, "pthread_create failed with \(status)")
    self.thread = thread
  }

  /// Waits until the thread has ended. Call it exactly once, never from the thread itself.
  package func join() {
    let status = pthread_join(thread, nil)
    precondition(status == 0, "pthread_join failed with \(status)")
  }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
