import FoundationEssentials
import TestSupport

/// A Swift file of the checkout.
struct SourceFile {
  /// Relative to the checkout's root.
  let path: String
  let lines: [Substring]
  /// The modules that it imports.
  let imports: Set<String>

  init(path: String, lines: [Substring]) {
    self.path = path
    self.lines = lines
    imports = Set(lines.compactMap(Self.importedModule))
  }

  /// The text without comments that have a line for themselves.
  var code: String {
    lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
  }

  private static func importedModule(_ line: Substring) -> String? {
    let words = line.split(separator: " ", maxSplits: 3)
    guard let index = words.firstIndex(of: "import"), words.count > index + 1, index <= 1 else {
      return nil
    }
    return String(words[index + 1])
  }

  /// The Swift files below some folders of the checkout.
  static func all(in folders: [String]) throws -> [SourceFile] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: Checkout.path(folder))
        .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }
        .map { "\(folder)/\($0)" }
    }
    .map { path in
      SourceFile(
        path: path,
        lines: try Checkout.text(path).split(separator: "\n", omittingEmptySubsequences: false))
    }
  }
}

extension String {
  /// The parts between occurrences of `separator`.
  func components(separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}

extension Substring {
  /// The parts between occurrences of `separator`.
  func components(separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
