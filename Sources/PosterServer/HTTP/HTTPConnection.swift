import CMicrohttpd

/// A client's connection with the request that is being answered on it.
///
/// Valid while the server runs and the request has not been completed. `@unchecked Sendable`:
/// ``resume()`` may be called on any thread, which libmicrohttpd allows; everything else only
/// inside the server's callbacks for this connection.
struct HTTPConnection: @unchecked Sendable {
  let pointer: OpaquePointer

  /// What a body's reader has to say.
  enum Reading {
    /// This many bytes, more than none, have been written.
    case bytes(Int)
    /// The connection has been suspended; call the reader again once it is resumed.
    case suspended
    /// The body is complete.
    case end
    /// Close the connection, leaving the body as it is.
    case fail
  }

  /// Fills a buffer with the bytes from an offset on.
  typealias Reader = (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) -> Reading

  /// How the end of a streamed body is told.
  enum Framing {
    /// By its announced length in bytes.
    case length(Int)
    /// By chunked transfer coding (RFC 9112, section 7.1).
    case chunked
    /// By the end of the connection (RFC 9112, section 6.3, rule 8).
    case close
  }

  /// The value of the request's header `name`, upper and lower case being the same.
  func header(_ name: String) -> String? {
    MHD_lookup_connection_value(pointer, .HEADER_KIND, name).map { String(cString: $0) }
  }

  /// The decoded value of the query's parameter `name`.
  func query(_ name: String) -> String? {
    MHD_lookup_connection_value(pointer, .GET_ARGUMENT_KIND, name).map { String(cString: $0) }
  }

  /// Leaves the connection alone, without a thread waiting, until ``resume()``; call it only in the
  /// callbacks for this connection, which are called again afterwards.
  func suspend() {
    MHD_suspend_connection(pointer)
  }

  /// Takes up a suspended connection. Any thread.
  func resume() {
    MHD_resume_connection(pointer)
  }

  // MARK: Answers

  /// Answers with `range` of `body`, which is sent from where it lies.
  ///
  /// - Returns: whether the answer could be queued; if not, the connection must be closed.
  func answer(
    status: Int, headers: [(name: String, value: String)], body: StableBytes, range: Range<Int>
  ) -> Bool {
    let bytes = body.pointer(to: range)
    let response = MHD_create_response_from_buffer_with_free_callback_cls(
      bytes.count, bytes.baseAddress,
      { body in
        // Retained when the response was made.
        Unmanaged<StableBytes>.fromOpaque(body!).release()
      }, Unmanaged.passRetained(body).toOpaque())
    guard let response else {
      Unmanaged.passUnretained(body).release()
      return false
    }
    return queue(response, status: status, headers: headers)
  }

  /// Answers with a body that `reader` yields, called on the server's threads.
  ///
  /// - Returns: whether the answer could be queued; if not, the connection must be closed.
  func answer(
    status: Int, headers: [(name: String, value: String)], framing: Framing, blockSize: Int,
    reader: @escaping Reader
  ) -> Bool {
    let length =
      switch framing {
      case .length(let count): UInt64(count)
      case .chunked, .close: UInt64.max
      }
    let box = Unmanaged.passRetained(ReaderBox(reader))
    let response = MHD_create_response_from_callback(
      length, blockSize,
      { box, offset, buffer, count in
        // Retained when the response was made, as long as the response lives.
        let box = Unmanaged<ReaderBox>.fromOpaque(box!).takeUnretainedValue()
        let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: count)
        return switch box.reader(Int(offset), buffer) {
        case .bytes(let count): count
        case .suspended: 0
        // MHD_CONTENT_READER_END_OF_STREAM and _END_WITH_ERROR, casts that Swift does not import.
        case .end: -1
        case .fail: -2
        }
      }, box.toOpaque(),
      { box in
        // Retained when the response was made.
        Unmanaged<ReaderBox>.fromOpaque(box!).release()
      })
    guard let response else {
      box.release()
      return false
    }
    if case .close = framing {
      let status = postercache_mhd_close_after(response)
      precondition(status == .YES, "MHD_set_response_options failed")
    }
    return queue(response, status: status, headers: headers)
  }

  private func queue(
    _ response: OpaquePointer, status: Int, headers: [(name: String, value: String)]
  ) -> Bool {
    // The connection keeps a reference of its own.
    defer { MHD_destroy_response(response) }
    for header in headers {
      guard MHD_add_response_header(response, header.name, header.value) == .YES else {
        return false
      }
    }
    return MHD_queue_response(pointer, UInt32(status), response) == .YES
  }

  private final class ReaderBox {
    let reader: Reader
    init(_ reader: @escaping Reader) { self.reader = reader }
  }
}
