/// What a run is compared with: the exact counts and the time ratios of an earlier one.
///
/// Counts may grow by ``countTolerance``. A ratio is another's time divided by ours in the same round, so that
/// it hardly depends on the machine; it may fall to half. Times themselves decide nothing.
struct Baseline: Codable, Equatable, Sendable {
  /// The share by which a count may grow.
  static let countTolerance = 0.05
  /// The part of a ratio below which it counts as fallen.
  static let ratioFloor = 0.5

  /// The version of this file's shape.
  static let currentSchema = 1

  var schema = currentSchema
  /// Whether it is of a quick run: other runs are of other sizes.
  let isQuick: Bool
  /// By suite, table and row; the first column, which is ours.
  var counts: [String: Double]
  /// By suite, contest and contestant: the median of its time divided by that of the first of ours.
  var ratios: [String: Double]

  /// What `report` comes to.
  init(_ report: Report) {
    isQuick = report.isQuick
    counts = [:]
    ratios = [:]
    for suite in report.suites {
      for table in suite.tables where table.isCounted {
        for row in table.rows where row.isGuarded {
          guard let count = row.values.first ?? nil, count.isFinite else { continue }
          counts[Self.key(suite.name, table.title, row.name)] = count
        }
      }
      for contest in suite.contests {
        for result in contest.results where result.role != .ours {
          guard let ratio = contest.ratios(result)?.median, ratio.isFinite else { continue }
          ratios[Self.key(suite.name, contest.title, result.name)] = ratio
        }
        // Whatever else is ours is held to the first limit, or to the first rival.
        let others = contest.results.filter { $0.role != .ours }
        guard let measure = others.first(where: { $0.role == .limit }) ?? others.first else {
          continue
        }
        for result in contest.results.filter({ $0.role == .ours }).dropFirst() {
          guard let ratio = contest.ratios(measure, of: result)?.median, ratio.isFinite else {
            continue
          }
          ratios[Self.key(suite.name, contest.title, "\(result.name), by \(measure.name)")] = ratio
        }
      }
    }
  }

  init(isQuick: Bool, counts: [String: Double], ratios: [String: Double]) {
    (self.isQuick, self.counts, self.ratios) = (isQuick, counts, ratios)
  }

  /// Takes over the ratios of an earlier run that are lower, and all of suites that this one did not run.
  ///
  /// What rivals take differs between runs, most of all where files that were removed a while ago make new ones
  /// slow. A ratio counts as fallen only where it is half of the lowest that is known.
  mutating func keepLowerRatios(of earlier: Baseline) {
    let suites = Set((Array(ratios.keys) + counts.keys).map(Self.suite))
    for (key, ratio) in earlier.ratios
    where ratios[key] != nil || !suites.contains(Self.suite(of: key)) {
      ratios[key] = min(ratios[key] ?? ratio, ratio)
    }
    for (key, count) in earlier.counts where !suites.contains(Self.suite(of: key)) {
      counts[key] = count
    }
  }

  private static let separator = " > "

  private static func key(_ parts: String...) -> String { parts.joined(separator: separator) }

  /// The suite that a key belongs to.
  static func suite(of key: String) -> String {
    key.firstRange(of: separator).map { String(key[..<$0.lowerBound]) } ?? key
  }
}

extension Baseline {
  /// A figure beside what it was.
  struct Change: Equatable, Sendable {
    let key: String
    let before: Double
    let now: Double
  }

  /// Counts of `run` that have grown beyond the tolerance; by key.
  func grownCounts(in run: Baseline) -> [Change] {
    changes(counts, run.counts) { before, now in
      now > before * (1 + Self.countTolerance) + 1e-9
    }
  }

  /// Counts of `run` that have shrunk by as much: a new baseline would keep what was gained.
  func shrunkCounts(in run: Baseline) -> [Change] {
    changes(counts, run.counts) { before, now in
      now < before * (1 - Self.countTolerance) - 1e-9
    }
  }

  /// Ratios of `run` that have fallen to less than half; by key.
  func fallenRatios(in run: Baseline) -> [Change] {
    changes(ratios, run.ratios) { before, now in now < before * Self.ratioFloor }
  }

  /// The counts that `run` should have, of the suites it ran, and has not: a tool is missing.
  func missingCounts(in run: Baseline, suites: [String]) -> [String] {
    counts.keys.filter { run.counts[$0] == nil && suites.contains(Self.suite(of: $0)) }.sorted()
  }

  /// The same of ratios: a rival is missing, or the disk is another one.
  func missingRatios(in run: Baseline, suites: [String]) -> [String] {
    ratios.keys.filter { run.ratios[$0] == nil && suites.contains(Self.suite(of: $0)) }.sorted()
  }

  private func changes(
    _ before: [String: Double], _ now: [String: Double], _ isWorth: (Double, Double) -> Bool
  ) -> [Change] {
    before.sorted { $0.key < $1.key }.compactMap { key, before in
      guard let now = now[key], isWorth(before, now) else { return nil }
      return Change(key: key, before: before, now: now)
    }
  }
}
