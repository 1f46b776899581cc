import CLinux

/// Tells a child made by `fork` from the process that opened a cache.
///
/// What a cache lives from does not survive `fork`: its threads are gone, locks may be held by
/// threads that are gone, open-file-description locks are shared with the parent, and LMDB's
/// environments must not be used in a child at all (its documentation, "Caveats"). So a child gets
/// errors. A process that forks first and opens the cache afterwards is free to do so, as is one
/// made by `posix_spawn` or `exec`.
enum ForkGuard {
  /// Has forks noticed from now on; idempotent.
  static func watch() {
    let status = postercache_watch_forks()
    precondition(status == 0, "pthread_atfork failed with \(status)")
  }

  /// Whether this process is a child of one that had a cache or a fetcher open.
  static var isInChild: Bool { postercache_is_forked_child() != 0 }

  /// - Throws: ``PosterError/Code/forkedProcess`` in such a child.
  static func check() throws(PosterError) {
    if isInChild { throw error }
  }

  /// What a child is told.
  static var error: PosterError {
    PosterError(
      .forkedProcess,
      "the cache was opened before fork and cannot be used in the child: open it after fork")
  }
}
