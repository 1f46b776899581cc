#if POSTERCACHE_THREAD_SANITIZER
  import Glibc
#else
  import Synchronization
#endif

/// A value that only one thread at a time can touch.
///
/// Hold it briefly: never resume a continuation, call a caller's closure or run C that calls back
/// while inside `withLock`.
///
/// ThreadSanitizer does not see `Synchronization.Mutex` on Linux and reports races that are none.
/// Builds with `-D POSTERCACHE_THREAD_SANITIZER` therefore use a pthread mutex, which it does see;
/// all others use the mutex, which is a futex and half as dear.
package struct Lock<Value>: ~Copyable {
  #if POSTERCACHE_THREAD_SANITIZER
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initial: sending Value) {
      mutex = .allocate(capacity: 1)
      value = .allocate(capacity: 1)
      value.initialize(to: initial)
      let status = pthread_mutex_init(mutex, nil)
      precondition(status == 0, "pthread_mutex_init failed with \(status)")
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
      value.deinitialize(count: 1)
      value.deallocate()
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  #else
    private let mutex: Mutex<Value>

    package init(_ initial: consuming sending Value) {
      mutex = Mutex(initial)
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  #endif
}

// The mutex is what makes sharing the value safe.
extension Lock: @unchecked Sendable {}
