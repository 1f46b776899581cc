import CCurl
import CLinux
import Glibc

/// The least that fetching with libcurl takes: as many handles as transfers at once, each used again
/// as soon as it is free, nothing decided and nothing kept.
enum BareCurlLoop {
  /// Fetches `addresses`, so many at once; returns how many bytes of bodies came.
  ///
  /// - Parameters:
  ///   - authoritiesFile: the authorities to trust where the addresses are those of HTTPS.
  ///   - isShared: whether all transfers share one connection where the server speaks HTTP/2; each
  ///     has its own otherwise.
  ///   - path: a new file to which what comes is appended as it comes, whatever it belongs to; `nil` keeps
  ///     nothing.
  static func fetch(
    _ addresses: [String], connections: Int, authoritiesFile: String? = nil, isShared: Bool = true,
    storingIn path: String? = nil
  ) throws(BenchError) -> Int {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    guard let multi = curl_multi_init() else { throw BenchError("curl_multi_init failed") }
    let received = UnsafeMutablePointer<Received>.allocate(capacity: 1)
    received.initialize(to: Received())
    defer { received.deallocate() }
    if let path {
      received.pointee.file = postercache_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      guard received.pointee.file >= 0 else { throw BenchError(call: "open", path) }
    }
    defer { if received.pointee.file >= 0 { close(received.pointee.file) } }
    var handles: [UnsafeMutableRawPointer] = []
    var next = addresses.makeIterator()
    var waiting = addresses.count
    defer {
      for handle in handles {
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
      }
      curl_multi_cleanup(multi)
    }
    for _ in 0..<connections {
      guard let address = next.next() else { break }
      guard let handle = curl_easy_init() else { throw BenchError("curl_easy_init failed") }
      handles.append(handle)
      _ = postercache_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
      _ = postercache_curl_set_long(handle, CURLOPT_BUFFERSIZE, 64 << 10)
      _ = postercache_curl_set_long(handle, CURLOPT_FAILONERROR, 1)
      if let authoritiesFile {
        _ = postercache_curl_set_string(handle, CURLOPT_CAINFO, authoritiesFile)
        _ = postercache_curl_set_long(handle, CURLOPT_PIPEWAIT, isShared ? 1 : 0)
      }
      _ = postercache_curl_set_write(
        handle,
        { bytes, size, count, received in
          // Set below.
          let received = received!.assumingMemoryBound(to: Received.self)
          received.pointee.bytes += size * count
          guard received.pointee.file >= 0 else { return size * count }
          return write(received.pointee.file, bytes, size * count)
        }, received)
      _ = postercache_curl_set_string(handle, CURLOPT_URL, address)
      curl_multi_add_handle(multi, handle)
    }
    while waiting > 0 {
      var running: CInt = 0
      guard curl_multi_perform(multi, &running) == CURLM_OK else {
        throw BenchError("curl_multi_perform failed")
      }
      var left: CInt = 0
      var hasStarted = false
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
          continue
        }
        let code = message.pointee.data.result
        guard code == CURLE_OK else {
          throw BenchError("curl: \(String(cString: curl_easy_strerror(code)))")
        }
        waiting -= 1
        curl_multi_remove_handle(multi, handle)
        if let address = next.next() {
          _ = postercache_curl_set_string(handle, CURLOPT_URL, address)
          curl_multi_add_handle(multi, handle)
          hasStarted = true
        }
      }
      if waiting > 0, !hasStarted { curl_multi_poll(multi, nil, 0, 1000, nil) }
    }
    return received.pointee.bytes
  }

  /// What has come, and where it goes.
  private struct Received {
    var bytes = 0
    var file: CInt = -1
  }
}
