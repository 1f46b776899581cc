import FoundationEssentials

@testable import PosterCache

/// What a slot that others deliver to has to show, said simply: the best of what has come for what is bound.
///
/// Posters have numbers; a picture's colour is its poster's, a preview's is 100 more. Memory has the pixels of
/// each third poster and of each second one's preview.
struct SlotModel {
  private(set) var summary = "empty"
  private(set) var hasFailed = false
  var generation: UInt64 = 0

  private var number: UInt8?
  private var pinsPreview = false
  private let requests: [(full: PosterRequest, preview: PosterRequest)]
  private let pictures: [(full: PosterImage, preview: PosterImage)]

  init(_ pipeline: PosterPipeline) {
    requests = (0..<6).map { number in
      // Valid, as anybody can see.
      (
        try! PosterRequest("http://a.test/full/\(number).jpg"),
        try! PosterRequest("http://a.test/preview/\(number).jpg")
      )
    }
    pictures = (0..<6).map { number in
      (Self.image(color: number, width: 4), Self.image(color: number + 100, width: 2))
    }
    for number in requests.indices {
      let (request, picture) = (requests[number], pictures[number])
      if number % 3 == 0 { Self.insert(picture.full, for: request.full, into: pipeline) }
      if number % 2 == 0 { Self.insert(picture.preview, for: request.preview, into: pipeline) }
    }
  }

  func full(_ number: UInt8) -> PosterRequest { requests[Int(number)].full }

  func preview(_ number: UInt8) -> PosterRequest { requests[Int(number)].preview }

  /// A picture of what is bound, or of any if nothing is.
  func image(isPreview: Bool) -> PosterImage {
    let both = pictures[Int(number ?? 0)]
    return isPreview ? both.preview : both.full
  }

  /// The bytes of what is in memory and pinned.
  var pinnedBytes: Int {
    guard let number else { return 0 }
    let full = number % 3 == 0 ? 4 * 4 * 4 : 0
    let preview = pinsPreview && number % 2 == 0 ? 2 * 2 * 4 : 0
    return full + preview
  }

  /// - Returns: whether that is another binding.
  mutating func didBind(_ new: UInt8, hasPreview: Bool) -> Bool {
    if number == new, !hasFailed { return false }
    let keepsPreview = number == new && summary.hasPrefix("preview")
    number = new
    hasFailed = false
    pinsPreview = hasPreview && new % 3 != 0
    if new % 3 == 0 {
      summary = "image \(new)"
    } else if keepsPreview || hasPreview && new % 2 == 0 {
      summary = "preview \(new + 100)"
    } else {
      summary = "blank"
    }
    return true
  }

  mutating func didEmpty() {
    // What is empty already stays the same binding.
    if number != nil { generation += 1 }
    (number, summary, hasFailed, pinsPreview) = (nil, "empty", false, false)
  }

  mutating func pictureDidCome(_ generation: UInt64) {
    guard generation == self.generation, let number else { return }
    (summary, hasFailed, pinsPreview) = ("image \(number)", false, false)
  }

  mutating func previewDidCome(_ generation: UInt64) {
    guard generation == self.generation, let number, !summary.hasPrefix("image") else { return }
    summary = "preview \(number + 100)"
  }

  mutating func pictureDidFail(_ generation: UInt64) {
    guard generation == self.generation, number != nil, !summary.hasPrefix("image") else { return }
    hasFailed = true
    if !summary.hasPrefix("preview") { summary = "failed" }
  }

  private static func image(color: Int, width: Int) -> PosterImage {
    let bitmap = Bitmap(
      PixelSize(width: width, height: width), alpha: .straight, isOpaque: true
    ) { _ in }
    return PosterImage(
      bitmap: bitmap, fullSize: bitmap.size, type: .jpeg, colorProfile: nil, isComplete: true,
      averageColor: PosterColor(red: UInt8(color), green: 0, blue: 0))
  }

  private static func insert(
    _ image: PosterImage, for request: PosterRequest, into pipeline: PosterPipeline
  ) {
    let now = Date()
    let metadata = PosterMetadata(
      address: request.address, type: .jpeg, storedAt: now, expiresAt: now + 3600)
    pipeline.bitmaps.insert(
      BitmapEntry(image: image, metadata: metadata, bodyHash: UInt64(image.averageColor.red)),
      for: pipeline.imageKey(for: request, .small), isSeen: true)
  }
}
