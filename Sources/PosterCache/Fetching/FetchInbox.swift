import CLinux
import Glibc
import Synchronization

/// Called with what came of a request: on the fetch thread, so it must not take long, and never
/// with a lock held.
package typealias FetchCompletion = @Sendable (Result<FetchResponse, PosterError>) -> Void

/// Called on the fetch thread with a picture that nobody waits for any more, and what it was asked by.
package typealias UnclaimedReceiver = @Sendable (FetchRequest, FetchResponse) -> Void

/// What other threads want of the fetch thread.
///
/// Holds as much as callers submit; who has an endless list must bound what is outstanding.
final class FetchInbox: Sendable {
  enum Command: Sendable {
    case fetch(Ticket, FetchRequest, FetchCompletion)
    case drop(Ticket)
  }

  /// An eventfd that is signalled when the inbox stops being empty or is closed.
  let wakeup: FileDescriptor

  private struct State {
    var commands: [Command] = []
    var lastTicket: UInt64 = 0
    var isClosed = false
  }

  private let state = Lock(State())

  init(wakeup: FileDescriptor) {
    self.wakeup = wakeup
  }

  /// Submits `request`. On a closed inbox it completes at once as cancelled, on the caller's thread.
  func submit(_ request: FetchRequest, _ completion: @escaping FetchCompletion) -> Ticket {
    let (ticket, wasEmpty, isClosed) = state.withLock { state in
      state.lastTicket += 1
      let ticket = Ticket(number: state.lastTicket)
      let wasEmpty = state.commands.isEmpty
      if !state.isClosed { state.commands.append(.fetch(ticket, request, completion)) }
      return (ticket, wasEmpty, state.isClosed)
    }
    if isClosed {
      completion(.failure(.fetchCancelled))
    } else if wasEmpty {
      signal()
    }
    return ticket
  }

  /// Drops `ticket`; one that has completed, or was never submitted, is ignored.
  func drop(_ ticket: Ticket) {
    let needsSignal = state.withLock { state in
      guard !state.isClosed else { return false }
      state.commands.append(.drop(ticket))
      return state.commands.count == 1
    }
    if needsSignal { signal() }
  }

  /// Takes nothing more.
  func close() {
    state.withLock { $0.isClosed = true }
    signal()
  }

  /// Hands over what was submitted in exchange for an empty array, so that both keep their room.
  ///
  /// - Returns: whether more may come.
  func take(_ commands: inout [Command]) -> Bool {
    precondition(commands.isEmpty, "\(commands.count) commands would be lost")
    let (taken, isClosed) = state.withLock { [commands] state in
      let taken = state.commands
      state.commands = commands
      return (taken, state.isClosed)
    }
    commands = taken
    return !isClosed
  }

  private func signal() {
    // The set reports the eventfd edge-triggered, so that nobody has to read it; the counter would
    // overflow after 600 years of a wake-up per nanosecond.
    let status = eventfd_write(wakeup.number, 1)
    precondition(status == 0, "eventfd_write failed with \(errno)")
  }
}
