import Glibc

/// How a scroll slows down once the finger has let go of it.
///
/// Both laws are autonomous: what is left of a motion depends on its velocity alone, however it got there.
/// Velocities are points per second, points being those of iOS or Android's dp, both about 160 to an inch.
package enum DecelerationLaw: Sendable, Hashable {
  /// Velocity decays by a constant rate per second: iOS, whose `UIScrollView.DecelerationRate.normal` is
  /// 0.998 per millisecond.
  case exponential(rate: Double)
  /// Android's `OverScroller`. Its spline is close to the power law from which its duration and distance
  /// come: `1 - (1 - t / T)^r` of the distance with `r = ln 0.78 / ln 0.9`.
  case power

  /// iOS: `-ln 0.998` per millisecond.
  package static let normal = DecelerationLaw.exponential(rate: -log(0.998) * 1000)

  /// `DECELERATION_RATE` of `OverScroller`.
  static let exponent = log(0.78) / log(0.9)
  /// Where its spline turns: `INFLEXION`.
  static let inflexion = 0.35
  /// `ViewConfiguration.getScrollFriction()` times gravity in inches (9.80665 m/s² x 39.37 in/m), 160
  /// points per inch and a look-and-feel factor of 0.84.
  static let friction = 0.015 * 9.80665 * 39.37 * 160 * 0.84

  /// Seconds until a motion of velocity `speed` stops under the power law.
  static func duration(speed: Double) -> Double {
    guard speed > 0 else { return 0 }
    return exponent * inflexion * pow(inflexion * speed / friction, 1 / (exponent - 1))
  }

  /// By how much velocity decays now, per second, at `speed`.
  func rate(at speed: Double) -> Double {
    switch self {
    case .exponential(let rate): rate
    case .power: (Self.exponent - 1) / max(Self.duration(speed: speed), 0.001)
    }
  }
}

/// A position that moves along one axis and slows down by a law.
package struct Motion: Sendable, Hashable {
  /// Where it is now, in points.
  package var position: Double
  /// Points per second; 0 at rest.
  package var velocity: Double
  package var law: DecelerationLaw

  package init(position: Double, velocity: Double = 0, law: DecelerationLaw = .normal) {
    self.position = position
    self.velocity = velocity
    self.law = law
  }

  /// Where it stops if nobody touches it again.
  package var stop: Double {
    switch law {
    case .exponential(let rate): position + velocity / rate
    case .power:
      position + velocity * DecelerationLaw.duration(speed: abs(velocity))
        / DecelerationLaw.exponent
    }
  }

  /// Where it is `seconds` from now.
  package func position(after seconds: Double) -> Double {
    switch law {
    case .exponential(let rate):
      return position - velocity * expm1(-rate * seconds) / rate
    case .power:
      let duration = DecelerationLaw.duration(speed: abs(velocity))
      guard seconds < duration else { return stop }
      let left = pow(1 - seconds / duration, DecelerationLaw.exponent)
      return position + velocity * duration / DecelerationLaw.exponent * (1 - left)
    }
  }

  /// Seconds until it comes to `target`: 0 if it is there or has passed it, infinite if it never does.
  package func seconds(to target: Double) -> Double {
    let distance = target - position
    guard velocity != 0 else { return distance == 0 ? 0 : .infinity }
    guard distance * velocity > 0 else { return 0 }
    // The share of the whole way that is left beyond the target.
    let left = 1 - distance / (stop - position)
    guard left > 0 else { return .infinity }
    switch law {
    case .exponential(let rate): return -log(left) / rate
    case .power:
      let duration = DecelerationLaw.duration(speed: abs(velocity))
      return duration * (1 - pow(left, 1 / DecelerationLaw.exponent))
    }
  }
}
