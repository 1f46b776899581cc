import PosterCache
import ScrollReplay

/// What a viewer of a replayed scroll saw, noted at the moment at which it happens. Any thread.
final class ScrollRecorder: Sendable {
  /// What has been noted.
  struct Record: Sendable {
    var tally = ViewerTally()
    var timeline: ScrollTimeline
    /// Pictures that came.
    var arrived: Set<WindowAsk> = []
    /// Cells whose picture could not be had, and why.
    var failures: [WindowCell: PosterError] = [:]
    fileprivate var lastSeconds = 0.0
  }

  /// When the scroll began, in nanoseconds of the monotonic clock.
  let start: UInt64
  private let record: Lock<Record>

  /// Begins a scroll now.
  ///
  /// - Parameters:
  ///   - sections: what to call each section.
  ///   - start: when it began, in nanoseconds of the monotonic clock.
  init(sections: [String], start: UInt64 = monotonicNanoseconds()) {
    self.start = start
    record = Lock(Record(timeline: ScrollTimeline(sections: sections)))
  }

  /// Seconds since it began.
  var seconds: Double { Double(monotonicNanoseconds() - start) / 1e9 }

  /// Everything noted so far.
  var current: Record { record.withLock { $0 } }

  // MARK: - Events

  /// These items of each section are visible from now on.
  func screenDidChange(to ranges: [Range<Int>], at seconds: Double) {
    note(at: seconds) { record, seconds in
      record.tally.screenDidChange(to: ranges, at: seconds)
      record.timeline.screenDidChange(to: ranges, at: seconds)
    }
  }

  /// A cell shows a picture.
  ///
  /// - Parameter seconds: when; now unless given.
  func pictureDidAppear(in place: WindowCell, _ rung: WindowAsk.Rung, at seconds: Double? = nil) {
    note(at: seconds) { record, seconds in
      record.tally.pictureDidAppear(in: place, rung, at: seconds)
      record.timeline.pictureDidAppear(in: place, rung, at: seconds)
      if rung == .full { record.failures[place] = nil }
    }
  }

  /// A cell shows nothing any more.
  func pictureDidVanish(from place: WindowCell, at seconds: Double) {
    note(at: seconds) { record, seconds in
      record.tally.pictureDidVanish(from: place, at: seconds)
      record.timeline.pictureDidVanish(from: place)
    }
  }

  /// A picture came. One that came before counts once.
  ///
  /// - Parameter isPrefetch: whether it was asked for while its cell was not visible.
  func pictureDidArrive(_ ask: WindowAsk, isPrefetch: Bool) {
    note(at: nil) { record, seconds in
      guard record.arrived.insert(ask).inserted else { return }
      record.tally.pictureDidArrive(ask, isPrefetch: isPrefetch)
      record.timeline.pictureDidArrive(for: ask.cell, at: seconds)
    }
  }

  /// A cell's picture could not be had.
  func pictureDidFail(in place: WindowCell, _ error: PosterError) {
    record.withLock { $0.failures[place] = error }
  }

  /// There is no picture for a cell.
  func cellHasNoPicture(_ place: WindowCell) {
    record.withLock { record in
      record.tally.cellHasNoPicture(place)
      record.timeline.cellHasNoPicture(place)
    }
  }

  /// It is over.
  func didEnd(at seconds: Double) {
    note(at: seconds) { record, seconds in record.timeline.didEnd(at: seconds) }
  }

  /// Notes something; times only ever go forward.
  private func note(at seconds: Double?, _ body: (inout Record, Double) -> Void) {
    record.withLock { record in
      record.lastSeconds = max(record.lastSeconds, seconds ?? self.seconds)
      body(&record, record.lastSeconds)
    }
  }
}
