import Glibc

/// An nginx of our own that serves the posters, and a list of them, on a loopback port or at the far
/// end of a link.
struct WebServer {
  /// Scheme, host and port; HTTP/1.1.
  let base: String
  /// The same over TLS, where HTTP/2 can be had, too; `nil` where no certificate could be made.
  let secureBase: String?
  /// The authority to be trusted for ``secureBase``.
  let authoritiesFile: String

  private let process: Command.Child

  /// Starts serving `root`, with its own files in `directory`; returns once it takes connections.
  ///
  /// - Parameters:
  ///   - program: the path of nginx.
  ///   - names: the posters of the list, 20 a page as TMDB has them.
  ///   - link: the link at whose far end it is to be.
  init(
    _ program: String, root: String, names: [String], directory: String, link: ShapedLink? = nil
  ) throws(BenchError) {
    try Self.writePages(names, to: "\(directory)/pages")
    authoritiesFile = "\(directory)/certificate.pem"
    let isSecure = Self.makeCertificate(in: directory)
    // A link's end has no other servers.
    let host = link == nil ? "127.0.0.1" : ShapedLink.serverAddress
    let port = link == nil ? try Self.freePort() : 8080
    let securePort = link == nil ? try Self.freePort() : 8443
    base = "http://\(host):\(port)"
    secureBase = isSecure ? "https://\(host):\(securePort)" : nil
    var listening = "listen \(host):\(port) backlog=511;"
    if isSecure {
      // nginx does not start where it is told of a certificate that is not there.
      listening += " listen \(host):\(securePort) ssl http2 backlog=511;"
      listening += " ssl_certificate \(authoritiesFile);"
      listening += " ssl_certificate_key \(directory)/key.pem;"
    }
    let configuration = "\(directory)/nginx.conf"
    try TextFile.write(
      Self.configuration(root: root, directory: directory, listening: listening), to: configuration)
    let command = Command(
      program, ["-p", directory, "-e", "\(directory)/error.log", "-c", configuration])
    process = try (link?.atServer(command) ?? command).start(standardOutput: nil)
    for _ in 0..<500 {
      // Written once it listens.
      if (try? TextFile.read("\(directory)/nginx.pid").isEmpty) == false { return }
      usleep(10_000)
    }
    stop()
    throw BenchError("nginx does not answer; see \(directory)/error.log")
  }

  /// Makes a certificate that vouches for itself; `false` where there is no openssl.
  private static func makeCertificate(in directory: String) -> Bool {
    guard let openssl = Command.find("openssl") else { return false }
    let names = "subjectAltName=IP:127.0.0.1,IP:\(ShapedLink.serverAddress)"
    let command = Command(
      openssl,
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "30", "-subj", "/CN=postercache-bench", "-addext", names,
        "-keyout", "\(directory)/key.pem", "-out", "\(directory)/certificate.pem",
      ])
    _ = command.firstLine()  // it comments on its progress
    return access("\(directory)/certificate.pem", R_OK) == 0
  }

  /// Ends the server and waits for that.
  func stop() {
    kill(process.identifier, SIGTERM)
    var usage = rusage()
    _ = try? process.wait(&usage)  // how it ended does not matter
  }

  private static func writePages(_ names: [String], to directory: String) throws(BenchError) {
    guard mkdir(directory, 0o755) == 0 else { throw BenchError(call: "mkdir", directory) }
    let pageCount = (names.count + 19) / 20
    for page in 0..<pageCount {
      let titles = (page * 20..<min(page * 20 + 20, names.count)).map { place in
        #"{"id":\#(place + 1),"media_type":"movie","title":"\#(place)","poster_path":"/\#(names[place])"}"#
      }
      try TextFile.write(
        #"{"page":\#(page + 1),"results":[\#(titles.joined(separator: ","))],"#
          + #""total_pages":\#(pageCount),"total_results":\#(names.count)}"#,
        to: "\(directory)/\(page + 1).json")
    }
  }

  /// One process, which keeps everything open and sends from the page cache: what the contestants
  /// wait for is to be themselves. The headers are those of an image host.
  ///
  /// An answer is read into memory and sent with one call. With `sendfile`, the end of a connection's first
  /// answer may wait for the acknowledgement of its beginning (Nagle's algorithm), and the client's kernel
  /// delays that by 40 ms: a third of all runs took so much longer, whoever fetched.
  private static func configuration(
    root: String, directory: String, listening: String
  ) -> String {
    """
    daemon off;
    master_process off;
    pid \(directory)/nginx.pid;
    events { worker_connections 512; }
    http {
      access_log off;
      types { image/jpeg jpg; image/png png; }
      sendfile off;
      output_buffers 1 256k;
      keepalive_requests 100000000;
      keepalive_timeout 300s;
      open_file_cache max=10000 inactive=600s;
      open_file_cache_valid 600s;
      client_body_temp_path \(directory)/body;
      proxy_temp_path \(directory)/proxy;
      fastcgi_temp_path \(directory)/fastcgi;
      uwsgi_temp_path \(directory)/uwsgi;
      scgi_temp_path \(directory)/scgi;
      server {
        \(listening)
        root \(root);
        add_header Cache-Control "public, max-age=31536000";
        location = /3/trending/all/day {
          root \(directory)/pages;
          default_type application/json;
          try_files /$arg_page.json =404;
        }
      }
    }

    """
  }

  private static func freePort() throws(BenchError) -> Int {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && getsockname(listener, address, &length) == 0
      }
    }
    guard status else { throw BenchError(call: "bind", "127.0.0.1") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
