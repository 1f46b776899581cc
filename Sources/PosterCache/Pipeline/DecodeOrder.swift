import FoundationEssentials

/// A poster to be decoded, as it is handed to ``DecodeWorkers``.
struct DecodeOrder: Sendable {
  /// Which poster.
  let request: PosterRequest
  /// How it is wanted.
  let rendition: Rendition
  /// Whether a picture without its end will do.
  let allowsIncomplete: Bool
  /// The encoded poster; `nil` where the tiers have to be asked for it once its turn has come.
  var poster: StoredPoster?
  /// ``PosterBody/contentHash`` of the encoded poster.
  var bodyHash: UInt64
  /// When the encoded poster was received, or confirmed last.
  let storedAt: Date
  /// Whether the server allows keeping it.
  let isStorable: Bool
  /// What is learned about the poster from before it was got until it has been decoded.
  let watch: ImageTier.Watch

  /// The name of its pixels.
  var imageKey: ImageKey { ImageKey(poster: request.key, rendition: rendition) }

  var name: DecodeQueue.Name {
    DecodeQueue.Name(image: imageKey, bodyHash: bodyHash, allowsIncomplete: allowsIncomplete)
  }

  /// The same without the encoded poster.
  var withoutPoster: DecodeOrder {
    var order = self
    order.poster = nil
    return order
  }
}

/// What a decode came to.
enum DecodeOutcome: Sendable {
  /// The pixels, and the hash of what they were made of.
  case image(PosterImage, bodyHash: UInt64)
  /// The encoded poster with this hash cannot be decoded.
  case failed(PosterError, bodyHash: UInt64)
  /// No tier had the encoded poster any more when its turn came.
  case gone
  /// Dropped, or the pipeline was shut down.
  case cancelled
}
