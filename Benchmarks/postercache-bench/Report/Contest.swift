/// One question put to several contestants in the same run, in interleaved rounds.
struct Contest: Codable, Sendable {
  /// What was done, as a heading.
  let title: String
  /// What exactly, under which conditions, and where the contestants differ.
  let conditions: String
  /// How often a round did it; figures are given for one of these.
  let operations: Int
  /// What one of these is called.
  let operationName: String
  /// The contestants, in the order in which they are shown.
  let results: [Result]
  /// Contestants that could not take part, and why.
  let absent: [Absentee]
  /// What the project demands of itself here.
  let goals: [Goal]

  /// What a contestant is to us.
  enum Role: String, Codable, Sendable {
    /// What this project makes; the first of them is what ratios refer to.
    case ours
    /// What people would use instead.
    case rival
    /// What cannot be gone below: the same bytes without what we promise.
    case limit
  }

  /// What a contestant took.
  struct Result: Codable, Sendable {
    let name: String
    let role: Role
    /// One for each round, in order.
    let samples: [Sample]
  }

  /// A demand on the ratio between ours and others.
  struct Goal: Codable, Sendable {
    /// What is demanded, in words.
    let text: String
    /// The contestants it is about; the quickest of them counts.
    let against: [String]
    /// At least so many times as long as ours they must take.
    let ratio: Double
  }
}

extension Contest {
  /// How much longer `result` took than the first of ours: the rounds' ratios.
  func ratios(_ result: Result) -> Spread? {
    results.first { $0.role == .ours }.flatMap { ratios(result, of: $0) }
  }

  /// How much longer `result` took than `other`: the rounds' ratios.
  func ratios(_ result: Result, of other: Result) -> Spread? {
    Spread(zip(result.samples, other.samples).map { $0.seconds / $1.seconds })
  }

  /// How many times as long as `result` ours took: the distance to a limit.
  func distance(to result: Result) -> Spread? {
    results.first { $0.role == .ours }.flatMap { ratios($0, of: result) }
  }

  /// The smallest ratio of those a goal is about; `nil` if none of them took part.
  func attained(_ goal: Goal) -> Double? {
    results.filter { goal.against.contains($0.name) }.compactMap { ratios($0)?.median }.min()
  }
}
