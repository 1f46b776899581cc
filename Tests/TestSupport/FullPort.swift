import Glibc

/// A loopback port at which connecting neither succeeds nor fails: it listens, and as many connections
/// as may wait to be accepted are waiting already.
public final class FullPort: Sendable {
  /// The port, of 127.0.0.1.
  public let port: Int

  private let descriptors: [CInt]

  public init() {
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let listener = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // One connection fits into a queue of none; what more are begun stay begun.
    let waiting = (0..<2).map { _ in socket(AF_INET, kind | CInt(SOCK_NONBLOCK.rawValue), 0) }
    let isReady = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(listener, address, length) == 0, listen(listener, 0) == 0,
          getsockname(listener, address, &length) == 0
        else { return false }
        return waiting.allSatisfy { connect($0, address, length) == 0 || errno == EINPROGRESS }
      }
    }
    precondition(isReady, "cannot fill a port: \(String(cString: strerror(errno)))")
    port = Int(UInt16(bigEndian: address.sin_port))
    descriptors = [listener] + waiting
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }
}
