import CMicrohttpd
import Glibc
import PosterCache
import Synchronization

/// An HTTP/1.1 server: libmicrohttpd on a few threads, each of which polls its connections.
///
/// A request that has to wait is suspended and costs no thread, so that thousands of slow answers
/// can be under way. `poll` rather than epoll: with epoll, libmicrohttpd 0.9.75 left about one
/// request in ten thousand unread in its socket while all its threads slept (200 connections with
/// keep-alive). Over so many connections `poll` measured no slower.
final class HTTPServer: Sendable {
  /// A request as it arrived.
  struct Request {
    let connection: HTTPConnection
    let method: String
    /// The decoded path without its query.
    let path: String
    /// Whether it is the first one on its connection.
    let isFirstOnConnection: Bool
    /// Counts connections from 0, in the order in which they were opened.
    let connectionNumber: Int
  }

  /// Takes a step towards a request's answer: queues it, or suspends the connection and is called
  /// again after it has been resumed. Returns `false` to close the connection.
  typealias Step = () -> Bool

  /// Connections beyond this number are closed at once.
  static let connectionLimit = 10_000

  /// libmicrohttpd's handle.
  private nonisolated(unsafe) let daemon: OpaquePointer  // used once more, by `stop()`
  private let context: Unmanaged<Context>
  /// The same, which lives on after ``stop()``.
  private let counting: Context

  /// Starts the server on `socket`, which it takes over.
  ///
  /// - Parameter begin: called for each request on one of the server's threads.
  /// - Throws: ``PosterError/Code/network`` if the threads cannot be started.
  init(
    on socket: ListeningSocket, threads: Int, begin: @escaping @Sendable (Request) -> Step
  ) throws(PosterError) {
    counting = Context(begin)
    context = Unmanaged.passRetained(counting)
    let options = [
      MHD_OptionItem(
        option: .LISTEN_SOCKET, value: Int(socket.descriptor), ptr_value: nil),
      MHD_OptionItem(option: .THREAD_POOL_SIZE, value: threads, ptr_value: nil),
      MHD_OptionItem(
        option: .CONNECTION_LIMIT, value: Self.connectionLimit, ptr_value: nil),
      postercache_mhd_when_connected(Self.connectionDidChange, context.toOpaque()),
      postercache_mhd_when_completed(Self.requestDidComplete, nil),
      MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
    ]
    let flags = MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
    guard
      let daemon = postercache_mhd_start(flags, 0, Self.access, context.toOpaque(), options)
    else {
      let reason = String(cString: strerror(errno))
      context.release()
      close(socket.descriptor)
      throw PosterError(.network, "cannot start the HTTP server: \(reason)")
    }
    self.daemon = daemon
  }

  /// Connections opened so far.
  var connectionCount: Int { counting.connectionCount }

  /// Closes all connections and ends the threads. Call it exactly once, with no connection
  /// suspended (all have been resumed) and none being suspended from now on.
  func stop() {
    MHD_stop_daemon(daemon)
    context.release()
  }

  // MARK: Callbacks

  private static let access: MHD_AccessHandlerCallback = {
    context, connection, url, method, _, _, uploadCount, state in
    // libmicrohttpd never passes null for these; the context was retained by `init`.
    let context = Unmanaged<Context>.fromOpaque(context!).takeUnretainedValue()
    let connection = connection!
    let state = state!
    if let box = state.pointee {
      // What a client uploads is of no interest here.
      uploadCount?.pointee = 0
      let exchange = Unmanaged<Exchange>.fromOpaque(box).takeUnretainedValue()
      return exchange.step() ? .YES : .NO
    }
    var isFirst = true
    var number = 0
    if let box = postercache_mhd_socket_context(connection) {
      let connection = Unmanaged<ConnectionState>.fromOpaque(box).takeUnretainedValue()
      isFirst = !connection.hasHadRequest
      connection.hasHadRequest = true
      number = connection.number
    }
    let request = Request(
      connection: HTTPConnection(pointer: connection), method: String(cString: method!),
      path: String(cString: url!), isFirstOnConnection: isFirst,
      connectionNumber: number)
    // Nothing is answered in this first call: only from the second on is suspending allowed.
    state.pointee = Unmanaged.passRetained(Exchange(context.begin(request))).toOpaque()
    return .YES
  }

  private static let requestDidComplete: MHD_RequestCompletedCallback = { _, _, state, _ in
    guard let state, let box = state.pointee else { return }
    Unmanaged<Exchange>.fromOpaque(box).release()
    state.pointee = nil
  }

  private static let connectionDidChange: MHD_NotifyConnectionCallback = {
    context, _, state, change in
    guard let context, let state else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
      let number = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().countConnection()
      state.pointee = Unmanaged.passRetained(ConnectionState(number: number)).toOpaque()
    } else if let box = state.pointee {
      Unmanaged<ConnectionState>.fromOpaque(box).release()
      state.pointee = nil
    }
  }

  // MARK: -

  private final class Context: Sendable {
    let begin: @Sendable (Request) -> Step
    private let opened = Atomic(0)

    init(_ begin: @escaping @Sendable (Request) -> Step) { self.begin = begin }

    var connectionCount: Int { opened.load(ordering: .relaxed) }

    /// The number of a new connection.
    func countConnection() -> Int { opened.add(1, ordering: .relaxed).oldValue }
  }

  private final class Exchange {
    let step: Step
    init(_ step: @escaping Step) { self.step = step }
  }

  private final class ConnectionState {
    let number: Int
    var hasHadRequest = false

    init(number: Int) { self.number = number }
  }
}
