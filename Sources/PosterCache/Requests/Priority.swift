/// How urgently a poster is wanted.
public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Nobody waits: filling a cache from a list.
  case background
  /// It will probably be seen soon.
  case prefetch
  /// Somebody is looking at the place where it belongs.
  case visible

  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
