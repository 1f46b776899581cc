import CWebP
import Glibc

/// Reads WebPs with libwebp: lossy and lossless, with alpha, and the first frame of animations, on a
/// transparent canvas.
struct WebPReader: PictureReading, ~Copyable {
  let header: ImageHeader
  let colorProfile: [UInt8]?
  /// What libwebp gets: the file, or a frame.
  private let data: UnsafeRawBufferPointer
  private let features: WebPBitstreamFeatures
  /// Where on the canvas the frame goes, if there is one.
  private let frame: WebPChunks.Frame?
  private var plan: ReadingPlan?
  private var hasAllRows = true

  /// Reads the header of `bytes`.
  init(_ bytes: UnsafeRawBufferPointer, limits: DecodingLimits) throws(PosterError) {
    var features = try Self.features(of: bytes)
    let size = try limits.checkedSize(width: Int(features.width), height: Int(features.height))
    let chunks = WebPChunks(bytes)
    var data = bytes
    var hasAlpha = features.has_alpha != 0
    let isAnimated = features.has_animation != 0
    if isAnimated {
      guard let frame = chunks.firstFrame else {
        throw PosterError(.damagedImage, "the WebP is damaged: it has no frame")
      }
      data = UnsafeRawBufferPointer(rebasing: bytes[frame.data])
      features = try Self.features(of: data)
      let (width, height) = (Int(features.width), Int(features.height))
      guard
        features.has_animation == 0, frame.x + width <= size.width, frame.y + height <= size.height
      else {
        throw PosterError(
          .damagedImage, "the WebP is damaged: its first frame is not on the canvas")
      }
      hasAlpha = features.has_alpha != 0 || width < size.width || height < size.height
    }
    self.data = data
    frame = isAnimated ? chunks.firstFrame : nil
    self.features = features
    header = ImageHeader(
      type: .webp, storedSize: size, orientation: chunks.orientation, hasAlpha: hasAlpha)
    colorProfile = chunks.colorProfile.map { Array(bytes[$0]) }
  }

  private static func features(
    of bytes: UnsafeRawBufferPointer
  ) throws(PosterError) -> WebPBitstreamFeatures {
    var features = WebPBitstreamFeatures()
    let status = WebPGetFeatures(
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &features)
    guard status == VP8_STATUS_OK else { throw PosterError(status) }
    return features
  }

  func plan(for target: PixelSize, damage: DamagePolicy) -> ReadingPlan {
    let stored = header.storedSize
    var size = stored
    // libwebp's own scaler averages areas. It mixes colours of translucent pixels without regard to
    // their alpha, unless the picture is lossless.
    if frame == nil, damage == .refuse, !header.hasAlpha || isLossless,
      stored.width >= target.width * 4, stored.height >= target.height * 4
    {
      let factor = min(
        stored.width / (target.width * 2), stored.height / (target.height * 2),
        Self.largestSum / stored.width)
      size = PixelSize(
        width: (stored.width + factor - 1) / factor, height: (stored.height + factor - 1) / factor)
    }
    let bytesPerPixel = isLossless ? 5 : header.hasAlpha ? 3 : 0
    return ReadingPlan(
      size: size,
      codecBytes: stored.pixels * bytesPerPixel + stored.width * Self.bytesPerColumn
        + Self.fixedBytes, comesWhole: true, writesAll: frame == nil,
      // A lossless one's word about alpha is a hint only (RFC 9649, section 3.4).
      isOpaque: !header.hasAlpha && !isLossless && damage == .refuse,
      damage: damage)
  }

  mutating func start(_ plan: ReadingPlan) throws(PosterError) {
    self.plan = plan
  }

  mutating func read(_ count: Int, into rows: UnsafeMutableRawPointer) throws(PosterError) -> Int {
    guard let plan, count == plan.size.height else {
      preconditionFailure("\(count) rows of a WebP asked for, which comes as a whole")
    }
    var config = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&config) != 0 else {
      throw PosterError(.unsupportedImage, "the libwebp that is installed is of another version")
    }
    if plan.size != header.storedSize {
      config.options.use_scaling = 1
      config.options.scaled_width = Int32(plan.size.width)
      config.options.scaled_height = Int32(plan.size.height)
    }
    let offset = ((frame?.y ?? 0) * plan.size.width + (frame?.x ?? 0)) * 4
    config.output.colorspace = MODE_RGBA
    config.output.is_external_memory = 1
    config.output.u.RGBA.rgba = (rows + offset).assumingMemoryBound(to: UInt8.self)
    config.output.u.RGBA.stride = Int32(plan.size.width * 4)
    config.output.u.RGBA.size = plan.size.pixels * 4 - offset
    let bytes = data.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let status = WebPDecode(bytes, data.count, &config)
    if status == VP8_STATUS_OK { return count }
    guard status == VP8_STATUS_SUSPENDED || status == VP8_STATUS_NOT_ENOUGH_DATA else {
      throw PosterError(status)
    }
    // It is this function that wants all of the file, metadata behind the pixels as well.
    let got = try readWhatThereIs(&config, bytes, of: plan)
    memset(rows + got * plan.size.width * 4, 0, (count - got) * plan.size.width * 4)
    return got
  }

  /// Decodes as far as the bytes go, and returns how many rows of the canvas that are.
  private mutating func readWhatThereIs(
    _ config: inout WebPDecoderConfig, _ bytes: UnsafePointer<UInt8>?, of plan: ReadingPlan
  ) throws(PosterError) -> Int {
    guard let decoder = WebPIDecode(nil, 0, &config) else {
      throw PosterError(VP8_STATUS_OUT_OF_MEMORY)
    }
    defer { WebPIDelete(decoder) }
    let status = WebPIUpdate(decoder, bytes, data.count)
    if status == VP8_STATUS_OK { return plan.size.height }
    var lastRow: Int32 = 0
    guard
      status == VP8_STATUS_SUSPENDED, plan.damage == .tolerate,
      WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil) != nil, lastRow > 0
    else { throw PosterError(status) }
    hasAllRows = false
    return min((frame?.y ?? 0) + Int(lastRow), plan.size.height)
  }

  mutating func finish() throws(PosterError) -> Bool { hasAllRows }

  /// Whether it is coded without loss; 2 is libwebp's word for it.
  private var isLossless: Bool { features.format == 2 }

  /// What libwebp's scaler counts with 32 bits: a row's width times the rows that become one, times 255.
  private static let largestSum = Int(UInt32.max / 255)

  /// What libwebp needs for rows that wait, for each column: 16 rows of numbers of 32 bits and what it
  /// notes for blocks.
  private static let bytesPerColumn = 128
  /// Tables, and what libwebp allocates in advance.
  private static let fixedBytes = 512 << 10
}

extension PosterError {
  /// The failure that libwebp reports.
  fileprivate init(_ status: VP8StatusCode) {
    switch status {
    case VP8_STATUS_OUT_OF_MEMORY:
      self.init(.imageTooLarge, "the WebP is too large: there is no memory left")
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      self.init(.unsupportedImage, "this coding of WebP is not decoded")
    case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
      self.init(.damagedImage, "the WebP is damaged: it ends too early")
    default:
      self.init(.damagedImage, "the WebP is damaged")
    }
  }
}
