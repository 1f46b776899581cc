import PosterCache

/// How far a command has come, as one line of text.
struct ProgressBar: Sendable, Equatable {
  /// What is counted.
  var noun = "poster"
  /// Posters done with, whether they were there, fetched or failed.
  var done = 0
  /// Posters known so far; grows with each page.
  var total = 0
  /// Posters that failed.
  var failed = 0
  /// Bytes fetched; `nil` is not shown.
  var bytes: Int? = 0
  /// Bytes fetched per second since the beginning; 0 is not shown.
  var bytesPerSecond = 0
  /// Whether more pages may come.
  var isListing = true

  /// The line, at most `columns` wide, or exactly so if `isPadded`, so that it covers the one before.
  func text(columns: Int, isColored: Bool, isPadded: Bool = true) -> String {
    func fitted(_ text: String, to width: Int) -> String {
      isPadded ? text.padded(to: width) : text
    }
    if total == 0, isListing {
      return fitted(String("loading the list…".prefix(columns)), to: columns)
    }
    let count =
      "\(done)/\(total)\(isListing ? "+" : "") \(noun)\(total == 1 && !isListing ? "" : "s")"
    var figures = "  \(count)"
    if let bytes { figures += "  \(ByteSize(bytes: bytes))" }
    if bytesPerSecond > 0 { figures += "  \(ByteSize(bytes: bytesPerSecond))/s" }
    if failed > 0 { figures += "  \(failed) failed" }
    let width = min(columns - figures.count - 2, 40)
    guard width >= 8 else {
      return fitted(String(figures.dropFirst(2).prefix(columns)), to: columns)
    }
    let filled = total == 0 ? 0 : width * min(done, total) / total
    let full = String(repeating: "#", count: filled)
    let empty = String(repeating: ".", count: width - filled)
    let rest = fitted(figures, to: columns - width - 2)
    return isColored ? "[\u{1B}[32m\(full)\u{1B}[0m\(empty)]\(rest)" : "[\(full)\(empty)]\(rest)"
  }
}
