import CCodecs

/// Reads PNGs with libpng: every colour type and depth, interlaced or not. Of 16 bits the upper 8 are
/// taken; `gAMA` and `cHRM` are ignored.
struct PNGReader: PictureReading, ~Copyable {
  let header: ImageHeader
  let colorProfile: [UInt8]?
  /// The C library's side, freed with this value.
  private let reader: OpaquePointer
  private let isInterlaced: Bool
  private var damage = DamagePolicy.refuse
  private var hasAllRows = true

  /// Reads the header of `bytes`.
  init(_ bytes: UnsafeRawBufferPointer, limits: DecodingLimits) throws(PosterError) {
    let chunks = PNGChunks(bytes)
    // Before libpng sees anything: its first look takes memory already.
    guard let width = chunks.width, let height = chunks.height else {
      throw PosterError(.damagedImage, "the PNG is damaged: it does not begin with a header")
    }
    let size = try limits.checkedSize(width: width, height: height)
    var description = postercache_png_header()
    var status = POSTERCACHE_CODEC_OK
    var message = postercache_codec_message()
    guard
      let reader = postercache_png_open(
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
        UInt64(min(Self.codecBytes(size) + 2 * Self.longestChunk, limits.maximumMemory.bytes)),
        UInt32(Self.longestChunk), &description, &status, &message)
    else { throw PosterError(status, message, what: "PNG") }
    self.reader = reader
    isInterlaced = description.is_interlaced
    header = ImageHeader(
      type: .png, storedSize: size, orientation: chunks.orientation,
      hasAlpha: description.has_alpha)
    var count: UInt32 = 0
    colorProfile = postercache_png_profile(reader, &count).map { profile in
      Array(UnsafeBufferPointer(start: profile, count: Int(count)))
    }
  }

  deinit { postercache_png_close(reader) }

  func plan(for target: PixelSize, damage: DamagePolicy) -> ReadingPlan {
    ReadingPlan(
      size: header.storedSize, codecBytes: Self.codecBytes(header.storedSize),
      comesWhole: isInterlaced, writesAll: !isInterlaced && damage == .refuse,
      isOpaque: !header.hasAlpha && damage == .refuse, damage: damage)
  }

  mutating func start(_ plan: ReadingPlan) throws(PosterError) {
    damage = plan.damage
    var message = postercache_codec_message()
    let status = postercache_png_start(reader, &message)
    guard status == POSTERCACHE_CODEC_OK else { throw PosterError(status, message, what: "PNG") }
  }

  mutating func read(_ count: Int, into rows: UnsafeMutableRawPointer) throws(PosterError) -> Int {
    var message = postercache_codec_message()
    var got: UInt32 = 0
    let status = postercache_png_read(
      reader, rows.assumingMemoryBound(to: UInt8.self), UInt32(count), &got, &message)
    if status == POSTERCACHE_CODEC_OK { return count }
    guard status == POSTERCACHE_CODEC_DAMAGED, damage == .tolerate else {
      throw PosterError(status, message, what: "PNG")
    }
    hasAllRows = false
    return Int(got)
  }

  mutating func finish() throws(PosterError) -> Bool {
    guard hasAllRows else { return false }
    var message = postercache_codec_message()
    let status = postercache_png_finish(reader, &message)
    if status == POSTERCACHE_CODEC_OK { return true }
    guard damage == .tolerate else { throw PosterError(status, message, what: "PNG") }
    return false
  }

  /// Bytes of the longest chunk that is read into memory as a whole, a profile for example.
  private static let longestChunk = 4 << 20

  /// What libpng needs: three rows of up to eight bytes a pixel, and zlib's window and tables.
  private static func codecBytes(_ size: PixelSize) -> Int { size.width * 32 + 256 << 10 }
}
