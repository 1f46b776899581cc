import PosterCache
import ScrollReplay

/// What `scroll` prints at its end.
struct ScrollReport {
  private let outcome: ScrollOutcome
  private var viewer: ViewerReport { outcome.report }

  init(_ outcome: ScrollOutcome) {
    self.outcome = outcome
  }

  // MARK: - For programs

  /// The contract's object. Times are in milliseconds, ratios shares of the time for which cells were
  /// visible.
  var json: JSON {
    .object(scene + seen + cost)
  }

  private var scene: [(String, JSON)] {
    let options = outcome.options
    return [
      ("lists", .array(options.sections.map { .string($0.list.label) })),
      ("trace", .string(outcome.trace)),
      ("policy", .string(options.policy.description)),
      ("simulated", .bool(options.isSimulated)),
      ("latency_ms", options.link.map { .integer($0.latencyMilliseconds) } ?? .null),
      ("bytes_per_second", options.link?.bytesPerSecond.map(JSON.integer) ?? .null),
      ("seconds", Self.thousandths(outcome.seconds)),
      ("frames", .integer(outcome.frames)),
    ]
  }

  private var seen: [(String, JSON)] {
    [
      ("visible", .integer(viewer.cells)),
      ("visits", .integer(viewer.visits)),
      ("never_seen", .integer(viewer.neverSeen)),
      ("blank_ratio", Self.thousandths(viewer.blankRatio)),
      ("preview_ratio", Self.thousandths(viewer.softRatio)),
      (
        "time_to_visible_ms",
        .object([
          ("p50", Self.thousandths(viewer.waitMilliseconds.p50)),
          ("p95", Self.thousandths(viewer.waitMilliseconds.p95)),
          ("p99", Self.thousandths(viewer.waitMilliseconds.p99)),
        ])
      ),
      ("visible_ms", Self.thousandths(viewer.visibleMilliseconds)),
      ("blank_ms", Self.thousandths(viewer.blankMilliseconds)),
      ("preview_ms", Self.thousandths(viewer.softMilliseconds)),
    ]
  }

  private var cost: [(String, JSON)] {
    [
      ("prefetched", .integer(viewer.prefetched)),
      ("used", .integer(viewer.used)),
      ("posters", .integer(outcome.posters)),
      ("bytes", .integer(viewer.receivedBytes)),
      ("wasted_bytes", .integer(viewer.wastedBytes)),
      ("cancelled", .object(stages.map { ($0.key, .integer($0.count)) })),
      ("connections", outcome.connections.map(JSON.integer) ?? .null),
      ("reconnects", .integer(viewer.reconnects)),
      ("pages", outcome.pagesAsked.map(JSON.integer) ?? .null),
      ("failed", .integer(outcome.posterFailures.count)),
      (
        "failures",
        .array(
          outcome.failures.map { failure in
            .object([
              ("url", .string(orNull: failure.address?.redacted)),
              ("status", failure.error.httpStatus.map(JSON.integer) ?? .null),
              ("error", .string(failure.error.description)),
            ])
          })
      ),
    ]
  }

  /// Transfers that were let go of, by what they were doing.
  private var stages: [(key: String, count: Int)] {
    let cancelled = viewer.cancelled
    return [
      ("queued", cancelled.queued), ("waiting_for_retry", cancelled.waitingForRetry),
      ("resolving", cancelled.resolving), ("connecting", cancelled.connecting),
      ("requesting", cancelled.requesting), ("receiving", cancelled.receiving),
      ("finishing", cancelled.finishing), ("storing", cancelled.storing),
    ]
  }

  private static func thousandths(_ number: Double) -> JSON {
    .thousandths(Int((number * 1000).rounded()))
  }

  // MARK: - For people

  /// What was scrolled and how, on one line.
  var title: String {
    let options = outcome.options
    var parts = [options.sections.map(\.list.label).joined(separator: ", ")]
    parts.append("\(outcome.trace), \(Self.decimal(outcome.seconds)) s")
    parts.append(options.policy.description)
    if let preview = options.preview { parts.append("\(preview.rawValue) first") }
    if let link = options.link {
      let bandwidth = link.bytesPerSecond.map(LinkText.words) ?? "unlimited"
      parts.append("\(bandwidth), \(link.latencyMilliseconds) ms")
    }
    if options.isSimulated { parts.append("simulated") }
    return parts.joined(separator: "; ")
  }

  /// The same as ``json`` for people.
  var text: String {
    let waits = viewer.waitMilliseconds
    var lines = [
      title,
      "  visible     \(counted(viewer.cells, "cell")); \(viewer.neverSeen) of"
        + " \(counted(viewer.visits, "visit")) ended before anything was shown",
      "  blank       \(Self.percent(viewer.blankRatio)) of the time that cells were visible",
    ]
    if outcome.options.preview != nil {
      lines.append("  preview     \(Self.percent(viewer.softRatio)) of it")
    }
    lines += [
      "  wait        \(Self.whole(waits.p50)) ms until half of the visits showed something,"
        + " \(Self.whole(waits.p95)) ms for 95%, \(Self.whole(waits.p99)) ms for 99%",
      "  prefetched  \(viewer.prefetched), of which \(viewer.used) were seen",
      "  fetched     \(ByteSize(bytes: viewer.receivedBytes)),"
        + " \(ByteSize(bytes: viewer.wastedBytes)) (\(Self.percent(viewer.wasteShare))) of it for"
        + " nobody",
      "  cancelled   \(cancelledWords)",
    ]
    if let connections = outcome.connections, let pages = outcome.pagesAsked {
      lines.append(
        "  network     \(counted(pages, "page")), \(counted(connections, "connection")),"
          + " \(viewer.reconnects) of them in place of closed ones")
    }
    let failed = outcome.failures.count
    if failed > 0 { lines.append("  failed      \(failed)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private var cancelledWords: String {
    let told = stages.filter { $0.count > 0 }.map { stage in
      "\(stage.count) \(stage.key.replacing("_", with: " "))"
    }
    return told.isEmpty ? "none" : told.joined(separator: ", ")
  }

  private static func percent(_ share: Double) -> String { "\(decimal(share * 100))%" }

  private static func whole(_ number: Double) -> String { String(Int(number.rounded())) }

  /// A number with one decimal.
  private static func decimal(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}
