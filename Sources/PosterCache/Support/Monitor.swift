import Glibc

/// A value that only one thread at a time can touch, and on whose changes threads can wait.
///
/// A pthread mutex and condition variable on the monotonic clock. Use `Lock` where nobody waits.
package final class Monitor<Value> {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  package init(_ initial: sending Value) {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    value = initial
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    let status = (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, &attributes))
    pthread_condattr_destroy(&attributes)
    precondition(status == (0, 0), "pthread initialisation failed with \(status)")
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the value.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Wakes every thread that waits in ``wait(untilNanoseconds:for:)``.
  package func signal() {
    pthread_cond_broadcast(condition)
  }

  /// Waits until `body` returns something, calling it at once and after every signal.
  ///
  /// - Parameter deadline: asked for before each wait, with the lock held: the monotonic time in
  ///   nanoseconds at which to call `body` again without a signal, or `nil` for never.
  package func wait<Result>(
    untilNanoseconds deadline: (Value) -> UInt64?, for body: (inout Value) -> Result?
  ) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if let deadline = deadline(value) {
        var time = timespec(
          tv_sec: Int(deadline / nanosecondsPerSecond),
          tv_nsec: Int(deadline % nanosecondsPerSecond))
        pthread_cond_timedwait(condition, mutex, &time)
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
  }
}

// The mutex is what makes sharing the value safe.
extension Monitor: @unchecked Sendable {}
