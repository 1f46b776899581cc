/// What a picture may cost to decode. Checked against its header before anything is allocated for it.
///
/// Every limit must be greater than 0: ``ImageDecoder`` throws
/// ``PosterError/Code/invalidConfiguration`` otherwise.
public struct DecodingLimits: Sendable, Hashable {
  /// Width times height as in the file. Default 64 million.
  public var maximumPixels = 64_000_000
  /// Scans of a JPEG: each may go over the whole picture again. Default 500.
  public var maximumJPEGScans = 500
  /// Bytes that decoding may hold at once: the bitmap, and what the codec and the shrinking need
  /// besides, as far as the header tells. Default 256 MiB.
  public var maximumMemory = ByteSize(bytes: 256 << 20)

  public init() {}
}
