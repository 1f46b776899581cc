import Glibc
import PosterCache
import TestSupport

/// An HTTP/2 server without TLS on a loopback port that sends exactly the frames it is told to (RFC
/// 9113), for ends of streams that no real server gives on purpose.
///
/// A thread per connection. Stop it at the end of every test.
final class ScriptedHTTP2Server: Sendable {
  /// A frame of the answer to a request, or the connection's end.
  enum Step: Sendable {
    /// The status and further headers.
    case headers([(String, String)], endsStream: Bool = false)
    /// A piece of the body, at most 16 KiB.
    case data([UInt8], endsStream: Bool = false)
    /// Ends the stream with an error code; 0 is none.
    case reset(UInt8)
    /// Says that the connection will take no more.
    case goAway(UInt8)
    /// Waits until the gate is open.
    case wait(Gate)
    /// Closes the connection.
    case close
  }

  let port: Int

  private struct State {
    var connections: Set<CInt> = []
    var threads: [WorkerThread] = []
    var weights: [UInt8] = []
    var isStopped = false
  }

  private let state = Monitor(State())
  private let listener: CInt
  private let answer: @Sendable () -> [Step]

  init(_ answer: @escaping @Sendable () -> [Step]) {
    self.answer = answer
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    precondition(isListening, "cannot listen on loopback: \(errno)")
    port = Int(UInt16(bigEndian: address.sin_port))
    let thread = WorkerThread(name: "http2-server") { [self] in accept() }
    state.withLock { $0.threads.append(thread) }
  }

  func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The weights that requests and later frames gave their streams, as on the wire: one less.
  var weights: [UInt8] { state.withLock { $0.weights } }

  func stop() {
    let threads = state.withLock { state in
      state.isStopped = true
      for connection in state.connections { Glibc.shutdown(connection, CInt(SHUT_RDWR)) }
      return state.threads
    }
    Glibc.shutdown(listener, CInt(SHUT_RDWR))
    for thread in threads { thread.join() }
    let late = state.withLock { $0.threads }.dropFirst(threads.count)
    for thread in late { thread.join() }
    close(listener)
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      guard connection >= 0 else { return }
      let isStopped = state.withLock { state in
        state.connections.insert(connection)
        return state.isStopped
      }
      if isStopped { Glibc.shutdown(connection, CInt(SHUT_RDWR)) }
      let thread = WorkerThread(name: "http2-peer") { [self] in serve(connection) }
      state.withLock { $0.threads.append(thread) }
    }
  }

  private static let (data, headers, priority, reset): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 2, 3)
  private static let (settings, goAway): (UInt8, UInt8) = (4, 7)

  private func serve(_ connection: CInt) {
    defer {
      state.withLock { _ = $0.connections.remove(connection) }
      close(connection)
    }
    guard read(connection, count: 24) != nil else { return }
    send(connection, Self.settings, flags: 0, stream: 0, [])
    while let head = read(connection, count: 9) {
      let length = head[0..<3].reduce(0) { $0 << 8 | Int($1) }
      let stream = head[5..<9].reduce(0) { $0 << 8 | Int($1) }
      guard let body = length == 0 ? [] : read(connection, count: length) else { return }
      let (type, flags) = (head[3], head[4])
      if type == Self.settings, flags & 1 == 0 {
        send(connection, Self.settings, flags: 1, stream: 0, [])
      } else if type == Self.priority {
        add(weight: body[4])
      } else if type == Self.headers {
        if flags & 0x20 != 0 { add(weight: body[4]) }
        for step in answer() {
          guard perform(step, connection, stream) else { return }
        }
      }
    }
  }

  private func add(weight: UInt8) {
    state.withLock { $0.weights.append(weight) }
    state.signal()
  }

  private func perform(_ step: Step, _ connection: CInt, _ stream: Int) -> Bool {
    switch step {
    case .headers(let fields, let ends):
      // Literals without indexing, names in full (RFC 7541, section 6.2.2).
      var block: [UInt8] = []
      for (name, value) in fields {
        block += [0, UInt8(name.utf8.count)] + Array(name.utf8)
        block += [UInt8(value.utf8.count)] + Array(value.utf8)
      }
      send(connection, Self.headers, flags: ends ? 5 : 4, stream: stream, block)
    case .data(let bytes, let ends):
      send(connection, Self.data, flags: ends ? 1 : 0, stream: stream, bytes)
    case .reset(let code):
      send(connection, Self.reset, flags: 0, stream: stream, [0, 0, 0, code])
    case .goAway(let code):
      let last = [UInt8(0), 0, UInt8(stream >> 8 & 0xFF), UInt8(stream & 0xFF)]
      send(connection, Self.goAway, flags: 0, stream: 0, last + [0, 0, 0, code])
    case .wait(let gate): gate.wait()
    case .close: return false
    }
    return true
  }

  private func send(
    _ connection: CInt, _ type: UInt8, flags: UInt8, stream: Int, _ body: [UInt8]
  ) {
    let head: [UInt8] = [
      UInt8(body.count >> 16), UInt8(body.count >> 8 & 0xFF), UInt8(body.count & 0xFF), type, flags,
      0, 0, UInt8(stream >> 8 & 0xFF), UInt8(stream & 0xFF),
    ]
    // A peer that is gone shows at the next read.
    _ = (head + body).withUnsafeBytes {
      Glibc.send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
    }
  }

  private func read(_ connection: CInt, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = recv(connection, &bytes, count, CInt(MSG_WAITALL))
    return got == count ? bytes : nil
  }
}
