/// A lock on one list of a cache directory, so that two processes that warm it do not double the work.
package final class ListLock: Sendable {
  /// - Parameters:
  ///   - directory: the cache directory, which exists.
  ///   - name: the list's name, any text.
  package init(directory: String, list name: String) throws(PosterError) {
  }

  /// Waits until nobody else has the lock; `onWait` is called once if that takes a wait.
  ///
  /// - Throws: ``PosterError/Code/cancelled`` if the task is cancelled meanwhile.
  package func acquire(onWait: () -> Void) async throws(PosterError) {
  }

  /// Lets the next one go on.
  package func release() {
  }
}
