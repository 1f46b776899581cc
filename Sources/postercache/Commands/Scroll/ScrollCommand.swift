import FoundationEssentials
import PosterCache
import ScrollReplay

/// `scroll`: replays a scroll, and tells what a viewer would have seen.
struct ScrollCommand {
  private let session: Session
  private let options: Settings.Scroll
  private var console: Console { session.console }

  init(_ session: Session, _ options: Settings.Scroll) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    guard let outcome = try await replay(), !Task.isCancelled else {
      console.note("interrupted: the scroll was not replayed to its end")
      return .interrupted
    }
    console.failures(
      outcome.failures.map {
        Console.words(for: $0.error, about: $0.address, from: $0.source)
      })
    let report = ScrollReport(outcome)
    // First, so that a picture that cannot be written does not cost what was waited for.
    let status = console.ending(outcome.exitStatus) { () throws(OutputError) in
      if console.output.isJSON {
        try console.result(report.json)
      } else if !outcome.isUnavailable {
        try console.summary(report.text)
      }
    }
    if let file = options.plot, !outcome.isUnavailable {
      let plot = ScrollPlot.draw(outcome.timeline, title: report.title)
      try OutputFile.write(PosterBody(copying: try plot.bitmap.png()), to: file)
      if !console.output.isJSON {
        console.note("\(file): \(plot.size)")
      }
    }
    return status
  }

  /// What it came to; `nil` if it was interrupted.
  private func replay() async throws(PosterError) -> ScrollOutcome? {
    let trace: ScrollTrace
    do {
      trace = try ScrollScene.trace(options)
    } catch  where error.code == .cancelled && Task.isCancelled {
      return nil
    }
    guard options.isSimulated else {
      return try await ScrollReplayRun(session, options, trace).run()
    }
    return ScrollSimulation(
      options: options, trace: trace, layout: ScrollScene.endlessLayout(options)
    ).run { Task.isCancelled }
  }
}
