import ScrollReplay

/// Follows a trace as far as there is content: whoever reaches an end stops there, and moves back from there
/// when the trace does.
struct ScrollMotion {
  private let samples: [ScrollTrace.Sample]
  private var next = 0
  private var last = ScrollTrace.Sample(seconds: 0, offset: 0)
  private var place = ScrollTrace.Sample(seconds: 0, offset: 0)

  init(_ trace: ScrollTrace) {
    samples = trace.samples
  }

  /// Where the scrolls stand at a time; times must ascend.
  mutating func place(at seconds: Double, in layout: ScreenLayout) -> ScrollTrace.Sample {
    while next < samples.count, samples[next].seconds <= seconds {
      move(to: samples[next], layout)
      next += 1
    }
    place.seconds = seconds
    return place
  }

  private mutating func move(to sample: ScrollTrace.Sample, _ layout: ScreenLayout) {
    place.offset = min(
      max(place.offset + sample.offset - last.offset, 0), layout.farthestOffset)
    for (row, offset) in sample.rowOffsets where layout.sections.indices.contains(row) {
      let moved = (place.rowOffsets[row] ?? 0) + offset - (last.rowOffsets[row] ?? 0)
      place.rowOffsets[row] = min(max(moved, 0), layout.farthestOffset(of: row))
    }
    last = sample
  }
}
