import PosterCache
import ScrollReplay

/// All runs of the scroll suite: every contestant on every trace behind every link, on all cores.
struct ScrollRuns {
  /// The mean over some traces.
  struct Figures: Sendable {
    var blank = 0.0
    var waste = 0.0
    var soft = 0.0
    /// Of cells that were not there from the beginning, in seconds.
    var laterBlank = 0.0
    /// From becoming visible to showing something, in milliseconds.
    var wait95 = 0.0
    var neverSeen = 0.0
    var reconnects = 0.0
    var megabytes = 0.0
    var wastedMegabytes = 0.0
    /// Cells that were looked at for a plan.
    var examined = 0.0

    /// Wasted bytes of all traces as a share of all their bytes, where ``waste`` is the mean of their shares.
    var wasteOfAll: Double { megabytes > 0 ? wastedMegabytes / megabytes : 0 }

    init() {}

    init(_ result: Simulator.Result) {
      let report = result.report
      blank = report.blankRatio
      waste = report.wasteShare
      soft = report.softRatio
      laterBlank = report.laterBlankMilliseconds / 1000
      wait95 = report.waitMilliseconds.p95
      neverSeen = Double(report.neverSeen) / Double(max(report.visits, 1))
      reconnects = Double(report.reconnects)
      megabytes = Double(report.receivedBytes) / 1e6
      wastedMegabytes = Double(report.wastedBytes) / 1e6
      examined = Double(result.examined) / Double(max(result.plans, 1))
    }

    init(mean all: [Figures]) {
      for path in Self.paths where !all.isEmpty {
        self[keyPath: path] = all.reduce(0) { $0 + $1[keyPath: path] } / Double(all.count)
      }
    }

    private static var paths: [WritableKeyPath<Figures, Double>] {
      [
        \.blank, \.waste, \.soft, \.wait95, \.neverSeen, \.reconnects, \.megabytes, \.examined,
        \.laterBlank, \.wastedMegabytes,
      ]
    }
  }

  let contestants: [ScrollContestant]
  let links: [ScrollLink]
  let grounds: [ScrollGround]
  /// By contestant, link and trace: of its numbers of transfers, the one with the fewest blanks behind the
  /// link.
  private let figures: [[[Figures]]]

  init(_ contestants: [ScrollContestant], _ links: [ScrollLink], _ grounds: [ScrollGround]) {
    self.contestants = contestants
    self.links = links
    self.grounds = grounds
    let jobs = contestants.indices.flatMap { contestant in
      links.indices.map { (contestant: contestant, link: $0) }
    }
    let state = Monitor((next: 0, done: [Int: [Figures]]()))
    let threads = (0..<2).map { _ in
      WorkerThread(name: "bench-scroll") {
        while true {
          let place = state.withLock { state in
            state.next += 1
            return state.next - 1
          }
          guard place < jobs.count else { return }
          let job = jobs[place]
          let figures = Self.best(contestants[job.contestant], links[job.link], grounds)
          state.withLock { $0.done[place] = figures }
        }
      }
    }
    for thread in threads { thread.join() }
    let done = state.withLock { $0.done }
    figures = contestants.indices.map { contestant in
      links.indices.map { done[contestant * links.count + $0] ?? [] }
    }
  }

  private static func best(
    _ contestant: ScrollContestant, _ link: ScrollLink, _ grounds: [ScrollGround]
  ) -> [Figures] {
    let all = contestant.slots.map { slots in
      grounds.map { ground in
        let simulator = Simulator(ground.trace, layout: ground.layout, pictures: ground.pictures)
        return Figures(
          simulator.run(
            contestant.policy(ground, link, slots: slots),
            QueuedFetching(
              ground.pictures, bytesPerSecond: link.bytesPerSecond,
              latency: link.latency)))
      }
    }
    return all.min { Figures(mean: $0).blank < Figures(mean: $1).blank } ?? []
  }

  // MARK: - Means

  /// The mean of a contestant over some links and traces; all of them unless said otherwise.
  func mean(
    _ contestant: Int, link: Int? = nil, kind: String? = nil, without other: String? = nil,
    where isWanted: (ScrollGround) -> Bool = { _ in true }
  ) -> Figures {
    let chosen = link.map { [figures[contestant][$0]] } ?? figures[contestant]
    return Figures(
      mean: chosen.flatMap { figures in
        zip(figures, grounds)
          .filter { (kind == nil || $0.1.kind == kind) && $0.1.kind != other && isWanted($0.1) }
          .map(\.0)
      })
  }

  /// The place of a contestant by name.
  func place(of name: String) -> Int? { contestants.firstIndex { $0.name == name } }
}
