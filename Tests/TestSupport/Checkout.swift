import FoundationEssentials

/// The checkout that the tests were built from.
public enum Checkout {
  /// The absolute path of something in it, given relative to its root.
  public static func path(_ relative: String) -> String {
    // This file lies two folders below the root.
    let components = #filePath.split(separator: "/").dropLast(3)
    return "/" + (components + [Substring(relative)]).joined(separator: "/")
  }

  /// The text of a file in it.
  public static func text(_ relative: String) throws -> String {
    try String(contentsOf: URL(filePath: path(relative)), encoding: .utf8)
  }
}
