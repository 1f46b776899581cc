import FoundationEssentials
import Glibc

/// An nginx that speaks HTTPS, over HTTP/2 or HTTP/1.1, and passes every request on to a server of this
/// machine as it comes: for tests that hold answers.
///
/// The server behind it finds the protocol in the header `x-protocol`, `HTTP/2.0` or `HTTP/1.1`, and
/// the number of the client's connection in `x-connection`.
public final class TLSProxy: Sendable {
  /// Whether what it needs is installed: for `.enabled(if:)`.
  public static var isAvailable: Bool {
    NginxServer.isAvailable && Program.path(of: "openssl") != nil
  }

  /// The port it listens on, of 127.0.0.1.
  public let port: Int
  /// A PEM file with its certificate, which is made for 127.0.0.1 and signed by itself.
  public let certificateFile: String

  private let process: RunningCommand

  /// - Parameters:
  ///   - upstream: the port of 127.0.0.1 to pass requests on to.
  ///   - directory: where to put certificate and temporary files.
  ///   - isHTTP2: whether it offers HTTP/2.
  public init(to upstream: Int, directory: String, isHTTP2: Bool = true) async throws {
    certificateFile = "\(directory)/certificate.pem"
    let openssl = RunningCommand(
      path: Program.path(of: "openssl") ?? "openssl",
      arguments: [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", "\(directory)/key.pem", "-out", certificateFile, "-days", "2",
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
      ], environment: [:])
    let made = await openssl.result()
    precondition(made.status == 0, "openssl: \(made.errorLines)")

    let listener = ListeningPort()
    port = listener.port
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(directory)/nginx-\($0);" }.joined(separator: " ")
    // Its worker must be able to read the key; nobody but root may name its user.
    let user = geteuid() == 0 ? "user root;" : ""
    let configuration = """
      \(user) daemon off; worker_processes 1; pid \(directory)/nginx.pid; error_log stderr error;
      events {}
      http {
        access_log off; \(temporary)
        server {
          listen 127.0.0.1:\(port) ssl\(isHTTP2 ? " http2" : "");
          ssl_certificate \(certificateFile);
          ssl_certificate_key \(directory)/key.pem;
          location / {
            proxy_pass http://127.0.0.1:\(upstream);
            proxy_buffering off;
            proxy_set_header X-Protocol $server_protocol;
            proxy_set_header X-Connection $connection;
          }
        }
      }
      """
    let file = "\(directory)/nginx.conf"
    try configuration.write(to: URL(filePath: file), atomically: false, encoding: .utf8)
    // nginx takes the port over as it does at an upgrade, so that it is listening already.
    process = RunningCommand(
      path: NginxServer.path, arguments: ["-e", "stderr", "-c", file],
      environment: ["NGINX": "3;"], standardOutput: .captured, inherited: listener.descriptor)
  }

  /// The address of `path` behind it.
  public func address(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

  /// Ends it and waits.
  public func stop() async {
    process.send(SIGTERM)
    _ = await process.result()
  }
}

/// A socket that listens on a free port of 127.0.0.1.
private final class ListeningPort {
  let descriptor: CInt
  let port: Int

  init() {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    precondition(isListening, "cannot listen on loopback: \(String(cString: strerror(errno)))")
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit {
    close(descriptor)
  }
}
