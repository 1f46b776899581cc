import FoundationEssentials
import Glibc

/// An nginx on a loopback port: an origin that is not ours. It serves files, with or without TLS and
/// HTTP/2, or passes on what another server says.
public final class NginxServer: Sendable {
  /// How it speaks.
  public enum Transport: Sendable {
    /// HTTP/1.1 without encryption.
    case plain
    /// HTTP/1.1 over TLS.
    case tls(TestCertificate)
    /// HTTP/2 over TLS, and HTTP/1.1 with those who do not speak it.
    case http2(TestCertificate)
  }

  /// Where Debian and Ubuntu put it.
  public static let path = "/usr/sbin/nginx"

  /// Whether it is installed: for `.enabled(if:)`.
  public static var isAvailable: Bool { access(path, X_OK) == 0 }

  /// The port it listens on, of 127.0.0.1.
  public let port: Int

  private let process: RunningCommand
  private let isSecure: Bool

  /// The address of `path` on this server, `localhost` being whom a certificate names.
  public func address(_ path: String) -> String {
    isSecure ? "https://localhost:\(port)\(path)" : "http://127.0.0.1:\(port)\(path)"
  }

  /// Serves the files below `root`; `directory` takes its temporary files.
  ///
  /// - Parameters:
  ///   - upstreamPort: what it passes everything on to instead, byte by byte as it comes.
  ///   - settings: further lines for the server.
  ///
  /// The port is bound and listening before nginx starts, which takes it over as it does at an
  /// upgrade (the variable `NGINX`): there is no moment at which it could be missing or taken.
  public init(
    root: String, directory: String, transport: Transport = .plain, upstreamPort: Int? = nil,
    settings: String = ""
  ) throws {
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
    let (speaks, certificate): (String, TestCertificate?) =
      switch transport {
      case .plain: ("", nil)
      case .tls(let certificate): (" ssl", certificate)
      case .http2(let certificate): (" ssl http2", certificate)
      }
    isSecure = certificate != nil
    let identity = certificate.map {
      "ssl_certificate \($0.path); ssl_certificate_key \($0.keyPath);"
    }
    let upstream = upstreamPort.map {
      """
      location / {
        proxy_pass http://127.0.0.1:\($0); proxy_http_version 1.1; proxy_buffering off;
        proxy_set_header Connection "";
      }
      """
    }
    // Its worker must be able to read what the tests made; nobody but root may name its user.
    let user = geteuid() == 0 ? "user root;" : ""
    let configuration = """
      \(user) daemon off; worker_processes 1; pid \(directory)/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off; \(temporary)
        types { image/jpeg jpg; }
        default_type application/json;
        keepalive_requests 100000;
        server {
          listen 127.0.0.1:\(port)\(speaks); root \(root);
          \(identity ?? "") \(upstream ?? "") \(settings)
        }
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
