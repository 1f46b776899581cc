/// Which paths something is about: one path, or all that begin alike.
public struct PathPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The pattern as written: a path such as `/t/p/w342/a.jpg`, or its beginning followed by `*`.
  public let description: String

  /// - Parameter text: a decoded path without a query; a `*` at its end stands for anything.
  public init(_ text: String) {
    description = text
  }

  public init(stringLiteral text: String) {
    self.init(text)
  }

  /// Whether `path` is meant.
  public func matches(_ path: String) -> Bool {
    description.last == "*" ? path.hasPrefix(description.dropLast()) : path == description
  }
}
