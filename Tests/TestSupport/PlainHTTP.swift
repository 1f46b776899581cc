import Glibc

/// A small blocking HTTP/1.1 client on one connection, which shows what really came: statuses,
/// headers, and whether a body was complete.
///
/// One thread at a time. A server that says nothing for 30 seconds counts as broken.
public final class PlainHTTP {
  /// What a server answered.
  public struct Response: Sendable {
    /// The status code.
    public let status: Int
    /// Names in lower case, in the order of their arrival.
    public let headers: [(name: String, value: String)]
    /// The body, without chunk framing.
    public let body: [UInt8]
    /// Whether the body ended as announced; one without a length ends with the connection.
    public let isComplete: Bool

    /// The value of the header `name`, in lower case.
    public subscript(name: String) -> String? {
      headers.first { $0.name == name }?.value
    }

    /// The body as UTF-8.
    public var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// What went wrong on the way to an answer.
  public enum Failure: Error, Hashable {
    /// No connection, with `errno`.
    case cannotConnect(CInt)
    /// The connection was closed before the end of the headers.
    case closed
    /// Nothing came for 30 seconds.
    case timedOut
    /// What came is no HTTP.
    case malformed(String)
  }

  private let descriptor: CInt
  private var received: [UInt8] = []

  /// Connects to a port of this machine.
  public init(port: UInt16) throws(Failure) {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw .cannotConnect(errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Asks for `target`, a path with or without a query, on a connection of its own.
  public static func get(
    _ target: String, port: UInt16, method: String = "GET", headers: [String: String] = [:]
  ) throws(Failure) -> Response {
    try PlainHTTP(port: port).get(target, method: method, headers: headers)
  }

  /// Asks for `target` and waits for the answer.
  public func get(
    _ target: String, method: String = "GET", headers: [String: String] = [:]
  ) throws(Failure) -> Response {
    send(target, method: method, headers: headers)
    return try receive(withBody: method != "HEAD")
  }

  /// Sends a request without waiting for an answer.
  public func send(_ target: String, method: String = "GET", headers: [String: String] = [:]) {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    for (name, value) in ["Host": "127.0.0.1"].merging(headers, uniquingKeysWith: { $1 }) {
      text += "\(name): \(value)\r\n"
    }
    let bytes = Array((text + "\r\n").utf8)
    // A server that has gone shows when the answer is read.
    _ = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  /// Waits for the answer to a request that has been sent.
  ///
  /// - Parameter bodyLimit: returns as soon as so many bytes of the body are there, the rest left
  ///   unread; an answer read this way must be the last one.
  public func receive(withBody: Bool = true, bodyLimit: Int = .max) throws(Failure) -> Response {
    let head = try receiveHead()
    guard let version = head.first, version.hasPrefix("HTTP/1."),
      let status = Int(version.split(separator: " ").dropFirst().first ?? "")
    else { throw .malformed(head.first ?? "") }
    let headers = head.dropFirst().map { line in
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      return (
        name: line[..<colon].lowercased(),
        value: String(line[colon...].dropFirst().drop { $0 == " " })
      )
    }
    func response(_ body: [UInt8], isComplete: Bool) -> Response {
      Response(status: status, headers: headers, body: body, isComplete: isComplete)
    }
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    guard withBody, status != 304, status != 204 else { return response([], isComplete: true) }
    if value("transfer-encoding")?.lowercased() == "chunked" {
      let (body, isComplete) = try receiveChunks(limit: bodyLimit)
      return response(body, isComplete: isComplete)
    }
    if let length = value("content-length").flatMap({ Int($0) }) {
      let wanted = min(length, bodyLimit)
      while received.count < wanted, try receiveMore() {}
      let body = takeFirst(min(wanted, received.count))
      return response(body, isComplete: body.count == length)
    }
    while received.count < bodyLimit, try receiveMore() {}
    return response(takeFirst(min(bodyLimit, received.count)), isComplete: true)
  }

  /// Waits until the server closes the connection, and returns what came before.
  public func receiveUntilClosed() throws(Failure) -> [UInt8] {
    while try receiveMore() {}
    return takeFirst(received.count)
  }

  // MARK: -

  private func receiveHead() throws(Failure) -> [String] {
    while true {
      if let line = takeLines() { return line }
      guard try receiveMore() else { throw .closed }
    }
  }

  /// The lines before the first empty one, once that has come.
  private func takeLines() -> [String]? {
    var index = 3
    while index < received.count {
      if received[index] == 10, received[index - 2] == 10 {
        let text = String(decoding: takeFirst(index + 1), as: UTF8.self)
        return text.split(separator: "\r\n").map(String.init)
      }
      index += 1
    }
    return nil
  }

  private func receiveChunks(limit: Int) throws(Failure) -> (body: [UInt8], isComplete: Bool) {
    var body: [UInt8] = []
    while body.count < limit {
      guard let line = try receiveLine() else { return (body, false) }
      guard let size = Int(line, radix: 16) else { throw .malformed(line) }
      while received.count < size + 2, try receiveMore() {}
      body += takeFirst(min(size, received.count))
      guard received.count >= 2 else { return (body, false) }
      _ = takeFirst(2)
      if size == 0 { return (body, true) }
    }
    return (body, false)
  }

  private func receiveLine() throws(Failure) -> String? {
    while true {
      if let end = received.firstIndex(of: 10) {
        return String(decoding: takeFirst(end + 1).dropLast(2), as: UTF8.self)
      }
      guard try receiveMore() else { return nil }
    }
  }

  private func takeFirst(_ count: Int) -> [UInt8] {
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  /// Receives some bytes; `false` if the server has closed the connection.
  private func receiveMore() throws(Failure) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        received += buffer.prefix(count)
        return true
      }
      switch errno {
      case _ where count == 0: return false
      case EINTR: continue
      case EAGAIN: throw .timedOut
      // A reset is a way of closing, too.
      default: return false
      }
    }
  }
}
