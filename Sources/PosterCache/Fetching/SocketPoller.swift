import CCurl
import CLinux
import Glibc

/// The sockets that curl waits for, in a level-triggered epoll set.
///
/// Used on the fetch thread only. curl says "forget this socket" after every transfer and "watch it"
/// before the next one on the same connection; the set is left as it is in between, which saves two
/// system calls a transfer. That is safe for sockets that we open and close ourselves: their numbers
/// cannot come to mean something else unnoticed.
final class SocketPoller {
  private let epoll: CInt
  private var sockets: ContiguousArray<Socket> = []
  private var events = [epoll_event](repeating: epoll_event(), count: 64)

  private struct Socket {
    /// What curl wants to hear of.
    var wanted: UInt32 = 0
    /// What the set reports.
    var registered: UInt32 = 0
    var isOurs = false
  }

  private static let readable = EPOLLIN.rawValue
  private static let writable = EPOLLOUT.rawValue

  /// Takes ownership of an epoll descriptor.
  init(epoll: FileDescriptor) {
    owner = epoll
    self.epoll = epoll.number
  }

  private let owner: FileDescriptor

  // MARK: - What curl asks for

  /// Opens a socket for a connection; -1 if that is not possible.
  func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> CInt {
    let number = socket(
      address.pointee.family, address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue),
      address.pointee.protocol)
    guard number >= 0 else { return -1 }
    makeRoom(for: number)
    sockets[Int(number)] = Socket(isOurs: true)
    return number
  }

  /// Closes a socket of ours.
  func closeSocket(_ number: CInt) -> CInt {
    // Closing removes it from the set unless a child process holds a copy.
    unregister(number)
    sockets[Int(number)] = Socket()
    return close(number)
  }

  /// `what` of curl's socket callback: what to watch `number` for.
  func watch(_ number: CInt, _ what: CInt) {
    makeRoom(for: number)
    let index = Int(number)
    switch what {
    case CURL_POLL_IN: sockets[index].wanted = Self.readable
    case CURL_POLL_OUT: sockets[index].wanted = Self.writable
    case CURL_POLL_INOUT: sockets[index].wanted = Self.readable | Self.writable
    default:
      sockets[index].wanted = 0
      // An idle connection is readable only when the server closes it; writable it is always.
      let mayStay = sockets[index].isOurs && sockets[index].registered == Self.readable
      if !mayStay { unregister(number) }
      return
    }
    register(number)
  }

  // MARK: - Waiting

  /// Waits until something happens and reports it.
  ///
  /// - Parameters:
  ///   - milliseconds: how long at most; -1 for ever.
  ///   - isReady: called for each socket with curl's `CURL_CSELECT_` bits. May call the other
  ///     methods.
  /// - Returns: whether `wakeup` was signalled.
  func wait(
    milliseconds: CInt, wakeup: CInt, isReady: (_ socket: CInt, _ bits: CInt) -> Void
  ) -> Bool {
    let count = epoll_wait(epoll, &events, CInt(events.count), milliseconds)
    guard count >= 0 else {
      precondition(errno == EINTR, "epoll_wait failed with \(errno)")
      return false
    }
    var wasWoken = false
    for index in 0..<Int(count) {
      let event = events[index]
      let number = event.data.fd
      if number == wakeup {
        wasWoken = true
        continue
      }
      let socket = sockets[Int(number)]
      guard socket.wanted != 0 else {
        unregister(number)
        continue
      }
      var bits: CInt = 0
      // CURL_CSELECT_ERR would make curl give up before it has read what is there; reading or
      // writing finds out what is wrong.
      let isBroken = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
      if event.events & Self.readable != 0 || isBroken { bits |= CURL_CSELECT_IN }
      if event.events & Self.writable != 0 || isBroken { bits |= CURL_CSELECT_OUT }
      isReady(number, bits)
    }
    return wasWoken
  }

  // MARK: - The set

  private func register(_ number: CInt) {
    let socket = sockets[Int(number)]
    guard socket.wanted != socket.registered || !socket.isOurs else { return }
    var event = epoll_event(events: socket.wanted, data: epoll_data(fd: number))
    var status: CInt = -1
    if socket.registered != 0 { status = epoll_ctl(epoll, EPOLL_CTL_MOD, number, &event) }
    // Not in the set, or not any more: curl's own sockets may close and reopen unnoticed.
    if status != 0 { status = epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) }
    precondition(status == 0, "epoll_ctl of \(number) failed with \(errno)")
    sockets[Int(number)].registered = socket.wanted
  }

  private func unregister(_ number: CInt) {
    guard sockets[Int(number)].registered != 0 else { return }
    var event = epoll_event()
    // Fails where the socket has been closed already, which removed it.
    _ = epoll_ctl(epoll, EPOLL_CTL_DEL, number, &event)
    sockets[Int(number)].registered = 0
  }

  private func makeRoom(for number: CInt) {
    while sockets.count <= Int(number) { sockets.append(Socket()) }
  }
}
