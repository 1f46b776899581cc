import Glibc
import Synchronization

/// Programs that we have started, which must not outlive us, and which nobody else ends: a signal that ends
/// this process kills them first. ``Command`` adds and removes them.
enum ChildrenToEnd {
  /// More than there ever are at once.
  private static let capacity = 64
  /// A place for each child, 0 where it is free. `nonisolated(unsafe)`: memory that is never given
  /// back, used through atomic operations only; a handler of signals may take no lock.
  nonisolated(unsafe) private static let places: UnsafeMutablePointer<Atomic<pid_t>> = {
    let places = UnsafeMutablePointer<Atomic<pid_t>>.allocate(capacity: capacity)
    for place in 0..<capacity { (places + place).initialize(to: Atomic(0)) }
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        ChildrenToEnd.killAll()
        _exit(128 + number)
      }
    }
    return places
  }()

  static func add(_ child: pid_t) {
    for place in 0..<capacity {
      let (isFree, _) = places[place].compareExchange(
        expected: 0, desired: child, ordering: .relaxed)
      if isFree { return }
    }
    preconditionFailure("more than \(capacity) children at once")
  }

  static func remove(_ child: pid_t) {
    for place in 0..<capacity {
      _ = places[place].compareExchange(expected: child, desired: 0, ordering: .relaxed)
    }
  }

  private static func killAll() {
    for place in 0..<capacity {
      let child = places[place].load(ordering: .relaxed)
      if child > 0 { kill(child, SIGKILL) }
    }
  }
}
