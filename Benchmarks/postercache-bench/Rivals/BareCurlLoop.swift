import CCurl
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
  static func fetch(
    _ addresses: [String], connections: Int, authoritiesFile: String? = nil, isShared: Bool = true
  ) throws(BenchError) -> Int {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    guard let multi = curl_multi_init() else { throw BenchError("curl_multi_init failed") }
    let received = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    received.initialize(to: 0)
    defer { received.deallocate() }
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
        { _, size, count, received in
          received!.assumingMemoryBound(to: Int.self).pointee += size * count  // set below
          return size * count
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
    return received.pointee
  }
}
