import FoundationEssentials
import PosterCache
import ScrollReplay

/// What a viewer sees while somebody scrolls, by the policy that decides what to fetch: in virtual time,
/// with the engine's own queue.
struct ScrollSuite: Suite {
  static let name = "scroll"
  static let abstract = "blank cells while scrolling, by policy, in virtual time"
  static let needsPosters = false

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    var recorded: [RecordedFling] = []
    if let file = context.options.inCorpus("traces/flings_android.json") {
      recorded = try RecordedFling.all(json: Data(TextFile.read(file)))
    }
    let isQuick = context.options.isQuick
    let grounds = ScrollGround.all(each: isQuick ? 2 : 6, recorded: recorded)
    let contestants =
      [.oracle, .ours, .knowing, .ladder]
      + (isQuick
        ? ScrollContestant.fewFixed : ScrollContestant.fixed + ScrollContestant.aheads)
    BenchContext.progress(
      "\(Self.name): \(contestants.count) policies, \(ScrollLink.all.count) links, "
        + "\(grounds.count) traces")
    let runs = ScrollRuns(contestants, ScrollLink.all, grounds)
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(grounds.count) traces of about 14 s (flings as on iOS and as on Android, reversals, jumps, \
        slow reading, rows in rows\(recorded.isEmpty ? "" : ", recorded fingers")), replayed in \
        virtual time in a viewport of 390 x 844 points with cells of 120 x 180, pictures of 8 to \
        150 KB. Blank is the share of visible cell time without any picture, waste the share of \
        bytes for cells that were never visible (the mean over the traces, and of all bytes), soft \
        the share with the preview only; the wait is from becoming visible to showing something. \
        Means over all traces. Those that look a \
        fixed distance ahead run with as many transfers as keep the link busy and with six; the \
        better one counts.
        """)
    report.tables.append(overall(runs))
    report.tables.append(guarded(runs))
    report.tables += runs.links.indices.map { table(runs, link: $0) }
    report.tables.append(
      byKind(runs, "Blank time by the way of scrolling", "Blank time") { $0.blank })
    report.tables.append(byKind(runs, "Waste by the way of scrolling", "Waste") { $0.waste })
    report.tables.append(withoutJumps(runs))
    report.tables.append(calm(runs))
    report.tables.append(PlanCost.table(context.rounds(11, contest: "plan")))
    report.tables.append(try counts())
    report.plots = plots(runs)
    return report
  }

  // MARK: - Tables

  private static let columns = [
    "blank, %", "waste, %", "waste of all bytes, %", "soft, %", "wait p95, ms", "never seen, %",
    "reconnects", "MB",
    "cells looked at a plan",
  ]

  private func row(_ name: String, _ figures: ScrollRuns.Figures) -> FigureTable.Row {
    FigureTable.Row(
      name: name,
      values: [
        figures.blank * 100, figures.waste * 100, figures.wasteOfAll * 100, figures.soft * 100,
        figures.wait95,
        figures.neverSeen * 100, figures.reconnects, figures.megabytes, figures.examined,
      ])
  }

  private func rows(_ runs: ScrollRuns, link: Int?) -> [FigureTable.Row] {
    runs.contestants.indices.map {
      row(runs.contestants[$0].name, runs.mean($0, link: link))
    }
  }

  private func overall(_ runs: ScrollRuns) -> FigureTable {
    let best = bestFixed(runs, link: nil)
    let waste = best.map { runs.mean($0.place).waste }
    return FigureTable(
      title: "All links", conditions: "The mean over \(runs.links.count) links.",
      columns: Self.columns, rows: rows(runs, link: nil),
      demands: gap(runs, link: nil) + [
        FigureTable.Demand(
          text: "the same policy's waste, divided into ours",
          value: ours(runs, nil).flatMap { ours in waste.map { ours.waste / max($0, 1e-9) } },
          bound: 1),
        FigureTable.Demand(
          text: "our waste, %", value: ours(runs, nil).map { $0.waste * 100 }, bound: 15),
        FigureTable.Demand(
          text: "our waste of all bytes, %", value: ours(runs, nil).map { $0.wasteOfAll * 100 },
          bound: 15),
      ])
  }

  /// Traces of a sort that both a quick and a full run have.
  private static let guardedTraces = 2

  /// Ours on traces that every run has, wherever it is made: the same numbers every time.
  private func guarded(_ runs: ScrollRuns) -> FigureTable {
    func isGuarded(_ ground: ScrollGround) -> Bool {
      ground.kind != ScrollGround.recordedKind && ground.seed < UInt64(Self.guardedTraces)
    }
    let links: [Int?] = [nil] + runs.links.indices.map(Optional.some)
    let contestants: [ScrollContestant] = [.ours, .ladder, .oracle]
    func row(_ name: String, _ link: Int?, _ value: (ScrollRuns.Figures) -> Double)
      -> FigureTable.Row
    {
      let place = link.map { runs.links[$0].title } ?? "all links"
      return FigureTable.Row(
        name: "\(name): \(place)",
        values: contestants.map { contestant in
          runs.place(of: contestant.name).map {
            value(runs.mean($0, link: link, where: isGuarded))
          }
        })
    }
    return FigureTable(
      title: "What is guarded",
      conditions: """
        \(Self.guardedTraces) seeded traces of each sort: virtual time, so that the numbers are the same \
        in every run, quick or not, on any machine.
        """,
      columns: contestants.map(\.name),
      rows: links.map { row("blank, %", $0) { $0.blank * 100 } }
        + links.map { row("waste of all bytes, %", $0) { $0.wasteOfAll * 100 } }
        + [
          row("reconnects a trace", nil) { $0.reconnects }, row("MB a trace", nil) { $0.megabytes },
        ],
      isCounted: true)
  }

  private func table(_ runs: ScrollRuns, link: Int) -> FigureTable {
    let oracle = runs.place(of: ScrollContestant.oracle.name).map { runs.mean($0, link: link) }
    let ladder = runs.place(of: ScrollContestant.ladder.name).map { runs.mean($0, link: link) }
    return FigureTable(
      title: runs.links[link].title, conditions: "The mean over all traces.",
      columns: Self.columns, rows: rows(runs, link: link),
      demands: gap(runs, link: link) + [
        FigureTable.Demand(
          text: "blanks with the ladder, % (at most those of the oracle)",
          value: ladder.map { $0.blank * 100 }, bound: (oracle?.blank ?? 0) * 100)
      ])
  }

  /// How much of the way from the best fixed policy to the oracle is left.
  private func gap(_ runs: ScrollRuns, link: Int?) -> [FigureTable.Demand] {
    guard let oracle = runs.place(of: ScrollContestant.oracle.name),
      let ours = ours(runs, link), let best = bestFixed(runs, link: link)
    else { return [] }
    let limit = runs.mean(oracle, link: link).blank
    let way = best.blank - limit
    return [
      FigureTable.Demand(
        text: "(ours - oracle) / (\(runs.contestants[best.place].name) - oracle) in blank time",
        value: way > 0 ? (ours.blank - limit) / way : nil, bound: 0.5)
    ]
  }

  private func ours(_ runs: ScrollRuns, _ link: Int?) -> ScrollRuns.Figures? {
    runs.place(of: ScrollContestant.ours.name).map { runs.mean($0, link: link) }
  }

  /// The fixed policy with the fewest blanks.
  private func bestFixed(_ runs: ScrollRuns, link: Int?) -> (place: Int, blank: Double)? {
    runs.contestants.indices.filter { runs.contestants[$0].isFixed }
      .map { ($0, runs.mean($0, link: link).blank) }.min { $0.1 < $1.1 }
  }

  private func byKind(
    _ runs: ScrollRuns, _ title: String, _ what: String,
    _ value: (ScrollRuns.Figures) -> Double
  ) -> FigureTable {
    var kinds: [String] = []
    for ground in runs.grounds where !kinds.contains(ground.kind) { kinds.append(ground.kind) }
    return FigureTable(
      title: title, conditions: "\(what) in percent, the mean over all links.",
      columns: kinds,
      rows: runs.contestants.indices.map { place in
        FigureTable.Row(
          name: runs.contestants[place].name,
          values: kinds.map { value(runs.mean(place, kind: $0)) * 100 })
      }, demands: [])
  }

  /// Blank time where the future follows from the past: nobody but the oracle foresees a jump.
  private func withoutJumps(_ runs: ScrollRuns) -> FigureTable {
    let jumps = TraceKind.jumps.rawValue
    func blank(_ name: String, _ link: Int?) -> Double? {
      runs.place(of: name).map { runs.mean($0, link: link, without: jumps).blank * 100 }
    }
    let columns: [Int?] = [nil] + runs.links.indices.map(Optional.some)
    let oracle = ScrollContestant.oracle.name
    let excesses = columns.dropFirst().compactMap { link -> Double? in
      guard let ladder = blank(ScrollContestant.ladder.name, link), let best = blank(oracle, link)
      else { return nil }
      return ladder / max(best, 1e-9)
    }
    return FigureTable(
      title: "Blank time without the jumps",
      conditions: "Blank time in percent, the mean over all other ways of scrolling.",
      columns: columns.map { $0.map { runs.links[$0].title } ?? "all links" },
      rows: runs.contestants.map { contestant in
        FigureTable.Row(
          name: contestant.name, values: columns.map { blank(contestant.name, $0) })
      },
      demands: [
        FigureTable.Demand(
          text: "the ladder's blanks, divided by the oracle's, on the link where that is most",
          value: excesses.max(), bound: 1)
      ])
  }

  /// A calm scroll leaves nothing blank once the first screen is there.
  private func calm(_ runs: ScrollRuns) -> FigureTable {
    let kind = TraceKind.reading.rawValue
    let ours = runs.place(of: ScrollContestant.ours.name)
    let all = runs.links.indices.compactMap { link in
      ours.map { runs.mean($0, link: link, kind: kind).laterBlank }
    }
    return FigureTable(
      title: "Slow reading, after the first screen",
      conditions:
        "Seconds of blank cells that were not there from the beginning, the mean of a trace.",
      columns: runs.links.map(\.title),
      rows: runs.contestants.indices.map { place in
        FigureTable.Row(
          name: runs.contestants[place].name,
          values: runs.links.indices.map { runs.mean(place, link: $0, kind: kind).laterBlank })
      },
      demands: [
        FigureTable.Demand(
          text: "our blank seconds of a trace on any link", value: all.max(), bound: 0)
      ])
  }

  // MARK: - Plots

  /// Blank time over waste, a curve for each sort of policy.
  private func plots(_ runs: ScrollRuns) -> [Plot] {
    let curves: [(String, Contest.Role, (ScrollContestant) -> Bool)] = [
      (
        "adaptive", .ours,
        { if case .ours(let it, false) = $0.kind { it.previewShare == nil } else { false } }
      ),
      ("fixed:N", .rival, { if case .fixed(.items) = $0.kind { true } else { false } }),
      ("screens", .rival, { if case .fixed(.screens) = $0.kind { true } else { false } }),
      ("none", .rival, { if case .fixed(.none) = $0.kind { true } else { false } }),
      ("oracle", .limit, { if case .oracle = $0.kind { true } else { false } }),
    ]
    return ([nil] + runs.links.indices.map(Optional.some)).map { link in
      let name = link.map {
        "\(Int(runs.links[$0].megabits))-\(Int(runs.links[$0].milliseconds))"
      }
      return Plot(
        id: "scroll-\(name ?? "all")",
        title: "Blank time over wasted bytes: \(link.map { runs.links[$0].title } ?? "all links")",
        command: "Benchmarks/run scroll",
        horizontal: Plot.Axis(label: "wasted bytes", unit: "%", maximum: 50),
        vertical: Plot.Axis(label: "blank time", unit: "%"),
        series: curves.map { name, role, isOf in
          let points = runs.contestants.indices.filter { isOf(runs.contestants[$0]) }.map {
            runs.mean($0, link: link)
          }
          return Plot.Series(
            name: name, role: role,
            points: points.sorted { $0.waste < $1.waste }.map {
              Plot.Point(x: $0.waste * 100, y: Figure($0.blank * 100))
            })
        })
    }
  }
}
