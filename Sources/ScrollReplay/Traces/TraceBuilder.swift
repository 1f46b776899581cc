/// Puts a trace together from what a finger does, 120 samples a second.
struct TraceBuilder {
  private(set) var samples: [ScrollTrace.Sample] = []
  private(set) var seconds = 0.0
  private(set) var offset = 0.0
  private var rowOffsets: [Int: Double] = [:]
  /// The farthest that the sections can be scrolled.
  private let end: Double

  /// Between two samples, in seconds.
  static let frame = 1.0 / 120

  /// - Parameter end: the farthest offset of the sections.
  init(end: Double) {
    self.end = max(end, 0)
    note()
  }

  /// How far a row is scrolled.
  func rowOffset(_ section: Int) -> Double { rowOffsets[section] ?? 0 }

  /// Nothing moves for a while.
  mutating func rest(_ duration: Double) {
    glide(duration) { _ in nil }
  }

  /// A fling, for as long as it lasts or until the finger comes back.
  mutating func fling(_ fling: Fling, atMost duration: Double = .infinity) {
    let start = offset
    glide(min(fling.duration, duration)) { start + fling.travelled(after: $0) }
  }

  /// A movement of constant speed.
  mutating func drag(_ distance: Double, _ duration: Double) {
    let start = offset
    glide(duration) { start + distance * $0 / duration }
  }

  /// A movement that begins and ends gently.
  mutating func animate(to target: Double, _ duration: Double) {
    let (start, target) = (offset, min(max(target, 0), end))
    glide(duration) { time in
      let share = min(time / duration, 1)
      return start + (target - start) * share * share * (3 - 2 * share)
    }
  }

  /// All at once.
  mutating func jump(to target: Double) {
    seconds += Self.frame
    place(at: target)
    note()
  }

  /// The finger moves the list, `samples` apart from its begin in seconds and points.
  mutating func follow(_ samples: [(seconds: Double, distance: Double)]) {
    let (begin, start) = (seconds, offset)
    for sample in samples {
      seconds = max(seconds, begin + sample.seconds)
      place(at: start + sample.distance)
      note()
    }
  }

  /// A fling of one row, up to its own ends.
  mutating func flingRow(
    _ section: Int, _ fling: Fling, end: Double, atMost duration: Double = .infinity
  ) {
    let (begin, start) = (seconds, rowOffset(section))
    let length = min(fling.duration, duration)
    while seconds < begin + length {
      seconds = min(seconds + Self.frame, begin + length)
      rowOffsets[section] =
        min(max(start + fling.travelled(after: seconds - begin), 0), max(end, 0))
      note()
    }
  }

  private mutating func glide(_ duration: Double, _ position: (Double) -> Double?) {
    let begin = seconds
    while seconds < begin + duration {
      seconds = min(seconds + Self.frame, begin + duration)
      if let target = position(seconds - begin) { place(at: target) }
      note()
    }
  }

  private mutating func place(at target: Double) {
    offset = min(max(target, 0), end)
  }

  private mutating func note() {
    samples.append(
      ScrollTrace.Sample(seconds: seconds, offset: offset, rowOffsets: rowOffsets))
  }
}
