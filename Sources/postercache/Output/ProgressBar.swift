import PosterCache

/// How far `warm` has come, as one line of text.
struct ProgressBar: Sendable, Equatable {
  /// Posters done with, whether they were there, fetched or failed.
  var done = 0
  /// Posters known so far; grows with each page.
  var total = 0
  /// Posters that failed.
  var failed = 0
  /// Bytes fetched.
  var bytes = 0
  /// Whether more pages may come.
  var isListing = true

  /// The line, exactly `columns` wide so that it covers the one before.
  func text(columns: Int, isColored: Bool) -> String {
    let count = "\(done)/\(total)\(isListing ? "+" : "") posters"
    var figures = "  \(count)  \(ByteSize(bytes: bytes))"
    if failed > 0 { figures += "  \(failed) failed" }
    let width = min(columns - figures.count - 2, 40)
    guard width >= 8 else {
      return String(figures.dropFirst(2).prefix(columns)).padded(to: columns)
    }
    let filled = total == 0 ? 0 : width * min(done, total) / total
    let full = String(repeating: "#", count: filled)
    let empty = String(repeating: ".", count: width - filled)
    let rest = figures.padded(to: columns - width - 2)
    return isColored ? "[\u{1B}[32m\(full)\u{1B}[0m\(empty)]\(rest)" : "[\(full)\(empty)]\(rest)"
  }
}
