import Glibc
import Synchronization

/// A lock for a few nanoseconds' work on memory that hardly anybody else wants: taking it is one atomic
/// exchange, giving it back a plain store, half of what a mutex costs.
///
/// Whoever has to wait looks again for a moment, then lets others run, and at last sleeps for some
/// microseconds each time: the holder may have been interrupted, and a waiter of higher priority must not
/// keep it from going on. ThreadSanitizer sees it, being made of atomics in our own code.
struct SpinLock: ~Copyable {
  private let isTaken = Atomic<Bool>(false)

  /// Takes the lock, waiting for it.
  @inline(__always)
  borrowing func lock() {
    if isTaken.exchange(true, ordering: .acquiring) { waitAndLock() }
  }

  /// Gives the lock back.
  @inline(__always)
  borrowing func unlock() {
    isTaken.store(false, ordering: .releasing)
  }

  @inline(never)
  private borrowing func waitAndLock() {
    var attempts = 0
    repeat {
      // Only looking leaves the line to its holder.
      while isTaken.load(ordering: .relaxed) {
        attempts += 1
        if attempts > 300 {
          usleep(20)
        } else if attempts > 200 {
          sched_yield()
        }
      }
    } while isTaken.exchange(true, ordering: .acquiring)
  }
}
