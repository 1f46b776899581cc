import Glibc

/// How far, how long and along which curve a list of Android's glides once a finger has let go of it: the
/// law of `android.widget.OverScroller`, at 160 dots an inch, so that a pixel is a point.
///
/// A fling of v points a second has the strength l = ln(0.35 v / F), with F = friction x gravity in pixels
/// (9.80665 m/s² x 39.37 inches x 160 = 61,774.05) x 0.84. With d = ln 0.78 / ln 0.9 it lasts
/// e^(l / (d - 1)) seconds and covers F e^(l d / (d - 1)) points, along a cubic curve that is tabulated at
/// hundredths of its duration and straight in between.
package enum AndroidSpline {
  /// `ViewConfiguration.getScrollFriction()`.
  package static let friction = 0.015
  /// Faster ones are cut off: `ViewConfiguration.getScaledMaximumFlingVelocity()`, in points a second.
  package static let fastest = 8000.0

  private static let inflexion = 0.35
  private static let startTension = 0.5
  private static let endTension = 1.0
  private static let decelerationRate = log(0.78) / log(0.9)
  private static let resistance = friction * 9.80665 * 39.37 * 160 * 0.84
  private static let intervals = 100

  /// How long a fling lasts, in seconds.
  ///
  /// - Parameter velocity: points a second, in either direction.
  package static func duration(velocity: Double) -> Double {
    guard velocity != 0 else { return 0 }
    return exp(strength(velocity) / (decelerationRate - 1))
  }

  /// How far a fling goes, in points, with the sign of its velocity.
  package static func distance(velocity: Double) -> Double {
    guard velocity != 0 else { return 0 }
    let length = resistance * exp(decelerationRate / (decelerationRate - 1) * strength(velocity))
    return velocity < 0 ? -length : length
  }

  /// The share of the distance that is covered after a share of the duration, both 0 to 1.
  package static func progress(at share: Double) -> Double {
    guard share > 0 else { return 0 }
    guard share < 1 else { return 1 }
    let place = share * Double(intervals)
    let index = Int(place)
    return table[index] + (place - Double(index)) * (table[index + 1] - table[index])
  }

  private static func strength(_ velocity: Double) -> Double {
    log(inflexion * min(abs(velocity), fastest) / resistance)
  }

  /// The curve at hundredths of the duration. It is given as two cubic Bézier polynomials of one
  /// parameter, for time and for distance: the parameter that belongs to a time is found by halving.
  private static let table: [Double] = {
    let (first, second) = (startTension * inflexion, 1 - endTension * (1 - inflexion))
    func cubic(_ x: Double, _ left: Double, _ right: Double) -> Double {
      3 * x * (1 - x) * ((1 - x) * left + x * right) + x * x * x
    }
    var values = (0..<intervals).map { index in
      let time = Double(index) / Double(intervals)
      var (low, high) = (0.0, 1.0)
      // As exact as a Double can be; Android stops at a hundred-thousandth.
      for _ in 0..<60 {
        let middle = (low + high) / 2
        if cubic(middle, first, second) < time { low = middle } else { high = middle }
      }
      return cubic(low, startTension, 1)
    }
    values.append(1)
    return values
  }()
}
