import Glibc
import Synchronization

/// An nginx of our own that serves the posters, and a list of them, on a loopback port.
struct WebServer {
  /// Scheme, host and port.
  let base: String

  private let process: Command.Child

  /// Starts serving `root`, with its own files in `directory`; returns once it takes connections.
  ///
  /// - Parameters:
  ///   - program: the path of nginx.
  ///   - names: the posters of the list, 20 a page as TMDB has them.
  init(
    _ program: String, root: String, names: [String], directory: String
  ) throws(BenchError) {
    try Self.writePages(names, to: "\(directory)/pages")
    let port = try Self.freePort()
    base = "http://127.0.0.1:\(port)"
    let configuration = "\(directory)/nginx.conf"
    try TextFile.write(
      Self.configuration(root: root, directory: directory, port: port), to: configuration)
    process = try Command(
      program, ["-p", directory, "-e", "\(directory)/error.log", "-c", configuration]
    ).start(standardOutput: nil)
    Self.running.store(process.identifier, ordering: .relaxed)
    Self.endWithUs()
    for _ in 0..<500 {
      if Self.accepts(port) { return }
      usleep(10_000)
    }
    stop()
    throw BenchError("nginx does not answer; see \(directory)/error.log")
  }

  /// The server to be ended where we are.
  private static let running = Atomic<pid_t>(0)

  /// A server must not outlive us, and nobody else ends it.
  private static func endWithUs() {
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        let server = WebServer.running.load(ordering: .relaxed)
        if server > 0 { kill(server, SIGKILL) }
        _exit(128 + number)
      }
    }
  }

  /// Ends the server and waits for that.
  func stop() {
    Self.running.store(0, ordering: .relaxed)
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
  private static func configuration(root: String, directory: String, port: Int) -> String {
    """
    daemon off;
    master_process off;
    pid \(directory)/nginx.pid;
    events { worker_connections 512; }
    http {
      access_log off;
      types { image/jpeg jpg; image/png png; }
      sendfile on;
      tcp_nopush on;
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
        listen 127.0.0.1:\(port) backlog=511;
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

  private static func accepts(_ port: Int) -> Bool {
    let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(client) }
    var address = loopback(port: port)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(client, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
