/// What one ticket asks the pipeline for.
struct PrefetchJob: Sendable {
  /// What came.
  struct Yield: Sendable {
    /// The pixels, if they were asked for, and how.
    var image: (PosterImage, Rendition)?
    /// Bytes of the encoded poster; `nil` if nobody knows.
    var bytes: Int?
  }

  var request: PosterRequest
  var yield: Prefetcher.Configuration.Yield

  func run(_ pipeline: PosterPipeline) async -> Result<Yield, PosterError> {
    do throws(PosterError) {
      switch yield {
      case .pixels(let rendition):
        let image = try await pipeline.image(for: request, as: rendition)
        return .success(Yield(image: (image, rendition)))
      case .poster:
        return .success(Yield(bytes: try await pipeline.poster(for: request).body.count))
      case .stored:
        if case .fetched(let bytes) = try await pipeline.warm(request) {
          return .success(Yield(bytes: bytes))
        }
        return .success(Yield())
      }
    } catch {
      return .failure(error)
    }
  }
}
