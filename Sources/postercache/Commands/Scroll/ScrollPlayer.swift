import PosterCache

/// Plays a scroll in real time: a thread that draws 60 times a second, as a display asks for it.
struct ScrollPlayer: Sendable {
  /// Frames a second.
  static let rate = 60

  /// How long it lasts, in seconds.
  let seconds: Double
  let recorder: ScrollRecorder
  /// Called on the thread that draws, before each frame.
  let onFrame: @Sendable (_ seconds: Double) -> Void

  /// Plays it to its end, or until the task is cancelled.
  ///
  /// - Returns: how many frames were drawn.
  func play(_ screen: ScrollScreen) async -> Int {
    let isCancelled = Monitor(false)
    let frames = Lock(0)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thread = WorkerThread(name: "scroll") {
          let count = draw(screen, isCancelled)
          frames.withLock { $0 = count }
          continuation.resume()
        }
        thread.detach()
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
      isCancelled.signal()
    }
    return frames.withLock { $0 }
  }

  private func draw(_ screen: ScrollScreen, _ isCancelled: Monitor<Bool>) -> Int {
    var screen = screen
    let interval = 1_000_000_000 / UInt64(Self.rate)
    var frames = 0
    var due = recorder.start
    while true {
      let mustEnd = isCancelled.wait(
        untilNanoseconds: { _ in due },
        for: { isCancelled in
          isCancelled ? true : monotonicNanoseconds() >= due ? false : nil
        })
      let now = recorder.seconds
      guard !mustEnd, now < seconds else {
        recorder.didEnd(at: now)
        return frames
      }
      onFrame(now)
      screen.draw(at: now)
      frames += 1
      // A display does not wait for who is late: what was missed is missed.
      let passed = (monotonicNanoseconds() - recorder.start) / interval
      due = recorder.start + (passed + 1) * interval
    }
  }
}
