import CCurl

extension CurlTransfer {
  /// What a running transfer is doing.
  enum Stage: Hashable {
    /// Waiting for the address of a name, or for a connection that others are making.
    case resolving
    /// Making a connection, TLS included.
    case connecting
    /// Waiting for the answer.
    case requesting
    /// Receiving the answer.
    case receiving
  }

  /// Moments of the last request of a transfer, on the monotonic clock, in nanoseconds. curl's own
  /// times add up what all redirects took.
  struct Progress {
    /// When the request was sent.
    private(set) var requestSentAt: UInt64?
    /// When the answer began.
    private(set) var firstByteAt: UInt64?
    /// What curl says the redirects before this request took to resolve, in microseconds.
    private(set) var resolvedBefore = 0

    /// A connection is there, and the request goes out on it.
    mutating func requestWasSent(now: UInt64) {
      requestSentAt = now
      firstByteAt = nil
    }

    /// The first line of an answer has come.
    mutating func answerDidBegin(now: UInt64) {
      firstByteAt = now
    }

    /// The answer was a redirect.
    mutating func willRequestAgain(resolvedAfter microseconds: Int) {
      self = Progress()
      resolvedBefore = microseconds
    }
  }

  /// What the transfer is doing now; after a redirect, what its next request is doing.
  var stage: Stage {
    if progress.firstByteAt != nil { return .receiving }
    if progress.requestSentAt != nil { return .requesting }
    return size(CURLINFO_NAMELOOKUP_TIME_T) > progress.resolvedBefore ? .connecting : .resolving
  }

  /// Since when the answer is being waited for, in nanoseconds; `nil` if it is not.
  func waitingNanoseconds(now: UInt64) -> UInt64? {
    guard let sent = progress.requestSentAt, progress.firstByteAt == nil else { return nil }
    return now - sent
  }

  /// From sending the last request to the first byte of its answer; `nil` before.
  var firstByteNanoseconds: UInt64? {
    guard let sent = progress.requestSentAt, let came = progress.firstByteAt else { return nil }
    return came - sent
  }

  /// Bytes of the body that are still to come, as far as the server has announced them.
  var remainingBytes: Int? {
    guard headers.isComplete, let announced = headers.contentLength else { return nil }
    return max(announced - receivedCount, 0)
  }
}
