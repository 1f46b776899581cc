import PosterCache

/// In which order to fetch what will be visible from when until when, over a link that takes one after the
/// other.
enum OracleSchedule {
  struct Candidate {
    /// Seconds from now; 0 where it is visible.
    var enter: Double
    var leave: Double
    var cell: WindowCell
  }

  /// So many seconds of the link are planned at most.
  private static let horizon = 4.0
  private static let exchanges = 60

  /// Cells in the order in which to fetch them: by entry; what would arrive after it has left is dropped;
  /// then, worst first, each cell that saves less blank time than the delay it causes to later ones that
  /// will be overdue.
  ///
  /// - Parameter service: for how long a cell occupies the link, in seconds.
  static func order(
    _ candidates: [Candidate], latency: Double, service: (WindowCell) -> Double
  ) -> [WindowCell] {
    var accepted: [(candidate: Candidate, service: Double)] = []
    var finish = 0.0
    let ordered = candidates.sorted {
      ($0.enter, $0.leave, $0.cell) < ($1.enter, $1.leave, $1.cell)
    }
    for candidate in ordered {
      let seconds = service(candidate.cell)
      guard latency + finish + seconds < candidate.leave else { continue }
      accepted.append((candidate, seconds))
      finish += seconds
      if finish > horizon { break }
    }
    for _ in 0..<exchanges {
      guard let worst = worst(of: accepted, latency: latency) else { break }
      accepted.remove(at: worst)
    }
    return accepted.map(\.candidate.cell)
  }

  /// The cell whose removal gains most; `nil` if none gains anything.
  private static func worst(
    of accepted: [(candidate: Candidate, service: Double)], latency: Double
  ) -> Int? {
    var arrival = latency + accepted.reduce(0) { $0 + $1.service }
    var overdue = 0.0
    var worst: (gain: Double, index: Int)?
    for index in accepted.indices.reversed() {
      let (candidate, service) = accepted[index]
      let saved = max(0, candidate.leave - max(candidate.enter, arrival))
      let caused = overdue * service
      if caused > saved, worst.map({ caused - saved > $0.gain }) ?? true {
        worst = (caused - saved, index)
      }
      if arrival > candidate.enter { overdue += 1 }
      arrival -= service
    }
    return worst?.index
  }
}
