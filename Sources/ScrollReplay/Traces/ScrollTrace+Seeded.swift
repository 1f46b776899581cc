import Glibc
import PosterCache

/// Ways to scroll of which a seed makes a trace.
package enum TraceKind: String, Sendable, Hashable, CaseIterable {
  /// Flings that slow down as on iOS.
  case iOSFlings = "ios"
  /// Flings that slow down as on Android.
  case androidFlings = "android"
  /// There and back, before it has come to rest.
  case reversals
  /// To the top, or anywhere by the scroll bar.
  case jumps
  /// Slower than any link that can be measured feeds.
  case reading
  /// Down, and sideways in the rows on the way.
  case rows
}

extension ScrollTrace {
  /// A trace that follows from its kind and `seed` alone, the same on every machine.
  ///
  /// - Parameters:
  ///   - seconds: how long it lasts at least; the last movement is finished.
  ///   - layout: what is scrolled; bounds how far.
  package static func seeded(
    _ kind: TraceKind, seed: UInt64, seconds: Double = 14, layout: ScreenLayout
  ) -> ScrollTrace {
    let end = layout.farthestOffset
    switch kind {
    case .iOSFlings: return steppedFlings(seed: seed, seconds: seconds, end: end)
    case .androidFlings: return flings(.spline, seed: seed, seconds: seconds, end: end)
    case .reversals: return reversals(seed: seed, seconds: seconds, end: end)
    case .jumps: return jumps(seed: seed, seconds: seconds, end: end)
    case .reading: return reading(seed: seed, seconds: seconds, end: end)
    case .rows: return rows(seed: seed, seconds: seconds, layout: layout)
    }
  }

  private static let speeds = [600.0, 1200, 2500, 4000, 6000, 9000]
  private static let pauses = [0.35, 0.6, 1.0, 1.8, 3.0]

  /// How fast a finger lets go: mostly forward, and always near the top.
  private static func velocity(_ random: inout SplitMix64, at offset: Double) -> Double {
    let isForward = random.number(in: 0...1) < 0.8 || offset < 2000
    let speed = random.pick(speeds) * random.number(in: 0.8...1.2)
    return isForward ? speed : -speed
  }

  private static func pause(_ random: inout SplitMix64) -> Double {
    random.pick(pauses) * random.number(in: 0.7...1.3)
  }

  /// Flings in steps of 4 ms, of which each leaves 0.998⁴ of the speed; a fling may end an earlier one.
  private static func steppedFlings(seed: UInt64, seconds: Double, end: Double) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    let step = 0.004
    let left = pow(0.998, step * 1000)
    var (offset, velocity, nextFling) = (0.0, 0.0, 0.4)
    let samples = (0..<Int((seconds / step).rounded(.up))).map { index in
      let time = Double(index) * step
      if time >= nextFling {
        velocity = Self.velocity(&random, at: offset)
        nextFling = time + pause(&random)
      }
      velocity *= left
      if abs(velocity) < Fling.slowest { velocity = 0 }
      offset = min(max(0, offset + velocity * step), max(end, 0))
      return Sample(seconds: time, offset: offset)
    }
    return ScrollTrace(name: "\(TraceKind.iOSFlings.rawValue) \(seed)", samples: samples)
  }

  /// Flings, each until the next one begins.
  private static func flings(
    _ law: Fling.Law, seed: UInt64, seconds: Double, end: Double
  ) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    var builder = TraceBuilder(end: end)
    builder.rest(0.4)
    while builder.seconds < seconds {
      let fling = Fling(law, velocity: velocity(&random, at: builder.offset))
      let next = builder.seconds + pause(&random)
      builder.fling(fling, atMost: next - builder.seconds)
      builder.rest(next - builder.seconds)
    }
    return ScrollTrace(
      name: "\(TraceKind.androidFlings.rawValue) \(seed)", samples: builder.samples)
  }

  /// A fling, and one back within a second, a little shorter on the whole.
  private static func reversals(seed: UInt64, seconds: Double, end: Double) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    let law: Fling.Law = seed % 2 == 0 ? .exponential : .spline
    var builder = TraceBuilder(end: end)
    builder.rest(0.4)
    var isForward = true
    while builder.seconds < seconds {
      let speed = random.pick([1200.0, 2500, 4000, 6000]) * random.number(in: 0.8...1.2)
      builder.fling(
        Fling(law, velocity: isForward ? speed : -0.8 * speed),
        atMost: random.number(in: 0.25...1))
      if random.number(in: 0...1) < 0.3 { builder.rest(random.number(in: 0.2...1.5)) }
      isForward.toggle()
    }
    return ScrollTrace(name: "\(TraceKind.reversals.rawValue) \(seed)", samples: builder.samples)
  }

  /// Some flings, then a tap on the status bar or a drag of the scroll bar, and a look at what is there.
  private static func jumps(seed: UInt64, seconds: Double, end: Double) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    let law: Fling.Law = seed % 2 == 0 ? .exponential : .spline
    var builder = TraceBuilder(end: end)
    builder.rest(0.4)
    while builder.seconds < seconds {
      for _ in 0..<random.pick([1, 2, 3]) {
        let speed = random.pick([1200.0, 2500, 4000]) * random.number(in: 0.8...1.2)
        builder.fling(Fling(law, velocity: speed), atMost: random.number(in: 0.5...2))
      }
      switch random.pick([0, 1, 2]) {
      case 0: builder.animate(to: 0, 0.4)
      case 1: builder.jump(to: random.number(in: 0...max(end, 0)))
      // The knob is dragged: many screens go by before it is let go of.
      default: builder.animate(to: random.number(in: 0...max(end, 0)), random.number(in: 0.4...1.2))
      }
      builder.rest(random.number(in: 0.8...2))
    }
    return ScrollTrace(name: "\(TraceKind.jumps.rawValue) \(seed)", samples: builder.samples)
  }

  /// A short way with the finger, and time to look: 100 to 400 points a second.
  private static func reading(seed: UInt64, seconds: Double, end: Double) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    var builder = TraceBuilder(end: end)
    builder.rest(2)
    while builder.seconds < seconds {
      let speed = random.number(in: 100...400)
      let duration = random.number(in: 0.3...1.2)
      let isForward = random.number(in: 0...1) < 0.9 || builder.offset < 500
      builder.drag(isForward ? speed * duration : -speed * duration, duration)
      builder.rest(random.number(in: 0.2...1.5))
    }
    return ScrollTrace(name: "\(TraceKind.reading.rawValue) \(seed)", samples: builder.samples)
  }

  /// Down by flings; where it has come to rest, some flings in the row in the middle of the screen.
  private static func rows(seed: UInt64, seconds: Double, layout: ScreenLayout) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    let law: Fling.Law = seed % 2 == 0 ? .exponential : .spline
    var builder = TraceBuilder(end: layout.farthestOffset)
    builder.rest(0.4)
    while builder.seconds < seconds {
      let isForward = random.number(in: 0...1) < 0.75 || builder.offset < 500
      let speed = random.pick([600.0, 1200, 2500]) * random.number(in: 0.8...1.2)
      builder.fling(
        Fling(law, velocity: isForward ? speed : -speed), atMost: random.number(in: 0.4...1.5))
      builder.rest(random.number(in: 0.1...0.5))
      guard let row = layout.row(at: builder.offset + layout.viewHeight / 2) else { continue }
      for _ in 0..<random.pick([0, 1, 2, 3]) {
        let isOnward = random.number(in: 0...1) < 0.75 || builder.rowOffset(row) < 100
        let speed = random.pick([600.0, 1200, 2500]) * random.number(in: 0.8...1.2)
        builder.flingRow(
          row, Fling(law, velocity: isOnward ? speed : -speed), end: layout.farthestOffset(of: row),
          atMost: random.number(in: 0.4...1.5))
      }
      builder.rest(random.number(in: 0.2...1))
    }
    return ScrollTrace(name: "\(TraceKind.rows.rawValue) \(seed)", samples: builder.samples)
  }
}
