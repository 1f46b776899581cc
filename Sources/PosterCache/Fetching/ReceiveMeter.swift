/// Counts the body bytes that all transfers of one host receive. Used on the fetch thread only.
final class ReceiveMeter {
  /// Bytes so far; only differences mean something.
  private(set) var bytes = 0

  func add(_ count: Int) {
    bytes += count
  }
}
