import CLinux
import Glibc

/// Reads a file or standard input, each piece on a thread of its own: what lies there may be a pipe that
/// nobody writes to, and Swift's cooperative threads are few.
///
/// The file is opened with the first piece. Cancelling the task that waits for a piece ends the wait.
final class DocumentReader: Sendable {
  /// What came of an attempt to read.
  enum Piece: Sendable {
    case bytes([UInt8])
    /// Nothing came for so long as the caller is patient.
    case pause
    case end
  }

  /// Bytes that a piece has at most.
  static let pieceBytes = 64 << 10

  private struct Opened {
    let descriptor: FileDescriptor
    /// Whether it can be read from any place, as files can and pipes cannot.
    let isFile: Bool
  }

  private let source: DocumentSource
  private let opened = Lock<Opened?>(nil)

  /// - Parameter source: what to read; no address.
  init(_ source: DocumentSource) {
    self.source = source
  }

  /// The next bytes.
  ///
  /// - Parameters:
  ///   - offset: where to begin in a file; what is no file, and standard input, goes on where it stands.
  ///   - patienceMilliseconds: how long to wait for a writer, forever unless given.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if there is nothing to be read, with the path;
  ///   ``PosterError/Code/cancelled`` if the task is cancelled.
  func piece(
    at offset: Int, patienceMilliseconds: CInt? = nil
  ) async throws(PosterError) -> Piece {
    guard !Task.isCancelled else { throw Self.cancelled }
    let number = eventfd(0, CInt(EFD_CLOEXEC))
    guard number >= 0 else {
      throw PosterError(
        .resourcesExhausted, "cannot read \(source)", underlying: SystemError(call: "eventfd"))
    }
    let wakeup = FileDescriptor(owning: number)
    let result: Result<Piece, PosterError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        WorkerThread(name: "list reader") { [self] in
          continuation.resume(
            returning: Result { () throws(PosterError) in
              try read(at: offset, patienceMilliseconds ?? -1, wakeup)
            })
        }.detach()
      }
    } onCancel: {
      let status = eventfd_write(wakeup.number, 1)
      precondition(status == 0, "eventfd_write failed with \(errno)")
    }
    return try result.get()
  }

  /// Appends all bytes behind `bytes`, those that have come before; an error leaves what came until then.
  ///
  /// - Throws: ``PosterError/Code/bodyTooLarge`` if there are more than `limit`, and what
  ///   ``piece(at:patienceMilliseconds:)`` throws.
  func complete(_ bytes: inout [UInt8], atMost limit: Int) async throws(PosterError) {
    while bytes.count <= limit {
      guard case .bytes(let piece) = try await piece(at: bytes.count) else { return }
      bytes += piece
    }
    throw PosterError(
      .bodyTooLarge, "the list is larger than \(ByteSize(bytes: limit)): \(source)")
  }

  // MARK: - On the thread

  private static let cancelled = PosterError(.cancelled, "reading the list was cancelled")

  private func read(
    at offset: Int, _ patience: CInt, _ wakeup: FileDescriptor
  ) throws(PosterError) -> Piece {
    do throws(SystemError) {
      let opened = try open()
      var waiting = [
        pollfd(fd: wakeup.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: opened.descriptor.number, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        let ready = retryingOnInterrupt { poll(&waiting, nfds_t(waiting.count), patience) }
        guard ready >= 0 else { throw SystemError(call: "poll") }
        if waiting[0].revents != 0 { throw SystemError(call: "poll", errorNumber: ECANCELED) }
        if ready == 0 { return .pause }
        if let piece = try bytes(of: opened, at: offset) { return piece }
      }
    } catch {
      if error.errorNumber == ECANCELED { throw Self.cancelled }
      let reason = String(cString: strerror(error.errorNumber))
      throw PosterError(.invalidConfiguration, "cannot read \(source): \(reason)")
    }
  }

  /// `nil` if another process has read what was there.
  private func bytes(of opened: Opened, at offset: Int) throws(SystemError) -> Piece? {
    let number = opened.descriptor.number
    var length = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
      length = retryingOnInterrupt {
        opened.isFile
          ? pread(number, buffer.baseAddress, buffer.count, off_t(offset))
          : Glibc.read(number, buffer.baseAddress, buffer.count)
      }
      count = max(length, 0)
    }
    guard length >= 0 else {
      if errno == EAGAIN { return nil }
      throw SystemError(call: "read")
    }
    return length == 0 ? .end : .bytes(bytes)
  }

  private func open() throws(SystemError) -> Opened {
    if let opened = opened.withLock({ $0 }) { return opened }
    let new = try openSource()
    // Of two that opened it at the same time, one is the one.
    return opened.withLock { opened in
      opened = opened ?? new
      return opened ?? new
    }
  }

  private func openSource() throws(SystemError) -> Opened {
    let descriptor: FileDescriptor
    switch source {
    case .file(let path):
      // C would read only what stands before it.
      guard !path.utf8.contains(0) else { throw SystemError(call: "open", errorNumber: ENOENT) }
      // Not blocking, for a named pipe that nobody has opened for writing: poll waits for that.
      let number = retryingOnInterrupt {
        Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
      }
      guard number >= 0 else { throw SystemError(call: "open") }
      descriptor = FileDescriptor(owning: number)
    case .standardInput:
      // A copy, as this object closes what it owns.
      let number = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
      guard number >= 0 else { throw SystemError(call: "fcntl") }
      descriptor = FileDescriptor(owning: number)
    case .address: preconditionFailure("an address is loaded, not read")
    }
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw SystemError(call: "open", errorNumber: EISDIR)
    }
    let isFile = source != .standardInput && status.st_mode & S_IFMT == S_IFREG
    return Opened(descriptor: descriptor, isFile: isFile)
  }
}
