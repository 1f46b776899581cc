import TestSupport
import Testing

@testable import postercache_bench

/// What counts as worse than before.
@Suite(.timeLimit(.minutes(1)))
struct BaselineTests {
  @Test func `counts come from the first column, ratios are another's time by ours`() {
    let baseline = Baseline(
      SampleReport.make(
        ours: [1, 2, 4, 5, 8], rivals: ["a": [2, 2, 2, 10, 8], "b": [3, 6, 12, 15, 24]],
        limit: [0.5, 1, 2, 2.5, 4], counts: ["calls": 1, "bytes": 1.19, "copies": nil]))
    #expect(baseline.counts == ["disk > Counts > calls": 1, "disk > Counts > bytes": 1.19])
    // The median of the rounds' ratios 2, 1, 0.5, 2, 1, not the ratio of the medians.
    #expect(
      baseline.ratios == [
        "disk > Hit > a": 1, "disk > Hit > b": 3, "disk > Hit > bare": 0.5,
      ])
  }

  @Test func `a count may grow by five per cent and shrink as it likes`() {
    let baseline = Baseline(
      isQuick: true,
      counts: ["s > t > a": 100, "s > t > b": 100, "s > t > c": 0, "s > t > d": 100],
      ratios: [:])
    let run = Baseline(
      isQuick: true,
      counts: ["s > t > a": 105, "s > t > b": 105.1, "s > t > c": 1, "s > t > d": 90],
      ratios: [:])
    #expect(
      baseline.grownCounts(in: run) == [
        Baseline.Change(key: "s > t > b", before: 100, now: 105.1),
        Baseline.Change(key: "s > t > c", before: 0, now: 1),
      ])
    #expect(
      baseline.shrunkCounts(in: run) == [
        Baseline.Change(key: "s > t > d", before: 100, now: 90)
      ])
  }

  @Test func `the lower ratio is kept, the newer count, and all of suites that did not run`() {
    var baseline = Baseline(
      isQuick: true, counts: ["disk > t > a": 2],
      ratios: ["disk > c > x": 3, "disk > c > y": 1, "disk > c > new": 5])
    baseline.keepLowerRatios(
      of: Baseline(
        isQuick: true, counts: ["disk > t > a": 1, "warm > t > a": 7],
        ratios: ["disk > c > x": 2, "disk > c > y": 4, "disk > c > gone": 1, "warm > c > z": 6]))
    #expect(baseline.counts == ["disk > t > a": 2, "warm > t > a": 7])
    #expect(
      baseline.ratios == [
        "disk > c > x": 2, "disk > c > y": 1, "disk > c > new": 5, "warm > c > z": 6,
      ])
  }

  @Test func `what was not measured is named, in the suites that ran only`() {
    let baseline = Baseline(
      isQuick: true, counts: ["disk > t > a": 1, "warm > t > a": 1], ratios: ["disk > c > curl": 2])
    let run = Baseline(isQuick: true, counts: [:], ratios: [:])
    #expect(
      baseline.missingCounts(in: run, suites: ["disk"]) == ["disk > t > a"])
    #expect(baseline.missingRatios(in: run, suites: ["disk"]) == ["disk > c > curl"])
    #expect(baseline.grownCounts(in: run) == [])
    #expect(baseline.fallenRatios(in: run) == [])
  }
}

/// How many runs it takes to say that a ratio has fallen.
@Suite(.timeLimit(.minutes(1)))
struct BaselineCheckTests {
  private static let baseline = Baseline(
    isQuick: true, counts: ["memory > t > calls": 10],
    ratios: ["memory > c > a": 10, "disk > c > b": 2])

  private static func run(
    calls: Double = 10, a: Double? = 10, b: Double? = 2
  ) -> Baseline {
    var ratios: [String: Double] = [:]
    ratios["memory > c > a"] = a
    ratios["disk > c > b"] = b
    return Baseline(isQuick: true, counts: ["memory > t > calls": calls], ratios: ratios)
  }

  @Test func `one run that is as good as before is enough`() {
    var check = BaselineCheck(Self.baseline)
    // Exactly half is not less than half.
    #expect(check.runDidFinish(Self.run(a: 5, b: 1)) == .decided([]))
  }

  @Test func `a count that has grown is counted again`() {
    var check = BaselineCheck(Self.baseline)
    #expect(check.runDidFinish(Self.run(calls: 11)) == .again(suites: ["memory"]))
    #expect(
      check.runDidFinish(Self.run(calls: 12))
        == .decided([Baseline.Change(key: "memory > t > calls", before: 10, now: 12)]))
  }

  @Test func `a ratio that has halved is measured again, its suite alone`() {
    var check = BaselineCheck(Self.baseline)
    #expect(check.runDidFinish(Self.run(a: 4)) == .again(suites: ["memory"]))
    #expect(
      check.runDidFinish(Self.run(a: 3, b: nil))
        == .decided([Baseline.Change(key: "memory > c > a", before: 10, now: 3)]))
  }

  @Test func `once in three runs is chance, and what is worse in the others counts`() {
    var check = BaselineCheck(Self.baseline)
    #expect(check.runDidFinish(Self.run(a: 4, b: 0.5)) == .again(suites: ["disk", "memory"]))
    #expect(check.runDidFinish(Self.run()) == .again(suites: ["disk", "memory"]))
    #expect(
      check.runDidFinish(Self.run(a: 9, b: 0.6))
        == .decided([Baseline.Change(key: "disk > c > b", before: 2, now: 0.6)]))
  }

  @Test(arguments: 0..<200)
  func `random runs are judged as by counting them`(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let keys = (0..<6).map { "\($0 % 3) > c > \($0)" }
    let baseline = Baseline(
      isQuick: true, counts: [:], ratios: Dictionary(uniqueKeysWithValues: keys.map { ($0, 1.0) }))
    let runs = (0..<3).map { _ in
      Baseline(
        isQuick: true, counts: [:],
        ratios: Dictionary(
          uniqueKeysWithValues: keys.map {
            ($0, Int.random(in: 0..<4, using: &generator) == 0 ? 0.4 : 0.9)
          }))
    }
    var check = BaselineCheck(baseline)
    var (taken, step) = (0, BaselineCheck.Step.again(suites: []))
    while case .again = step {
      step = check.runDidFinish(runs[taken])
      taken += 1
    }
    let fallen = keys.filter { key in
      runs[..<taken].count { ($0.ratios[key] ?? 1) < 0.5 } >= 2
    }
    guard case .decided(let changes) = step else { return }
    #expect(changes.map(\.key) == fallen.sorted())
    // It stops early only where no further run could change anything.
    if taken < 3 {
      let open = keys.filter { key in
        let times = runs[..<taken].count { ($0.ratios[key] ?? 1) < 0.5 }
        return times == 1
      }
      #expect(open == [])
    }
  }
}
