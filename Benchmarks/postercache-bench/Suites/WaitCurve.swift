/// How long visible posters wait under one policy, over how much of the link is used.
struct WaitCurve {
  /// One setting of the policy.
  struct Point {
    /// The share of the link in use.
    let use: Double
    /// The mean wait of posters that come alone, in seconds.
    let alone: Double
    /// The same of those that come in bursts.
    let burst: Double
  }

  /// In the order of the setting.
  let points: [Point]

  /// The wait at which the policy would use the link as much as that, between two settings in
  /// proportion; beyond the first and the last, theirs. The least where the curve passes more than
  /// once.
  func wait(at use: Double, _ wait: KeyPath<Point, Double>) -> Double? {
    let between = zip(points, points.dropFirst()).compactMap { left, right -> Double? in
      guard min(left.use, right.use) <= use, use <= max(left.use, right.use) else { return nil }
      let part = left.use == right.use ? 0 : (use - left.use) / (right.use - left.use)
      return left[keyPath: wait] + part * (right[keyPath: wait] - left[keyPath: wait])
    }
    if let least = between.min() { return least }
    guard let least = points.min(by: { $0.use < $1.use }),
      let most = points.max(by: { $0.use < $1.use })
    else { return nil }
    return (use < least.use ? least : most)[keyPath: wait]
  }
}
