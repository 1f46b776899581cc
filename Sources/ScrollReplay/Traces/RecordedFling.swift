import FoundationEssentials
import PosterCache

/// What a finger did on a real screen, from touching it to letting go.
package struct RecordedFling: Sendable, Hashable {
  package var name: String

  /// The most flings of a file, and how long a finger may be on the screen, in seconds.
  package static let maximumCount = 1000
  package static let maximumSeconds = 60.0

  /// Since it touched the screen, in seconds, and how far it has moved the list, in points.
  package var seconds: [Double]
  package var distances: [Double]

  /// How fast it let go, in points a second: the straight line that fits its last 50 ms best.
  package var releaseVelocity: Double {
    let end = seconds.last ?? 0
    let first = seconds.firstIndex { $0 >= end - 0.05 } ?? 0
    let count = Double(seconds.count - first)
    guard count >= 2 else { return 0 }
    let meanTime = seconds[first...].reduce(0, +) / count
    let meanDistance = distances[first...].reduce(0, +) / count
    var (product, square) = (0.0, 0.0)
    for index in first..<seconds.count {
      product += (seconds[index] - meanTime) * (distances[index] - meanDistance)
      square += (seconds[index] - meanTime) * (seconds[index] - meanTime)
    }
    return square > 0 ? product / square : 0
  }

  /// Whether a file says that it holds flings: a JSON object with `flings`.
  package static func areHeld(by json: Data) -> Bool {
    struct File: Decodable {
      struct Anything: Decodable {
        init(from decoder: any Decoder) {}
      }
      let flings: Anything
    }
    return (try? JSONDecoder().decode(File.self, from: json)) != nil  // else it is something else
  }

  /// The flings of a file: a JSON object whose `flings` have a `name` and `points`, each with `t_ns` in
  /// nanoseconds and `y` in pixels, downwards. A finger that moves down moves the list up.
  ///
  /// - Parameter pointsPerPixel: 390 points for the 1080 pixels of the screen that the recordings were
  ///   made on.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if it is something else, has no fling or more
  ///   than ``maximumCount``, or one that goes back in time or lasts longer than ``maximumSeconds``.
  package static func all(
    json: Data, pointsPerPixel: Double = 390.0 / 1080
  ) throws(PosterError) -> [RecordedFling] {
    struct File: Decodable {
      struct Fling: Decodable {
        let name: String
        let points: [Point]
      }
      struct Point: Decodable {
        let nanoseconds: Double
        let y: Double

        private enum CodingKeys: String, CodingKey {
          case nanoseconds = "t_ns"
          case y
        }
      }
      let flings: [Fling]
    }
    let file: File
    do {
      file = try JSONDecoder().decode(File.self, from: json)
    } catch {
      throw PosterError(.invalidConfiguration, "no recorded flings: the file is not as expected")
    }
    guard (1...maximumCount).contains(file.flings.count) else {
      throw PosterError(
        .invalidConfiguration,
        "not 1 to \(maximumCount) recorded flings, but \(file.flings.count)")
    }
    return try file.flings.map { fling throws(PosterError) in
      let times = fling.points.map { ($0.nanoseconds - fling.points[0].nanoseconds) / 1e9 }
      let distances = fling.points.map { (fling.points[0].y - $0.y) * pointsPerPixel }
      guard times.count >= 2, zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }),
        (times + distances).allSatisfy({ $0.isFinite }), times[times.count - 1] <= maximumSeconds
      else {
        throw PosterError(
          .invalidConfiguration,
          "the recorded fling \(fling.name.prefix(40)) has fewer than two points, goes back in time or"
            + " lasts longer than a minute")
      }
      return RecordedFling(name: fling.name, seconds: times, distances: distances)
    }
  }
}

extension ScrollTrace {
  /// Recorded flings in an order that `seed` makes, each as the finger made it and then as Android lets the
  /// list glide, with pauses in between. Near the top those that move forward come first.
  package static func recorded(
    _ flings: [RecordedFling], seed: UInt64, end: Double
  ) -> ScrollTrace {
    var random = SplitMix64(seed: seed)
    var rest = flings
    var builder = TraceBuilder(end: end)
    builder.rest(0.4)
    while !rest.isEmpty {
      let drawn = Int(random.next() % UInt64(rest.count))
      let onward = rest.indices.first { rest[($0 + drawn) % rest.count].releaseVelocity > 0 }
      let index =
        builder.offset < 1500 ? onward.map { ($0 + drawn) % rest.count } ?? drawn : drawn
      let fling = rest.remove(at: index)
      builder.follow(zip(fling.seconds, fling.distances).map { ($0, $1) })
      let pause = random.pick([0.35, 0.6, 1.0, 1.8]) * random.number(in: 0.7...1.3)
      let next = builder.seconds + pause
      builder.fling(Fling(.spline, velocity: fling.releaseVelocity), atMost: pause)
      builder.rest(next - builder.seconds)
    }
    return ScrollTrace(name: "recorded \(seed)", samples: builder.samples)
  }
}
