import Glibc

/// Makes pixels of encoded pictures: JPEG, PNG and WebP, told by their first bytes.
///
/// Blocks the calling thread as long as it takes; safe to use from any thread. Shrinks while decoding: a
/// JPEG is decoded at a half, a quarter or an eighth of its size where that is clearly more than what is
/// wanted (at least 1.6, 2 and 2.5 times as much), rows go through the ``Resampler`` as they come, and a
/// full-size bitmap is made only where one is asked for or the picture's coding demands it.
public struct ImageDecoder: Sendable {
  /// What a picture may cost.
  public let limits: DecodingLimits

  public init(limits: DecodingLimits = DecodingLimits()) {
    self.limits = limits
  }

  /// What the header says.
  ///
  /// - Throws: as ``decode(_:as:allowingIncomplete:)``, but for what only the pixels tell.
  public func header(of body: PosterBody) throws(PosterError) -> ImageHeader {
    try limits.validate()
    return try body.withUnsafeBytes { (bytes) throws(PosterError) in
      switch try type(of: bytes) {
      case .jpeg: try JPEGReader(bytes, limits: limits).header
      case .png: try PNGReader(bytes, limits: limits).header
      case .webp: try WebPReader(bytes, limits: limits).header
      }
    }
  }

  /// Decodes a picture.
  ///
  /// - Parameters:
  ///   - rendition: how it is wanted.
  ///   - allowingIncomplete: give what there is of a picture whose end is missing, and say so in
  ///     ``PosterImage/isComplete``. Default `false`: that is an error.
  /// - Throws: ``PosterError/Code/notAnImage`` for what is no JPEG, PNG or WebP,
  ///   ``PosterError/Code/damagedImage``, ``PosterError/Code/imageTooLarge`` for what exceeds ``limits``,
  ///   ``PosterError/Code/unsupportedImage`` for codings that nobody sends, such as JPEGs of 12 bits,
  ///   ``PosterError/Code/invalidConfiguration`` for a limit that is not positive.
  public func decode(
    _ body: PosterBody, as rendition: Rendition = Rendition(.full),
    allowingIncomplete: Bool = false
  ) throws(PosterError) -> PosterImage {
    try limits.validate()
    return try body.withUnsafeBytes { (bytes) throws(PosterError) in
      let type = try type(of: bytes)
      do throws(PosterError) {
        return try decode(bytes, type, as: rendition, damage: .refuse)
      } catch {
        // Only now, as an opaque picture of which a part is missing is not opaque.
        guard error.code == .damagedImage, allowingIncomplete else { throw error }
        return try decode(bytes, type, as: rendition, damage: .tolerate)
      }
    }
  }

  private func type(of bytes: UnsafeRawBufferPointer) throws(PosterError) -> ImageType {
    guard let type = ImageType(firstBytes: bytes) else {
      throw PosterError(.notAnImage, "this is no JPEG, PNG or WebP")
    }
    return type
  }

  private func decode(
    _ bytes: UnsafeRawBufferPointer, _ type: ImageType, as rendition: Rendition,
    damage: DamagePolicy
  ) throws(PosterError) -> PosterImage {
    switch type {
    case .jpeg: try decode(JPEGReader(bytes, limits: limits), as: rendition, damage: damage)
    case .png: try decode(PNGReader(bytes, limits: limits), as: rendition, damage: damage)
    case .webp: try decode(WebPReader(bytes, limits: limits), as: rendition, damage: damage)
    }
  }

  private func decode<Reader: PictureReading & ~Copyable>(
    _ reader: consuming Reader, as rendition: Rendition, damage: DamagePolicy
  ) throws(PosterError) -> PosterImage {
    let header = reader.header
    let displayed = rendition.size(of: header.size)
    let target = header.orientation >= 5 ? displayed.transposed : displayed
    let plan = reader.plan(for: target, damage: damage)
    try limits.check(plan, target: target, isTurned: header.orientation != 1)
    try reader.start(plan)

    var isComplete = true
    let bitmap =
      plan.size == target
      ? try Self.whole(&reader, plan, alpha: rendition.alpha, isComplete: &isComplete)
      : try Self.resampled(
        &reader, plan, to: target, alpha: rendition.alpha, isComplete: &isComplete)
    isComplete = try reader.finish() && isComplete

    let upright = bitmap.notingOpacity().upright(from: header.orientation)
    return PosterImage(
      bitmap: upright, fullSize: header.size, type: header.type,
      colorProfile: reader.colorProfile, isComplete: isComplete,
      averageColor: upright.averageColor)
  }

  /// Reads a picture that comes in the size that is wanted, into the bitmap where it stays.
  private static func whole<Reader: PictureReading & ~Copyable>(
    _ reader: inout Reader, _ plan: ReadingPlan, alpha: Rendition.Alpha, isComplete: inout Bool
  ) throws(PosterError) -> Bitmap {
    let pixels = Bitmap.allocate(byteCount: plan.size.pixels * 4)
    do throws(PosterError) {
      // A size has at least one pixel, so that there is an address.
      guard let rows = pixels.baseAddress else { preconditionFailure("no pixels") }
      if !plan.writesAll { memset(rows, 0, pixels.count) }
      isComplete = try reader.read(plan.size.height, into: rows) == plan.size.height
    } catch {
      free(pixels.baseAddress)
      throw error
    }
    if alpha == .premultiplied, !plan.isOpaque { AlphaMultiplication.premultiply(pixels) }
    return Bitmap(plan.size, alpha: alpha, isOpaque: plan.isOpaque, taking: pixels)
  }

  /// Reads a picture that comes in another size than is wanted.
  private static func resampled<Reader: PictureReading & ~Copyable>(
    _ reader: inout Reader, _ plan: ReadingPlan, to target: PixelSize, alpha: Rendition.Alpha,
    isComplete: inout Bool
  ) throws(PosterError) -> Bitmap {
    var resampler = Resampler(
      from: plan.size, extent: plan.extent, to: target, isOpaque: plan.isOpaque, alpha: alpha)
    let strip = RowStrip(
      width: plan.size.width, height: plan.comesWhole ? plan.size.height : RowStrip.height)
    var missing = plan.size.height
    while missing > 0 {
      let count = min(missing, strip.height)
      var got = 0
      if isComplete {
        got = try reader.read(count, into: strip.start)
        isComplete = got == count
      }
      strip.clear(from: got)
      for row in 0..<count { resampler.append(strip.row(row)) }
      missing -= count
    }
    return resampler.finish()
  }
}
