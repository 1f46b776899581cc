import Glibc
import Synchronization

/// Servers and contestants, which must not outlive us, and which nobody else ends: a signal that ends this
/// process kills them first.
enum ServersToEnd {
  /// More than there ever are at once.
  private static let capacity = 64
  /// A place for each server, 0 where it is free. `nonisolated(unsafe)`: memory that is never given
  /// back, used through atomic operations only; a handler of signals may take no lock.
  nonisolated(unsafe) private static let places: UnsafeMutablePointer<Atomic<pid_t>> = {
    let places = UnsafeMutablePointer<Atomic<pid_t>>.allocate(capacity: capacity)
    for place in 0..<capacity { (places + place).initialize(to: Atomic(0)) }
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        ServersToEnd.killAll()
        _exit(128 + number)
      }
    }
    return places
  }()

  static func add(_ server: pid_t) {
    for place in 0..<capacity {
      let (isFree, _) = places[place].compareExchange(
        expected: 0, desired: server, ordering: .relaxed)
      if isFree { return }
    }
    preconditionFailure("more than \(capacity) servers at once")
  }

  static func remove(_ server: pid_t) {
    for place in 0..<capacity {
      _ = places[place].compareExchange(expected: server, desired: 0, ordering: .relaxed)
    }
  }

  private static func killAll() {
    for place in 0..<capacity {
      let server = places[place].load(ordering: .relaxed)
      if server > 0 { kill(server, SIGKILL) }
    }
  }
}
