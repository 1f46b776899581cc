import PosterCache

/// What `warm` prints at its end.
enum WarmReport {
  /// The contract's object: `posters` is the sum of `hits`, `fetched`, `revalidated` and `failed`,
  /// except in a dry run; `failures` names the pages that failed, too, and like every message leaves
  /// out what may be secret in an address.
  static func json(_ tally: WarmTally, list: TMDBList, milliseconds: Int) -> JSON {
    .object([
      ("list", .string(list.path)),
      ("pages", .integer(tally.pages)),
      ("items", .integer(tally.items)),
      ("posters", .integer(tally.posters)),
      (
        "skipped",
        .object([
          ("no_path", .integer(tally.skipped.noPath)),
          ("duplicate", .integer(tally.skipped.duplicate)),
          ("unsupported", .integer(tally.skipped.unsupported)),
        ])
      ),
      ("hits", .integer(tally.hits)),
      ("fetched", .integer(tally.fetched)),
      ("revalidated", .integer(tally.revalidated)),
      ("failed", .integer(tally.failed)),
      ("bytes", .integer(tally.bytes)),
      ("seconds", .thousandths(milliseconds)),
      (
        "failures",
        .array(
          tally.failures.map { failure in
            .object([
              ("url", .string(failure.address.redacted)),
              ("status", failure.error.httpStatus.map(JSON.integer) ?? .null),
              ("error", .string(failure.error.description)),
            ])
          })
      ),
    ])
  }

  /// The same for people.
  ///
  /// - Parameter pinned: posters that `--pin` pinned, `nil` without it.
  static func text(
    _ tally: WarmTally, list: TMDBList, milliseconds: Int, pinned: Int? = nil
  ) -> String {
    let time = JSON.thousandths(milliseconds).text
    var lines = [
      "\(list.path): \(counted(tally.pages, "page")), \(counted(tally.items, "item")),"
        + " \(counted(tally.posters, "poster"))",
      "  fetched  \(tally.fetched)  (\(ByteSize(bytes: tally.bytes)) in \(time) s)",
      "  cached   \(tally.hits)",
    ]
    if tally.revalidated > 0 { lines.append("  checked  \(tally.revalidated)  (still right)") }
    if tally.failed > 0 { lines.append("  failed   \(tally.failed)") }
    if let pinned { lines.append("  pinned   \(pinned)") }
    let reasons = [
      (tally.skipped.noPath, "without a poster"), (tally.skipped.duplicate, "repeated"),
      (tally.skipped.unsupported, "unsupported"),
    ].filter { $0.0 > 0 }
    if !reasons.isEmpty {
      let count = reasons.reduce(0) { $0 + $1.0 }
      let words = reasons.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
      lines.append("  skipped  \(count)  (\(words))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

}

/// A number and its noun: `1 page`, `2 pages`.
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

extension PosterError {
  /// The HTTP status that the server answered, if the failure is about one; refused credentials
  /// count as 401, also where the server chose another status to say so.
  var httpStatus: Int? {
    switch code {
    case .status(let status): status
    case .unauthorized: 401
    default: nil
    }
  }
}
