/// Somebody who takes part in a contest.
struct Contestant {
  let name: String
  let role: Contest.Role
  /// Does the work once and says what it took. What prepares or checks it is not measured.
  let run: () async throws -> Sample
}

/// Runs contestants in turn, so that whatever else the machine does meets all of them alike.
struct Rounds {
  /// Rounds that count.
  let count: Int
  /// What is being done, for whoever waits.
  let progress: (String) -> Void

  /// One round that does not count, then ``count`` that do; each begins with another contestant.
  func run(_ contestants: [Contestant]) async throws -> [Contest.Result] {
    var samples = contestants.map { _ in [Sample]() }
    for round in 0...count {
      for turn in contestants.indices {
        let place = (turn + round) % contestants.count
        progress("round \(round) of \(count): \(contestants[place].name)")
        let sample = try await contestants[place].run()
        if round > 0 { samples[place].append(sample) }
      }
    }
    return zip(contestants, samples).map { contestant, samples in
      Contest.Result(name: contestant.name, role: contestant.role, samples: samples)
    }
  }
}
