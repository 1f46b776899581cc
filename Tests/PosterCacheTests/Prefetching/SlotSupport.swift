import FoundationEssentials
import TestSupport

@testable import PosterCache

/// An origin with one poster in two sizes, whose answers a test sets: the wanted size has the colour 1, the
/// preview the colour 2.
final class LadderOrigin: Sendable {
  /// What it answers to requests for a path.
  struct Answer: Sendable {
    var status = 200
    var color: UInt8
    /// What the answer waits for.
    var gate: Gate?
  }

  let server: ScriptedServer
  let full: PosterRequest
  let preview: PosterRequest
  private let answers: Monitor<[String: Answer]>

  init() throws {
    let answers = Monitor(["/full.jpg": Answer(color: 1), "/preview.jpg": Answer(color: 2)])
    self.answers = answers
    server = ScriptedServer { request in
      let answer = answers.withLock { $0[request.target] } ?? Answer(color: 3)
      let wait = answer.gate.map { [ScriptedServer.Step.wait($0)] } ?? []
      return wait + [
        .response(
          answer.status, ["Cache-Control: max-age=3600"], body: SceneDecoder.picture(answer.color))
      ]
    }
    full = try PosterRequest(server.address("/full.jpg"))
    preview = try PosterRequest(server.address("/preview.jpg"))
  }

  deinit { server.stop() }

  func set(_ path: String, _ change: (inout Answer) -> Void) {
    answers.withLock { answers in
      if answers[path] != nil { change(&answers[path]!) }  // it has just been found
    }
  }

  /// The answer for `path` waits for the gate that is returned.
  func hold(_ path: String) -> Gate {
    let gate = Gate()
    set(path) { $0.gate = gate }
    return gate
  }

  /// The paths asked for so far.
  var paths: [String] { server.requests.map(\.target) }

  func configuration(_ directory: TemporaryDirectory? = nil) -> PosterPipeline.Configuration {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory?.path
    configuration.fetching = .once
    return configuration
  }
}

/// A slot, and what it says whenever it says that something has changed.
final class RecordedSlot: Sendable {
  let slot: PosterSlot
  private let record: Record

  private final class Record: Sendable {
    struct State {
      weak var slot: PosterSlot?
      var seen: [String] = []
    }

    let state = Monitor(State())

    func note() {
      let slot = state.withLock { $0.slot }
      state.withLock { state in
        // Two threads that say so at once read one after the other.
        if let slot { state.seen.append(slot.state.summary) }
      }
      state.signal()
    }
  }

  init(_ pipeline: PosterPipeline, _ rendition: Rendition = .small) {
    let record = Record()
    slot = PosterSlot(pipeline: pipeline, rendition: rendition) { record.note() }
    self.record = record
    record.state.withLock { [slot] in $0.slot = slot }
  }

  /// What was shown after each change.
  var seen: [String] { record.state.withLock { $0.seen } }

  /// Waits until something has changed, and `summary` was shown then.
  func wait(for summary: String) {
    record.state.wait(
      untilNanoseconds: { _ in nil }, for: { $0.seen.last == summary ? () : nil })
  }

  /// Waits until something has changed `count` times.
  func wait(forChanges count: Int) {
    record.state.wait(untilNanoseconds: { _ in nil }, for: { $0.seen.count >= count ? () : nil })
  }
}

extension PosterSlot.State {
  /// What is shown, in a word; of pictures their colour, too.
  var summary: String {
    switch self {
    case .empty: "empty"
    case .placeholder(.preview(let image)): "preview \(image.averageColor.red)"
    case .placeholder(.bitmap): "bitmap"
    case .placeholder(.color): "color"
    case .placeholder(.blank): "blank"
    case .image(let image): "image \(image.averageColor.red)"
    case .failed: "failed"
    }
  }
}
