import PosterCache

/// What `warm` prints at its end.
enum WarmReport {
  /// The contract's object: `posters` is the sum of `hits`, `fetched`, `revalidated` and `failed`,
  /// except in a dry run; `failures` names the pages that failed, too, and like every message leaves
  /// out what may be secret in an address.
  ///
  /// - Parameters:
  ///   - found: what searches have found, `nil` without a search.
  ///   - foresight: what would be fetched, `nil` if it was.
  static func json(
    _ tally: WarmTally, milliseconds: Int, found: [JSON]? = nil, foresight: Foresight? = nil
  ) -> JSON {
    var members: [(String, JSON)] = [
      ("list", .string(tally.lists.map(\.label).joined(separator: ","))),
      ("pages", .integer(tally.pages)),
      ("items", .integer(tally.items)),
      ("posters", .integer(tally.posters)),
      ("skipped", json(tally.skipped, sinceLast: tally.sinceLast)),
      ("hits", .integer(tally.hits)),
      ("fetched", .integer(tally.fetched)),
      ("revalidated", .integer(tally.revalidated)),
      ("failed", .integer(tally.failed)),
      ("bytes", .integer(tally.bytes)),
      ("seconds", .thousandths(milliseconds)),
      ("failures", .array(tally.failures.map(json))),
      ("lists", .array(tally.lists.map(json))),
      ("faults", .array(tally.faults.map { json($0, of: tally.lists[$0.list]) })),
    ]
    if let found { members.append(("results", .array(found))) }
    if let foresight {
      members.append(("would_fetch", .integer(foresight.wouldFetch)))
      members.append(("estimated_bytes", .integer(foresight.bytes)))
    }
    return .object(members)
  }

  /// An entry that a search has found.
  static func json(_ item: FeedItem) -> JSON {
    .object([
      ("kind", .string(item.kind.name)), ("id", .string(orNull: item.id)),
      ("title", .string(orNull: item.title)),
    ])
  }

  /// The same as a line with tabs in between, and none within.
  static func line(for item: FeedItem) -> String {
    [item.kind.name, item.id ?? "", item.title ?? ""].map(Console.onOneLine)
      .joined(separator: "\t")
  }

  private static func json(_ skipped: FeedPage.Skipped, sinceLast: Int) -> JSON {
    .object([
      ("no_path", .integer(skipped.noPath)), ("duplicate", .integer(skipped.duplicate)),
      ("unsupported", .integer(skipped.unsupported)), ("since_last", .integer(sinceLast)),
    ])
  }

  private static func json(_ failure: WarmTally.Failure) -> JSON {
    .object([
      ("url", .string(orNull: failure.address?.redacted)),
      ("status", failure.error.httpStatus.map(JSON.integer) ?? .null),
      ("error", .string(failure.error.description)),
    ])
  }

  private static func json(_ list: ListTally) -> JSON {
    .object([
      ("list", .string(list.label)), ("pages", .integer(list.pages)),
      ("items", .integer(list.items)), ("posters", .integer(list.posters)),
      ("skipped", json(list.skipped, sinceLast: list.sinceLast)),
      ("failed_pages", .integer(list.failedPages)),
    ])
  }

  private static func json(_ fault: WarmTally.Fault, of list: ListTally) -> JSON {
    .object([
      ("list", .string(list.label)), ("place", .string(fault.fault.place.description)),
      ("reason", .string(fault.fault.reason)),
    ])
  }

  // MARK: - For people

  /// Tells what failed, and which entries cannot be understood, which is no failure.
  static func tell(_ tally: WarmTally, of listing: Settings.Listing, on console: Console) {
    console.failures(
      tally.failures.map {
        Console.words(
          for: $0.error, about: $0.address, from: listing.lists[$0.list].sourceName)
      },
      count: tally.failureCount)
    console.failures(
      tally.faults.map { "\(listing.lists[$0.list].sourceName): \($0.fault)" },
      count: tally.faultCount, noun: "fault")
  }

  /// The same for people.
  ///
  /// - Parameter pinned: posters that `--pin` pinned, `nil` without it.
  static func text(_ tally: WarmTally, milliseconds: Int, pinned: Int? = nil) -> String {
    let time = JSON.thousandths(milliseconds).text
    var lines = tally.lists.map { list in
      heading(list.label, list.pages, list.items, list.posters)
    }
    if lines.count > 1 {
      lines.append(heading("total", tally.pages, tally.items, tally.posters))
    }
    lines += [
      "  fetched  \(tally.fetched)  (\(ByteSize(bytes: tally.bytes)) in \(time) s)",
      "  cached   \(tally.hits)",
    ]
    if tally.revalidated > 0 { lines.append("  checked  \(tally.revalidated)  (still right)") }
    if tally.failed > 0 { lines.append("  failed   \(tally.failed)") }
    if let pinned { lines.append("  pinned   \(pinned)") }
    let reasons = [
      (tally.skipped.noPath, "without a poster"), (tally.skipped.duplicate, "repeated"),
      (tally.skipped.unsupported, "unsupported"), (tally.sinceLast, "as last time"),
    ].filter { $0.0 > 0 }
    if !reasons.isEmpty {
      let count = reasons.reduce(0) { $0 + $1.0 }
      let words = reasons.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
      lines.append("  skipped  \(count)  (\(words))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func heading(_ name: String, _ pages: Int, _ items: Int, _ posters: Int) -> String
  {
    "\(name): \(counted(pages, "page")), \(counted(items, "item")), \(counted(posters, "poster"))"
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
