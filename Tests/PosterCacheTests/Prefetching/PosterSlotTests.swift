import FoundationEssentials
import Glibc
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct PosterSlotTests {
  private let decoder = SceneDecoder()

  private func origin(_ color: UInt8 = 1) -> CachingOrigin {
    CachingOrigin(
      CachingOrigin.Answer(
        headers: ["Cache-Control: max-age=60", "ETag: \"one\""],
        body: SceneDecoder.picture(color)))
  }

  /// The next state of a slot that satisfies `condition`.
  private func state(
    of slot: PosterSlot, where condition: (PosterSlot.State) -> Bool
  ) async -> PosterSlot.State? {
    for await state in slot.states where condition(state) { return state }
    return nil
  }

  @Test func `a slot shows a placeholder, then its poster, and the poster at once next time`()
    async throws
  {
    let origin = origin()
    let pipeline = try PosterPipeline(origin.configuration(nil), decoder)
    let request = try origin.request(priority: .background)
    let changes = Monitor(0)
    let slot = PosterSlot(pipeline: pipeline, rendition: .small) {
      changes.withLock { $0 += 1 }
      changes.signal()
    }
    #expect(slot.state.isEmpty)
    let gate = Gate()
    decoder.hold(gate)
    slot.bind(request)
    #expect(slot.state.placeholder != nil && slot.state.placeholderColor == nil)
    decoder.waitForDecodes(1)
    slot.bind(request)
    gate.open()
    #expect(await state(of: slot, where: { $0.color != nil })?.color == 1)
    #expect(slot.state.color == 1)
    // Bound twice, changed twice. Who waits for states may be told before.
    changes.wait(untilNanoseconds: { _ in nil }, for: { $0 >= 2 ? () : nil })
    #expect(changes.withLock { $0 } == 2)
    slot.bind(request)
    #expect(changes.withLock { $0 } == 2)
    slot.prepareForReuse()
    #expect(slot.state.isEmpty && changes.withLock { $0 } == 3)
    slot.prepareForReuse()
    #expect(changes.withLock { $0 } == 3)
    slot.bind(request)
    #expect(slot.state.color == 1 && changes.withLock { $0 } == 4)
    #expect(decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  @Test func `a placeholder is the given bitmap, else the colour from an earlier run`() async throws
  {
    let directory = TemporaryDirectory()
    let origin = origin(7)
    let request = try origin.request()
    do {
      let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
      #expect(await pipeline.color(request).color == 7)
      await pipeline.shutdown()
    }
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    let gate = Gate()
    decoder.hold(gate)
    let slot = PosterSlot(pipeline: pipeline, rendition: .medium)
    slot.bind(request)
    #expect(slot.state.placeholderColor == PosterColor(red: 7, green: 7, blue: 7))
    slot.prepareForReuse()
    let bitmap = Bitmap(PixelSize(width: 1, height: 1), alpha: .straight, isOpaque: true) { _ in }
    slot.bind(request, placeholder: bitmap)
    guard case .placeholder(.bitmap(let shown)) = slot.state else {
      Issue.record("no bitmap")
      return
    }
    #expect(shown.size == bitmap.size)
    gate.open()
    #expect(await state(of: slot, where: { $0.color != nil })?.color == 7)
    await pipeline.shutdown()
  }

  @Test func `binding again after a failure tries again`() async throws {
    let origin = origin()
    origin.set { $0.status = 500 }
    let pipeline = try PosterPipeline(origin.configuration(nil), decoder)
    let request = try origin.request()
    let slot = PosterSlot(pipeline: pipeline, rendition: .small)
    slot.bind(request)
    #expect(await state(of: slot, where: { $0.error != nil })?.error?.code == .status(500))
    // Otherwise the poster may be there before the placeholder is looked at.
    let gate = Gate()
    origin.set {
      $0.status = 200
      $0.gate = gate
    }
    slot.bind(request)
    #expect(slot.state.placeholder != nil)
    gate.open()
    #expect(await state(of: slot, where: { $0.color != nil })?.color == 1)
    await pipeline.shutdown()
  }

  @Test func `what a slot shows stays in memory until it shows something else`() async throws {
    let origin = origin()
    let pipeline = try PosterPipeline(origin.configuration(nil), decoder)
    let request = try origin.request("/a.jpg")
    do {
      let slot = PosterSlot(pipeline: pipeline, rendition: .small)
      slot.bind(request)
      _ = await state(of: slot, where: { $0.color != nil })
      #expect(pipeline.bitmaps.pinnedBytes == 40 * 60 * 4)
      pipeline.bitmaps.trim(toBytes: 0)
      #expect(pipeline.cachedImage(for: request, as: .small) != nil)
      slot.bind(try origin.request("/b.jpg"))
      pipeline.bitmaps.trim(toBytes: 0)
      #expect(pipeline.cachedImage(for: request, as: .small) == nil)
      _ = await state(of: slot, where: { $0.color != nil })
      #expect(pipeline.bitmaps.pinnedBytes == 40 * 60 * 4)
    }
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }

  @Test func `letting go of a slot cancels its work and ends its states`() async throws {
    let origin = origin()
    let pipeline = try PosterPipeline(origin.configuration(nil), decoder)
    let gate = Gate()
    origin.set { $0.gate = gate }
    var slot: PosterSlot? = PosterSlot(pipeline: pipeline, rendition: .small)
    let states = try #require(slot).states
    let consumers = (0..<3).map { _ in
      Task {
        var seen: [String] = []
        for await state in states { seen.append(state.name) }
        return seen
      }
    }
    slot?.bind(try origin.request())
    origin.server.waitForRequests(1)
    let cancelled = Task { for await _ in states {} }
    cancelled.cancel()
    await cancelled.value
    slot = nil
    for consumer in consumers {
      let seen = await consumer.value
      #expect([[], ["empty"], ["placeholder"], ["empty", "placeholder"]].contains(seen))
    }
    gate.open()
    // The transfer that the slot had asked for was dropped.
    #expect(await pipeline.color(try origin.request("/other.jpg")).color == 1)
    #expect(decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  /// The consumer and whoever binds share an actor: every state is of the latest binding.
  @Test(arguments: 0..<3 as Range<UInt64>)
  @MainActor func `a slot bound to 1,000 posters never shows an earlier one on its own actor`(
    seed: UInt64
  ) async throws {
    let stage = try await Stage(seed: seed)
    let slot = PosterSlot(pipeline: stage.pipeline, rendition: .small)
    let current = Current()
    let consumer = Task { @MainActor in
      var deliveries = 0
      for await state in slot.states {
        deliveries += 1
        if case .image(let image) = state {
          #expect(image.averageColor.number == current.number, "seed \(seed)")
        } else if state.isEmpty {
          #expect(current.number == nil, "seed \(seed)")
        }
        if image(state) == Stage.count - 1 { break }
      }
      return deliveries
    }
    for number in 0..<Stage.count {
      current.number = number
      slot.bind(stage.requests[number])
      // Sometimes others may run, sometimes not.
      if stage.chance(4) { await Task.yield() }
      if number < Stage.count - 1, stage.chance(10) {
        current.number = nil
        slot.prepareForReuse()
        if stage.chance(2) { await Task.yield() }
      }
    }
    #expect(await consumer.value > 0)
    #expect(slot.state.color != nil)
    slot.prepareForReuse()
    #expect(stage.pipeline.bitmaps.pinnedBytes == 0)
    await stage.end()
  }

  /// The consumer runs elsewhere: a state may be overtaken by a binding, but not by one that was there
  /// before the consumer asked.
  @Test(arguments: 0..<3 as Range<UInt64>)
  func `a slot bound to 1,000 posters never shows an earlier one on another thread`(
    seed: UInt64
  ) async throws {
    let stage = try await Stage(seed: seed)
    let slot = PosterSlot(pipeline: stage.pipeline, rendition: .small)
    let bound = Monitor(-1)
    let states = slot.states
    let consumer = Task {
      var last = -1
      var iterator = states.makeAsyncIterator()
      while true {
        let before = bound.withLock { $0 }
        guard let state = await iterator.next(isolation: nil) else { return last }
        guard let number = image(state) else { continue }
        // Neither earlier than what was bound before it was asked for, nor than one shown before.
        #expect(number >= before && number > last, "seed \(seed)")
        last = number
      }
    }
    let thread = Monitor(false)
    WorkerThread(name: "binder") {
      for number in 0..<Stage.count {
        slot.bind(stage.requests[number])
        // What the slot itself says is never earlier, either.
        if let shown = image(slot.state) { precondition(shown == number, "seed \(seed)") }
        bound.withLock { $0 = number }
      }
      thread.withLock { $0 = true }
      thread.signal()
    }.detach()
    thread.wait(untilNanoseconds: { _ in nil }, for: { $0 ? () : nil })
    _ = await state(of: slot, where: { image($0) == Stage.count - 1 })
    await stage.end()
    withExtendedLifetime(slot) {}
    consumer.cancel()
    _ = await consumer.value
  }

  @Test func `several threads may bind one slot, and pins come out even`() async throws {
    let stage = try await Stage(seed: 1)
    do {
      let slot = PosterSlot(pipeline: stage.pipeline, rendition: .small)
      await withTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for step in 0..<200 {
              let number = (step * 7 + task * 13) % 50
              slot.bind(stage.requests[number])
              if step % 9 == 0 { slot.prepareForReuse() }
            }
          }
        }
      }
      #expect(slot.state.error == nil)
    }
    await stage.end()
    #expect(stage.pipeline.bitmaps.pinnedBytes == 0)
  }
}

/// Which poster is bound, as the main actor knows it.
@MainActor private final class Current {
  var number: Int?
}

/// A thousand posters of the demo origin, some of them at hand, and a decoder that finishes them in random
/// order.
private final class Stage: Sendable {
  static let count = 1000

  /// What the origin serves.
  private static let bodies = (0..<count).map {
    PosterBody(copying: DemoPoster.encode(name: "p\($0).jpg", size: .w92))
  }

  let origin: DemoOrigin
  let pipeline: PosterPipeline
  let requests: [PosterRequest]
  private let random: Lock<SeededGenerator>
  private let shuffle: Shuffle

  init(seed: UInt64) async throws {
    let origin = try DemoOrigin()
    let requests = try (0..<Self.count).map { number in
      try PosterRequest(path: "p\(number).jpg", size: .w92, images: origin.images)
    }
    var configuration = PosterPipeline.Configuration()
    configuration.decodeWorkers = 4
    let shuffle = Shuffle(seed: seed)
    // The picture tells by its colour which one it is.
    let hashes = Lock<[UInt64: Int]>([:])
    pipeline = try PosterPipeline(configuration) {
      (body, rendition, _) throws(PosterError) in
      shuffle.wait()
      let number = hashes.withLock { $0[body.contentHash] } ?? -1
      let bitmap = Bitmap(PixelSize(width: 4, height: 4), alpha: .straight, isOpaque: true) { _ in }
      return PosterImage(
        bitmap: bitmap, fullSize: bitmap.size, type: .jpeg, colorProfile: nil, isComplete: true,
        averageColor: PosterColor(number: number))
    }
    // Every poster is known by its bytes; every other one is in memory from the start.
    for (number, request) in requests.enumerated() {
      let body = Self.bodies[number]
      hashes.withLock { $0[body.contentHash] = number }
      guard number % 2 == 0 || number == Self.count - 1 else { continue }
      let now = Date()
      pipeline.memory.insert(
        StoredPoster(
          metadata: PosterMetadata(
            address: request.address, type: .jpeg, storedAt: now, expiresAt: now + 3600),
          body: body))
    }
    self.origin = origin
    self.requests = requests
    self.shuffle = shuffle
    random = Lock(SeededGenerator(seed: seed))
  }

  /// True one time in `count`.
  func chance(_ count: Int) -> Bool {
    random.withLock { Int.random(in: 0..<count, using: &$0) == 0 }
  }

  func end() async {
    shuffle.end()
    await pipeline.shutdown()
    origin.shutdown()
  }
}

/// Lets decodes end in random order.
private final class Shuffle: Sendable {
  private struct State {
    var random: SeededGenerator
    var waiting: [Int] = []
    var last = 0
    var isOver = false
  }

  private let state: Monitor<State>

  init(seed: UInt64) {
    state = Monitor(State(random: SeededGenerator(seed: seed)))
    WorkerThread(name: "shuffle") { [state] in
      while Self.release(state) {
        // Others may come before the next choice.
        for _ in 0..<state.withLock({ Int.random(in: 0..<8, using: &$0.random) }) { sched_yield() }
      }
    }.detach()
  }

  /// Lets one of those that wait go; `false` at the end.
  private static func release(_ state: Monitor<State>) -> Bool {
    let goesOn = state.wait(
      untilNanoseconds: { _ in nil },
      for: { state -> Bool? in
        if state.isOver { return false }
        guard let place = state.waiting.indices.randomElement(using: &state.random) else {
          return nil
        }
        state.waiting.remove(at: place)
        return true
      })
    state.signal()
    return goesOn
  }

  func wait() {
    let number = state.withLock { state in
      state.last += 1
      state.waiting.append(state.last)
      return state.last
    }
    state.signal()
    state.wait(
      untilNanoseconds: { _ in nil },
      for: { $0.isOver || !$0.waiting.contains(number) ? () : nil })
  }

  func end() {
    state.withLock { $0.isOver = true }
    state.signal()
  }
}

/// Which poster a state shows.
private func image(_ state: PosterSlot.State) -> Int? {
  if case .image(let image) = state { image.averageColor.number } else { nil }
}

extension PosterColor {
  fileprivate init(number: Int) {
    self.init(red: UInt8(number >> 8 & 255), green: UInt8(number & 255), blue: 0)
  }

  fileprivate var number: Int { Int(red) << 8 | Int(green) }
}

extension PosterSlot.State {
  fileprivate var isEmpty: Bool { if case .empty = self { true } else { false } }

  fileprivate var placeholder: PosterSlot.Placeholder? {
    if case .placeholder(let placeholder) = self { placeholder } else { nil }
  }

  fileprivate var placeholderColor: PosterColor? {
    if case .placeholder(.color(let color)) = self { color } else { nil }
  }

  fileprivate var color: UInt8? {
    if case .image(let image) = self { image.averageColor.red } else { nil }
  }

  fileprivate var error: PosterError? {
    if case .failed(let error) = self { error } else { nil }
  }

  fileprivate var name: String {
    switch self {
    case .empty: "empty"
    case .placeholder: "placeholder"
    case .image: "image"
    case .failed: "failed"
    }
  }
}
