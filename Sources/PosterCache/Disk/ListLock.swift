import CLinux
import Glibc

/// A lock on one list of a cache directory, so that two processes that warm it do not double the work.
///
/// It is a lock on one byte of the directory's file `format`, at a place that follows from the list's name:
/// two lists that share it by accident wait for each other, and nothing else happens. Whoever dies lets go of
/// it. Safe to use from any thread; two objects exclude each other, whichever process they are in. One is for
/// one task at a time, and of no more use once its wait was cancelled.
package final class ListLock: Sendable {
  private let file: FileDescriptor
  private let offset: Int64
  private let state = Lock(State.idle)

  private enum State {
    case idle
    case waiting(UnsafeContinuation<Result<Void, PosterError>, Never>)
    case held
    /// Nobody waits any more; whoever gets it lets go of it at once.
    case abandoned
  }

  /// The first byte of those that stand for lists; the ones before have other uses.
  private static let firstOffset = Int64(1) << 40

  /// - Parameters:
  ///   - directory: the cache directory, which exists.
  ///   - name: the list's name, any text.
  /// - Throws: ``PosterError/Code/directoryUnavailable`` if it cannot be opened.
  package init(directory: String, list name: String) throws(PosterError) {
    do throws(SystemError) {
      let folder = try CacheDirectory.openDirectory(directory)
      file = try CacheDirectory.openFile("format", in: folder, flags: O_RDWR)
    } catch {
      throw CacheDirectory.unusable(directory, error)
    }
    offset = Self.firstOffset + Int64(CacheKey(hashing: name).low >> 24)
  }

  /// Waits until nobody else has the lock; `onWait` is called once if that takes a wait.
  ///
  /// - Throws: ``PosterError/Code/cancelled`` if the task is cancelled meanwhile.
  package func acquire(onWait: () -> Void) async throws(PosterError) {
    if postercache_ofd_lock(file.number, Int16(F_WRLCK), offset, 1) == 0 {
      state.withLock { $0 = .held }
      return
    }
    // Anything but a lock that somebody holds would fail again.
    guard [EAGAIN, EACCES].contains(errno) else { throw Self.failure }
    onWait()
    try await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isCancelled = state.withLock { state in
          if case .abandoned = state { return true }
          state = .waiting(continuation)
          return false
        }
        guard !isCancelled else { return continuation.resume(returning: .failure(.fetchCancelled)) }
        // Not on a task's thread, of which there are few.
        WorkerThread(name: "poster-lock") { self.wait() }.detach()
      }
    } onCancel: {
      let waiting = state.withLock {
        state -> UnsafeContinuation<Result<Void, PosterError>, Never>? in
        guard case .held = state else {
          defer { state = .abandoned }
          if case .waiting(let continuation) = state { return continuation }
          return nil
        }
        return nil
      }
      waiting?.resume(returning: .failure(.fetchCancelled))
    }.get()
  }

  /// Lets the next one go on.
  package func release() {
    state.withLock { $0 = .idle }
    unlock()
  }

  private func wait() {
    let status = retryingOnInterrupt {
      Int(postercache_ofd_lock_wait(file.number, Int16(F_WRLCK), offset, 1))
    }
    let result: Result<Void, PosterError> =
      status == 0
      ? .success(())
      : .failure(Self.failure)
    let waiting = state.withLock { state -> UnsafeContinuation<Result<Void, PosterError>, Never>? in
      guard case .waiting(let continuation) = state else { return nil }
      state = status == 0 ? .held : .idle
      return continuation
    }
    if waiting == nil { unlock() }
    waiting?.resume(returning: result)
  }

  /// What the last call of the calling thread failed with.
  private static var failure: PosterError {
    PosterError(
      .directoryUnavailable, "cannot lock the list",
      underlying: SystemError(call: "fcntl", path: "format"))
  }

  private func unlock() {
    // Fails only where it is not held.
    _ = postercache_ofd_lock(file.number, Int16(F_UNLCK), offset, 1)
  }
}
