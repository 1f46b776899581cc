import Glibc
import PosterCache

/// An HTTP/1.1 server on a loopback port that answers with exactly the bytes it is told to: for
/// answers that no real server gives on purpose.
///
/// A thread per connection, blocking input and output. Stop it at the end of every test.
public final class ScriptedServer: Sendable {
  /// What arrived.
  public struct Request: Sendable {
    /// The first line's second word: path and query.
    public let target: String
    /// Header values by lower-case name.
    public let headers: [String: String]
  }

  /// A part of an answer.
  public enum Step: Sendable {
    /// Sends these bytes.
    case send([UInt8])
    /// Waits until the gate is opened or the server is stopped.
    case wait(Gate)
    /// Calls this, and then goes on.
    case run(@Sendable () -> Void)
    /// Waits until the client has closed the connection, and does the same.
    case waitForClose
    /// Ends the connection as a server does that has nothing more to say.
    case close
    /// Ends the connection with a reset.
    case reset
  }

  /// The port it listens on, of 127.0.0.1.
  public let port: Int

  private struct State {
    var requests: [Request] = []
    var connections: Set<CInt> = []
    var gates: [Gate] = []
    var threads: [WorkerThread] = []
    var connectionCount = 0
    var activeCount = 0
    var largestActiveCount = 0
    var isStopped = false
  }

  private let state = Monitor(State())
  private let listener: CInt
  private let answer: @Sendable (Request) -> [Step]

  /// Starts listening.
  ///
  /// - Parameter answer: called for each request, on its connection's thread.
  public init(_ answer: @escaping @Sendable (Request) -> [Step]) {
    self.answer = answer
    (listener, port) = Self.listen()
    let thread = WorkerThread(name: "scripted-server") { [self] in accept() }
    state.withLock { $0.threads.append(thread) }
  }

  /// The address of `path` on this server.
  public func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// What has arrived so far, oldest first.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// How many connections have been opened.
  public var connectionCount: Int { state.withLock { $0.connectionCount } }

  /// The largest number of requests that were being answered at the same time.
  public var largestActiveCount: Int { state.withLock { $0.largestActiveCount } }

  /// Waits until `count` requests have arrived in all.
  public func waitForRequests(_ count: Int) {
    state.wait(untilNanoseconds: { _ in nil }, for: { $0.requests.count >= count ? () : nil })
  }

  /// Closes every connection, opens every gate and waits for the threads.
  public func stop() {
    let (gates, threads) = state.withLock { state in
      state.isStopped = true
      for connection in state.connections { Glibc.shutdown(connection, CInt(SHUT_RDWR)) }
      defer { state.threads = [] }
      return (state.gates, state.threads)
    }
    Glibc.shutdown(listener, CInt(SHUT_RDWR))
    for gate in gates { gate.open() }
    for thread in threads { thread.join() }
    // The listening thread may have started one more before it noticed.
    for thread in state.withLock({ $0.threads }) { thread.join() }
    close(listener)
  }

  // MARK: - Connections

  private static func listen() -> (descriptor: CInt, port: Int) {
    let listener = socket(
      AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && Glibc.listen(listener, 128) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    precondition(status, "cannot listen on loopback: \(errno)")
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      guard connection >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      let isStopped = state.withLock { state in
        state.connections.insert(connection)
        state.connectionCount += 1
        return state.isStopped
      }
      if isStopped { Glibc.shutdown(connection, CInt(SHUT_RDWR)) }
      let thread = WorkerThread(name: "scripted-peer") { [self] in serve(connection) }
      state.withLock { $0.threads.append(thread) }
    }
  }

  private func serve(_ connection: CInt) {
    var input: [UInt8] = []
    var wasReset = false
    while let request = Self.read(from: connection, &input) {
      let steps = answer(request)
      state.withLock { state in
        state.requests.append(request)
        state.activeCount += 1
        state.largestActiveCount = max(state.largestActiveCount, state.activeCount)
      }
      state.signal()
      let goesOn = steps.allSatisfy { step in
        if case .reset = step { wasReset = true }
        return perform(step, connection)
      }
      state.withLock { $0.activeCount -= 1 }
      if !goesOn { break }
    }
    state.withLock { _ = $0.connections.remove(connection) }
    // A child process of another test may hold a copy for a moment; the peer must not wait for it.
    if !wasReset { Glibc.shutdown(connection, CInt(SHUT_RDWR)) }
    close(connection)
  }

  /// Does one step; `false` ends the connection.
  private func perform(_ step: Step, _ connection: CInt) -> Bool {
    switch step {
    case .send(let bytes):
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    case .wait(let gate):
      let isStopped = state.withLock { state in
        state.gates.append(gate)
        return state.isStopped
      }
      if !isStopped { gate.wait() }
      return true
    case .run(let body):
      body()
      return true
    case .waitForClose:
      var buffer = [UInt8](repeating: 0, count: 4096)
      while recv(connection, &buffer, buffer.count, 0) > 0 {}
      return false
    case .close: return false
    case .reset:
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
      return false
    }
  }

  /// The next request, without a body; `nil` at the connection's end.
  private static func read(from connection: CInt, _ input: inout [UInt8]) -> Request? {
    let end = Array("\r\n\r\n".utf8)
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      if let position = input.indices.first(where: { input[$0...].starts(with: end) }) {
        let lines = String(decoding: input[..<position], as: UTF8.self)
          .split(separator: "\r\n", omittingEmptySubsequences: false)
        input.removeFirst(position + end.count)
        let words = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return Request(target: String(words[1]), headers: headers)
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      input += buffer[..<count]
    }
  }
}

extension ScriptedServer.Step {
  /// A whole response.
  ///
  /// - Parameter announcing: what `Content-Length` says; the body's length unless given.
  public static func response(
    _ status: Int = 200, _ headers: [String] = [], body: [UInt8] = [], announcing: Int? = nil
  ) -> ScriptedServer.Step {
    unannounced(status, headers + ["Content-Length: \(announcing ?? body.count)"], body: body)
  }

  /// A response without `Content-Length`, which the connection's end must follow.
  public static func unannounced(
    _ status: Int = 200, _ headers: [String] = [], body: [UInt8] = []
  ) -> ScriptedServer.Step {
    let lines = ["HTTP/1.1 \(status) Whatever"] + headers + ["", ""]
    return .send(Array(lines.joined(separator: "\r\n").utf8) + body)
  }
}

/// Something that threads wait for until a test lets it happen.
public final class Gate: Sendable {
  private let isOpen = Monitor(false)

  public init() {}

  /// Lets everybody through, now and later.
  public func open() {
    isOpen.withLock { $0 = true }
    isOpen.signal()
  }

  /// Waits until it is open.
  public func wait() {
    isOpen.wait(untilNanoseconds: { _ in nil }, for: { $0 ? () : nil })
  }
}
