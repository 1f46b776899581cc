import FoundationEssentials
import TestSupport

@testable import PosterCache

/// A decoder whose decodes a test counts, holds and has fail. Its pictures are as large as the rendition
/// says, and have the colour that the last byte but two of the encoded one gives.
final class SceneDecoder: Sendable {
  private struct State {
    var decoded: [Scene] = []
    var threads: Set<String> = []
    var held: Gate?
  }

  /// What was decoded.
  struct Scene: Hashable {
    var color: UInt8
    var width: Int
  }

  private let state = Monitor(State())

  /// What was decoded so far, in that order.
  var decoded: [Scene] { state.withLock { $0.decoded } }
  /// The names of the threads that did it.
  var threads: Set<String> { state.withLock { $0.threads } }

  /// Decodes that begin from now on wait for `gate`.
  func hold(_ gate: Gate?) { state.withLock { $0.held = gate } }

  /// Waits until `count` decodes have begun.
  func waitForDecodes(_ count: Int) {
    state.wait(untilNanoseconds: { _ in nil }, for: { $0.decoded.count >= count ? () : nil })
  }

  func decode(
    _ body: PosterBody, _ rendition: Rendition, allowingIncomplete: Bool
  ) throws(PosterError) -> PosterImage {
    let color = Self.color(of: body)
    let size = rendition.size(of: PixelSize(width: 400, height: 600))
    let gate = state.withLock { state in
      state.decoded.append(Scene(color: color, width: size.width))
      state.threads.insert(WorkerThread.currentName)
      return state.held
    }
    state.signal()
    gate?.wait()
    // As truncated pictures do.
    guard color != Self.damagedColor || allowingIncomplete else {
      throw PosterError(.damagedImage, "damaged")
    }
    let bitmap = Bitmap(size, alpha: rendition.alpha, isOpaque: true) { pixels in
      for offset in pixels.indices { pixels[offset] = color }
    }
    return PosterImage(
      bitmap: bitmap, fullSize: PixelSize(width: 400, height: 600), type: .jpeg, colorProfile: nil,
      isComplete: color != Self.damagedColor,
      averageColor: PosterColor(red: color, green: color, blue: color))
  }

  /// The colour of pictures that are damaged.
  static let damagedColor: UInt8 = 13

  /// An encoded picture of a colour.
  static func picture(_ color: UInt8, filler: Int = 100) -> [UInt8] {
    var bytes = TestPicture.jpeg(filler: filler)
    bytes[bytes.count - 3] = color
    return bytes
  }

  static func color(of body: PosterBody) -> UInt8 {
    body.withUnsafeBytes { $0[$0.count - 3] }
  }
}

extension PosterPipeline {
  /// A pipeline that decodes with `decoder`.
  convenience init(_ configuration: Configuration, _ decoder: SceneDecoder) throws(PosterError) {
    try self.init(configuration) { (body, rendition, allowsIncomplete) throws(PosterError) in
      try decoder.decode(body, rendition, allowingIncomplete: allowsIncomplete)
    }
  }

  /// The colour of the poster as pixels, or what asking for it failed with.
  func color(
    _ request: PosterRequest, _ rendition: Rendition = .small, mode: CacheMode? = nil,
    allowingIncomplete: Bool = false
  ) async -> Result<UInt8, PosterError> {
    do throws(PosterError) {
      let image = try await image(
        for: request, as: rendition, mode: mode, allowingIncomplete: allowingIncomplete)
      return .success(image.averageColor.red)
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Success == UInt8, Failure == PosterError {
  var color: UInt8? { if case .success(let color) = self { color } else { nil } }
}

extension Rendition {
  /// 40 x 60.
  static let small = Rendition(.fitting(PixelSize(width: 40, height: 60)))
  /// 80 x 120.
  static let medium = Rendition(.fitting(PixelSize(width: 80, height: 120)))
}

extension DecodeWorkers {
  /// Waits until `count` jobs wait for a worker.
  func waitForWaiting(_ count: Int) {
    state.wait(
      untilNanoseconds: { _ in nil }, for: { $0.queue.waitingCount >= count ? () : nil })
  }
}

extension WorkerThread {
  /// The name of the thread that asks.
  static var currentName: String {
    // A thread that runs has one.
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return String((name ?? "").filter { $0 != "\n" })
  }
}
