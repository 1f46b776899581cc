/// The order in which pictures should be fetched over one link.
///
/// A picture whose cell enters the screen at one time and leaves it at another saves blank time if it
/// arrives in between or before. The link brings one after the other, each taking its service time. By entry
/// is a good order as long as all arrive in time; when they do not, a picture of a cell that only passes by
/// can delay many that would stay. So, after what would arrive too late in any case is dropped, the picture
/// whose delay of others exceeds what it saves the most is dropped, again and again.
package struct FetchSchedule: Sendable {
  /// A picture that could be fetched.
  package struct Candidate: Sendable, Hashable {
    /// When its cell enters the screen, in seconds from now; 0 for a visible one.
    package var enter: Double
    /// When it leaves again.
    package var leave: Double
    /// How likely that is, from 0 to 1: what a second of blank time counts.
    package var weight: Double
    /// Seconds of the link that it takes.
    package var service: Double
    /// The caller's name for it; decides between equals.
    package var index: Int

    package init(enter: Double, leave: Double, weight: Double, service: Double, index: Int) {
      self.enter = enter
      self.leave = leave
      self.weight = weight
      self.service = service
      self.index = index
    }
  }

  /// What lies farther ahead than so many seconds of the link is not planned: the plan will be another one
  /// by then.
  static let horizonSeconds = 4.0
  /// Exchanges at most: what a plan may cost. Each looks at all that is left.
  static let exchangeLimit = 60

  /// What of `candidates` to fetch, in order.
  ///
  /// - Parameter delay: seconds until the first byte of what is asked for now.
  package static func order(_ candidates: [Candidate], delay: Double) -> [Candidate] {
    var accepted: [Candidate] = []
    accepted.reserveCapacity(candidates.count)
    var finish = delay
    let sorted = candidates.sorted {
      $0.enter != $1.enter ? $0.enter < $1.enter : $0.index < $1.index
    }
    for candidate in sorted {
      guard finish + candidate.service < candidate.leave else { continue }
      finish += candidate.service
      accepted.append(candidate)
      if finish - delay > horizonSeconds { break }
    }
    var arrivals = [Double](repeating: 0, count: accepted.count)
    for _ in 0..<exchangeLimit {
      guard let worst = worst(of: accepted, delay: delay, &arrivals) else { break }
      accepted.remove(at: worst)
    }
    return accepted
  }

  /// The one that costs others the most in excess of what it saves; `nil` if none does.
  private static func worst(
    of accepted: [Candidate], delay: Double, _ arrivals: inout [Double]
  ) -> Int? {
    var finish = delay
    for index in accepted.indices {
      finish += accepted[index].service
      arrivals[index] = finish
    }
    // How many of the later ones would come sooner: by a whole service time, or by as much as they are late.
    // Only what is certain counts. Of what is merely likely little will come true together, and counted
    // all together it would push out what is nearest.
    var overdue = 0.0
    var worst: (excess: Double, index: Int)?
    for index in accepted.indices.reversed() {
      let candidate = accepted[index]
      let saved =
        candidate.weight * max(0, candidate.leave - max(candidate.enter, arrivals[index]))
      let excess = overdue * candidate.service - saved
      if excess > (worst?.excess ?? 0) { worst = (excess, index) }
      let late = arrivals[index] - candidate.enter
      if late > 0, candidate.weight >= 1 { overdue += min(1, late / candidate.service) }
    }
    return worst?.index
  }
}
