import FoundationEssentials
import Glibc

/// A plain nginx that serves files on a loopback port: an origin that is not ours.
public final class NginxServer: Sendable {
  /// Where Debian and Ubuntu put it.
  public static let path = "/usr/sbin/nginx"

  /// Whether it is installed: for `.enabled(if:)`.
  public static var isAvailable: Bool { access(path, X_OK) == 0 }

  /// The port it listens on, of 127.0.0.1.
  public let port: Int

  private let process: RunningCommand

  /// Serves the files below `root`; `directory` takes its temporary files.
  ///
  /// The port is bound and listening before nginx starts, which takes it over as it does at an
  /// upgrade (the variable `NGINX`): there is no moment at which it could be missing or taken.
  public init(root: String, directory: String) throws {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    precondition(isListening, "cannot listen on loopback: \(String(cString: strerror(errno)))")
    port = Int(UInt16(bigEndian: address.sin_port))

    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(directory)/nginx-\($0);" }.joined(separator: " ")
    // Its worker must be able to read what the tests made; nobody but root may name its user.
    let user = geteuid() == 0 ? "user root;" : ""
    let configuration = """
      \(user) daemon off; worker_processes 1; pid \(directory)/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off; \(temporary)
        types { image/jpeg jpg; }
        default_type application/json;
        server { listen 127.0.0.1:\(port); root \(root); }
      }
      """
    let file = "\(directory)/nginx.conf"
    try configuration.write(to: URL(filePath: file), atomically: false, encoding: .utf8)
    process = RunningCommand(
      path: Self.path, arguments: ["-e", "stderr", "-c", file], environment: ["NGINX": "3;"],
      standardOutput: .captured, inherited: listener)
  }

  /// Ends it and waits; returns what it complained about.
  public func stop() async -> [String] {
    process.send(SIGTERM)
    return await process.result().errorLines.filter { !$0.contains("[notice]") }
  }
}
