import CCodecs

/// Reads JPEGs with libjpeg-turbo: baseline and progressive, Huffman and arithmetic coding, one, three or
/// four components.
///
/// Four components are ink, converted by multiplication as other viewers do where they ignore the profile.
struct JPEGReader: PictureReading, ~Copyable {
  let header: ImageHeader
  let colorProfile: [UInt8]?
  /// The C library's side, freed with this value.
  private let reader: OpaquePointer
  private let coefficientBytes: Int
  private let maximumScans: Int
  private let maximumMemory: Int

  /// Reads the header of `bytes`.
  init(_ bytes: UnsafeRawBufferPointer, limits: DecodingLimits) throws(PosterError) {
    var description = postercache_jpeg_header()
    var status = POSTERCACHE_CODEC_OK
    var message = postercache_codec_message()
    guard
      let reader = postercache_jpeg_open(
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &description, &status,
        &message)
    else { throw PosterError(status, message, what: "JPEG") }
    let size: PixelSize
    do {
      size = try limits.checkedSize(
        width: Int(description.width), height: Int(description.height))
    } catch {
      postercache_jpeg_close(reader)
      throw error
    }
    let segments = JPEGSegments(bytes)
    self.reader = reader
    header = ImageHeader(
      type: .jpeg, storedSize: size, orientation: segments.orientation, hasAlpha: false)
    colorProfile = segments.colorProfile
    coefficientBytes = Int(description.coefficient_bytes)
    maximumScans = limits.maximumJPEGScans
    maximumMemory = limits.maximumMemory.bytes
  }

  deinit { postercache_jpeg_close(reader) }

  /// How many eighths of its size to decode a picture of `stored` pixels at, for one of `target` pixels.
  ///
  /// libjpeg-turbo has vector code for 1, 2, 4 and 8 alone: with 5 eighths a poster takes longer than
  /// with 8. Four of them differ from all eight by a level where the target is two thirds as large;
  /// the fewer there are the coarser they become (figures in docs/benchmarks.md).
  static func scale(for target: PixelSize, stored: PixelSize) -> Int {
    let reduction = min(
      Double(stored.width) / Double(target.width), Double(stored.height) / Double(target.height))
    let scales = [(eighths: 1, room: 2.5), (eighths: 2, room: 2), (eighths: 4, room: 1.6)]
    return scales.first { reduction * Double($0.eighths) / 8 >= $0.room }?.eighths ?? 8
  }

  /// The size that libjpeg decodes a picture to.
  static func scaled(_ size: PixelSize, eighths: Int) -> PixelSize {
    PixelSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
  }

  func plan(for target: PixelSize, damage: DamagePolicy) -> ReadingPlan {
    let eighths = Self.scale(for: target, stored: header.storedSize)
    return ReadingPlan(
      size: Self.scaled(header.storedSize, eighths: eighths),
      extent: (
        Double(header.storedSize.width * eighths) / 8,
        Double(header.storedSize.height * eighths) / 8
      ),
      codecBytes: coefficientBytes + header.storedSize.width * Self.bytesPerColumn
        + Self.fixedBytes, comesWhole: false, writesAll: true, isOpaque: true, damage: damage)
  }

  mutating func start(_ plan: ReadingPlan) throws(PosterError) {
    var message = postercache_codec_message()
    var width: UInt32 = 0
    var height: UInt32 = 0
    // The largest: of a single pixel all scales make one, but only the whole block's is right.
    let eighths =
      [8, 4, 2].first { Self.scaled(header.storedSize, eighths: $0) == plan.size } ?? 1
    let status = postercache_jpeg_start(
      reader, Int32(eighths), Int32(clamping: maximumScans), UInt64(maximumMemory),
      plan.damage == .tolerate, &width, &height, &message)
    guard status == POSTERCACHE_CODEC_OK else { throw PosterError(status, message, what: "JPEG") }
    precondition(
      Int(width) == plan.size.width && Int(height) == plan.size.height,
      "libjpeg scales \(header.storedSize) to \(width)x\(height), not \(plan.size)")
  }

  mutating func read(_ count: Int, into rows: UnsafeMutableRawPointer) throws(PosterError) -> Int {
    var message = postercache_codec_message()
    let status = postercache_jpeg_read(
      reader, rows.assumingMemoryBound(to: UInt8.self), UInt32(count), &message)
    guard status == POSTERCACHE_CODEC_OK else { throw PosterError(status, message, what: "JPEG") }
    return count
  }

  mutating func finish() throws(PosterError) -> Bool {
    var message = postercache_codec_message()
    var isComplete = false
    let status = postercache_jpeg_finish(reader, &isComplete, &message)
    guard status == POSTERCACHE_CODEC_OK else { throw PosterError(status, message, what: "JPEG") }
    return isComplete
  }

  /// What libjpeg needs for rows that wait, for each column of the picture: three row groups of up to
  /// four components, of at most 32 rows.
  private static let bytesPerColumn = 400
  /// Tables, and what libjpeg allocates in advance.
  private static let fixedBytes = 256 << 10
}

extension PosterError {
  /// The failure that a codec reports.
  init(
    _ status: postercache_codec_status, _ message: postercache_codec_message, what kind: String
  ) {
    let text = withUnsafeBytes(of: message.text) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    switch status {
    case POSTERCACHE_CODEC_TOO_LARGE:
      self.init(.imageTooLarge, "the \(kind) is too large: \(text)")
    case POSTERCACHE_CODEC_UNSUPPORTED:
      self.init(.unsupportedImage, "this coding of \(kind) is not decoded: \(text)")
    default:
      self.init(.damagedImage, "the \(kind) is damaged: \(text)")
    }
  }
}
