import Glibc

/// What a list does by itself once a finger has let go of it at some speed.
package struct Fling: Sendable, Hashable {
  /// The laws by which it slows down.
  package enum Law: Sendable, Hashable, CaseIterable {
    /// iOS: of the speed, 0.998 is left after each millisecond (`UIScrollView.DecelerationRate.normal`).
    case exponential
    /// Android: see ``AndroidSpline``.
    case spline
  }

  package let law: Law
  /// At its begin, in points a second.
  package let velocity: Double
  /// How long it lasts, in seconds.
  package let duration: Double

  /// The logarithm of what is left of the speed after a second.
  package static let exponentialRate = log(0.998) * 1000
  /// Where the exponential law calls it a stop, in points a second.
  package static let slowest = 10.0

  package init(_ law: Law, velocity: Double) {
    self.law = law
    self.velocity = velocity
    switch law {
    case .exponential:
      let speed = abs(velocity)
      duration = speed > Self.slowest ? log(Self.slowest / speed) / Self.exponentialRate : 0
    case .spline:
      duration = AndroidSpline.duration(velocity: velocity)
    }
  }

  /// How far it goes in all, in points, with the sign of its velocity.
  package var distance: Double { travelled(after: duration) }

  /// How far it has come after `seconds`.
  package func travelled(after seconds: Double) -> Double {
    let time = min(max(seconds, 0), duration)
    switch law {
    case .exponential:
      return velocity * (exp(Self.exponentialRate * time) - 1) / Self.exponentialRate
    case .spline:
      guard duration > 0 else { return 0 }
      return AndroidSpline.distance(velocity: velocity)
        * AndroidSpline.progress(at: time / duration)
    }
  }
}
