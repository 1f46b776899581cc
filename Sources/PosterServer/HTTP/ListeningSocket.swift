import Glibc
import PosterCache

/// A TCP socket that listens, bound before the server starts so that a failure has a clear reason
/// and a port chosen by the system is known.
struct ListeningSocket {
  /// The descriptor; whoever starts a server on it takes it over.
  let descriptor: CInt
  /// The port it listens on.
  let port: UInt16

  /// Connections that may wait to be accepted.
  private static let backlog: CInt = 1_024

  /// - Parameters:
  ///   - address: an IPv4 or IPv6 address of this machine, or `localhost`.
  ///   - port: 0 for one that is free.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` for what is no address,
  ///   ``PosterError/Code/network`` if the port cannot be had.
  init(address: String, port: UInt16) throws(PosterError) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(address, String(port), &hints, &found)
    defer { if status == 0 { freeaddrinfo(found) } }
    guard status == 0, let target = found?.pointee else {
      throw PosterError(
        .invalidConfiguration,
        "cannot listen on \(address): \(String(cString: gai_strerror(status))); "
          + "use an address of this machine such as 127.0.0.1")
    }
    let descriptor = socket(
      target.ai_family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure(address: address, port: port) }
    // Without it, a port would be refused for a minute after its last user has gone.
    var yes: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
    guard bind(descriptor, target.ai_addr, target.ai_addrlen) == 0,
      listen(descriptor, Self.backlog) == 0
    else {
      let error = Self.failure(address: address, port: port)
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.port = Self.port(of: descriptor)
  }

  private static func failure(address: String, port: UInt16) -> PosterError {
    let reason = errno
    switch reason {
    case EADDRINUSE:
      return PosterError(
        .network,
        "port \(port) on \(address) is in use: choose another one, or 0 for one that is free")
    case EACCES:
      return PosterError(
        .network, "port \(port) on \(address) is reserved: choose one above 1023, or 0")
    default:
      return PosterError(
        .network, "cannot listen on \(address) port \(port): \(String(cString: strerror(reason)))")
    }
  }

  private static func port(of descriptor: CInt) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    precondition(status == 0, "getsockname failed with \(errno)")
    // The port lies at the same place in sockaddr_in and sockaddr_in6.
    return withUnsafeBytes(of: &storage) { bytes in
      UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }
}
