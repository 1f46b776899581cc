import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct SlotPreviewTests {
  private let decoder = SceneDecoder()
  /// Bytes of a picture as these slots show it.
  private let pictureBytes = 40 * 60 * 4

  @Test func `a preview is asked for first, shown first and replaced without a gap`() async throws {
    let origin = try LadderOrigin()
    var configuration = origin.configuration()
    // One after the other, in the order of asking.
    configuration.fetching.connectionsPerHost = 1
    let gate = origin.hold("/full.jpg")
    let pipeline = try PosterPipeline(configuration, decoder)
    let recorded = RecordedSlot(pipeline)
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "preview 2")
    #expect(pipeline.bitmaps.pinnedBytes == pictureBytes)
    gate.open()
    recorded.wait(for: "image 1")
    #expect(recorded.seen == ["blank", "preview 2", "image 1"])
    #expect(origin.paths == ["/preview.jpg", "/full.jpg"])
    // The preview may go now, the picture may not.
    pipeline.bitmaps.trim(toBytes: 0)
    #expect(pipeline.bitmaps.pinnedBytes == pictureBytes && pipeline.bitmaps.count == 1)
    recorded.slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    recorded.slot.bind(origin.full, preview: origin.preview)
    #expect(recorded.slot.state.summary == "image 1" && origin.paths.count == 2)
    await pipeline.shutdown()
  }

  @Test func `a preview that comes after the picture is not shown, nor waited for`() async throws {
    let origin = try LadderOrigin()
    let gate = origin.hold("/preview.jpg")
    let pipeline = try PosterPipeline(origin.configuration(), decoder)
    let recorded = RecordedSlot(pipeline)
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "image 1")
    gate.open()
    #expect(await pipeline.color(try PosterRequest(origin.server.address("/other.jpg"))).color == 3)
    #expect(recorded.seen == ["blank", "image 1"])
    recorded.slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }

  @Test func `a preview in memory is shown at once, and not asked for`() async throws {
    let origin = try LadderOrigin()
    let pipeline = try PosterPipeline(origin.configuration(), decoder)
    #expect(await pipeline.color(origin.preview).color == 2)
    let gate = origin.hold("/full.jpg")
    let recorded = RecordedSlot(pipeline)
    let bitmap = Bitmap(PixelSize(width: 1, height: 1), alpha: .straight, isOpaque: true) { _ in }
    recorded.slot.bind(origin.full, preview: origin.preview, placeholder: bitmap)
    #expect(recorded.slot.state.summary == "preview 2")
    gate.open()
    recorded.wait(for: "image 1")
    #expect(recorded.seen == ["preview 2", "image 1"])
    #expect(origin.paths == ["/preview.jpg", "/full.jpg"])
    await pipeline.shutdown()
  }

  @Test func `no preview is asked for where the poster is on disk`() async throws {
    let directory = TemporaryDirectory()
    let origin = try LadderOrigin()
    do {
      let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
      try await pipeline.warm(origin.full)
      await pipeline.shutdown()
    }
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    let recorded = RecordedSlot(pipeline)
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "image 1")
    await pipeline.shutdown()
    #expect(recorded.seen == ["blank", "image 1"] && origin.paths == ["/full.jpg"])
  }

  @Test func `a preview stays where the poster cannot be had, and when it is tried again`()
    async throws
  {
    let origin = try LadderOrigin()
    let gate = origin.hold("/full.jpg")
    origin.set("/full.jpg") { $0.status = 500 }
    let pipeline = try PosterPipeline(origin.configuration(), decoder)
    let recorded = RecordedSlot(pipeline)
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "preview 2")
    gate.open()
    recorded.wait(forChanges: 3)
    #expect(recorded.slot.failure?.code == .status(500))
    // Even if memory has let go of it.
    pipeline.bitmaps.removeAll()
    origin.set("/full.jpg") { $0.status = 200 }
    recorded.slot.bind(origin.full, preview: origin.preview)
    #expect(recorded.slot.failure == nil)
    recorded.wait(for: "image 1")
    #expect(recorded.seen == ["blank", "preview 2", "preview 2", "preview 2", "image 1"])
    recorded.slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }

  @Test func `a preview replaces a failure, and nothing but failures is one`() async throws {
    let origin = try LadderOrigin()
    let gate = origin.hold("/preview.jpg")
    origin.set("/full.jpg") { $0.status = 500 }
    let pipeline = try PosterPipeline(origin.configuration(), decoder)
    let recorded = RecordedSlot(pipeline)
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "failed")
    gate.open()
    recorded.wait(for: "preview 2")
    #expect(recorded.slot.failure?.code == .status(500))
    recorded.slot.prepareForReuse()
    #expect(recorded.slot.failure == nil)
    origin.set("/preview.jpg") { $0.status = 500 }
    pipeline.bitmaps.removeAll()
    pipeline.memory.removeAll()
    recorded.slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "failed")
    #expect(
      recorded.seen == ["blank", "failed", "preview 2", "empty", "blank", "failed"])
    await pipeline.shutdown()
  }

  @Test func `who delivers to a slot asks nobody, and may be joined by the slot itself`()
    async throws
  {
    let origin = try LadderOrigin()
    let pipeline = try PosterPipeline(origin.configuration(), decoder)
    let recorded = RecordedSlot(pipeline)
    let slot = recorded.slot
    let first = slot.core.bindDeferred(origin.full, preview: origin.preview, placeholder: nil)
    #expect(!first.hasPicture && slot.state.summary == "blank")
    #expect(await pipeline.color(try PosterRequest(origin.server.address("/other.jpg"))).color == 3)
    #expect(origin.paths == ["/other.jpg"])
    let preview = try await pipeline.image(for: origin.preview, as: .small)
    slot.core.deliverPreview(preview, to: first.generation)
    #expect(slot.state.summary == "preview 2")
    // Bound once more, to get the poster by itself: the preview stays, the binding is the same.
    slot.bind(origin.full, preview: origin.preview)
    recorded.wait(for: "image 1")
    #expect(recorded.seen == ["blank", "preview 2", "image 1"])
    slot.core.deliver(.failure(.fetchCancelled), to: first.generation)
    slot.core.deliverPreview(preview, to: first.generation)
    let again = slot.core.bindDeferred(origin.full, preview: nil, placeholder: nil)
    #expect(again == (first.generation, true, false) && recorded.seen.count == 3)
    #expect(origin.paths == ["/other.jpg", "/preview.jpg", "/full.jpg"])

    // The other way round: what the slot has asked for goes on, and who delivers first is shown.
    let gate = origin.hold("/full.jpg")
    slot.prepareForReuse()
    pipeline.bitmaps.removeAll()
    pipeline.memory.removeAll()
    slot.bind(origin.full)
    let second = slot.core.bindDeferred(origin.full, preview: nil, placeholder: nil)
    #expect(second.generation > first.generation && !second.hasPicture)
    slot.core.deliver(.success(preview), to: first.generation)
    #expect(slot.state.summary == "blank" || slot.state.summary == "color")
    slot.core.deliver(.success(preview), to: second.generation)
    #expect(slot.state.summary == "image 2")
    gate.open()
    slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }

  /// Posters of which each second has its preview's pixels in memory and each third its own.
  @Test(arguments: 0..<4 as Range<UInt64>)
  @MainActor func `1,000 bindings climb, whatever comes in whatever order, and pins come out even`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    var model = SlotModel(pipeline)
    let recorded = RecordedSlot(pipeline)
    let (slot, current) = (recorded.slot, CurrentSummary())
    let consumer = Task { @MainActor [states = slot.states] in
      var count = 0
      for await state in states {
        #expect(state.summary == current.summary, "seed \(seed)")
        count += 1
      }
      return count
    }
    for step in 0..<4000 {
      let changesBefore = recorded.seen.count
      let back = UInt64.random(in: 0..<4, using: &random) / 3
      let generation = model.generation - min(back, model.generation)
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<4:
        let number = UInt8.random(in: 0..<6, using: &random)
        let hasPreview = Bool.random(using: &random)
        let got = slot.core.bindDeferred(
          model.full(number), preview: hasPreview ? model.preview(number) : nil, placeholder: nil)
        let isNew = model.didBind(number, hasPreview: hasPreview)
        #expect(got.hasPicture == model.summary.hasPrefix("image"), "seed \(seed) step \(step)")
        #expect(
          isNew ? got.generation > model.generation : got.generation == model.generation,
          "seed \(seed) step \(step)")
        model.generation = got.generation
      case 4:
        slot.prepareForReuse()
        model.didEmpty()
      case 5..<8:
        slot.core.deliver(.success(model.image(isPreview: false)), to: generation)
        model.pictureDidCome(generation)
      case 8..<12:
        slot.core.deliverPreview(model.image(isPreview: true), to: generation)
        model.previewDidCome(generation)
      default:
        slot.core.deliver(.failure(.fetchCancelled), to: generation)
        model.pictureDidFail(generation)
      }
      current.summary = model.summary
      let shown = slot.state.summary
      #expect(shown == model.summary, "seed \(seed) step \(step)")
      #expect((slot.failure != nil) == model.hasFailed, "seed \(seed) step \(step)")
      #expect(
        pipeline.bitmaps.pinnedBytes == model.pinnedBytes, "seed \(seed) step \(step)")
      // Whoever looks on every change sees no state in between.
      let seen = recorded.seen[changesBefore...]
      #expect(seen.isEmpty || Array(seen) == [shown], "seed \(seed) step \(step)")
      if Int.random(in: 0..<3, using: &random) == 0 { await Task.yield() }
    }
    consumer.cancel()
    #expect(await consumer.value > 100, "seed \(seed)")
    slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }

  /// The slot asks by itself, and its consumer shares its actor.
  @Test @MainActor func `200 posters with previews climb and never show another one`() async throws
  {
    let server = ScriptedServer { request in
      let color = UInt8(request.target.dropFirst().prefix { $0.isNumber }) ?? 0
      return [.response(200, ["Cache-Control: max-age=3600"], body: SceneDecoder.picture(color))]
    }
    defer { server.stop() }
    var random = SeededGenerator(seed: 5)
    let pipeline = try PosterPipeline(PosterPipeline.Configuration(), decoder)
    let slot = PosterSlot(pipeline: pipeline, rendition: .small)
    // Odd numbers are posters, even ones the previews of the next.
    let current = CurrentSummary()
    let last: UInt8 = 241
    let consumer = Task { @MainActor in
      var rank = -1
      var shown = ""
      for await state in slot.states {
        let summary = state.summary
        let allowed = [
          "blank", "color", "preview \(current.number - 1)", "image \(current.number)",
        ]
        let new = allowed.firstIndex(of: summary) ?? -1
        if shown != "\(current.number)" { rank = -1 }
        #expect(new >= rank, "\(summary) while bound to \(current.number)")
        (rank, shown) = (new, "\(current.number)")
        if summary == "image \(last)" { return }
      }
    }
    for step in 0..<200 {
      let number = step == 199 ? last : 2 * UInt8.random(in: 10..<120, using: &random) + 1
      current.number = Int(number)
      slot.bind(
        try PosterRequest(server.address("/\(number).jpg")),
        preview: try PosterRequest(server.address("/\(number - 1).jpg")))
      for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
    }
    await consumer.value
    #expect(pipeline.bitmaps.pinnedBytes == pictureBytes)
    slot.prepareForReuse()
    #expect(pipeline.bitmaps.pinnedBytes == 0)
    await pipeline.shutdown()
  }
}

/// What a slot has to show, as the main actor knows it.
@MainActor private final class CurrentSummary {
  var summary = "empty"
  var number = 0
}
