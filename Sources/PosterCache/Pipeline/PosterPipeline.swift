/// The cache as a program uses it: memory, then disk, then the origin.
public final class PosterPipeline: Sendable {
  /// What ``warm(_:)`` had to do.
  public enum WarmOutcome: Sendable, Hashable {
    /// The poster was in the disk cache already.
    case hit
    /// It was fetched and is stored now; the number of body bytes.
    case fetched(bytes: Int)
  }

  /// The disk tier, `nil` if the configuration names no directory.
  public let disk: DiskCache?

  /// Opens the cache directory and starts the fetch thread.
  public init(_ configuration: Configuration) throws(PosterError) {
    fatalError("stub")
  }

  /// The poster, from the nearest tier that has it.
  public func poster(for request: PosterRequest) async throws(PosterError) -> Poster {
    fatalError("stub")
  }

  /// The poster if the memory tier has it: for a cell that must be filled before the next frame.
  public func cachedPoster(for request: PosterRequest) -> Poster? {
    fatalError("stub")
  }

  /// Makes sure that the disk tier has the poster; returns when it is stored.
  public func warm(_ request: PosterRequest) async throws(PosterError) -> WarmOutcome {
    fatalError("stub")
  }

  /// Loads a list page; every status is an answer, only a failed transfer throws.
  public func page(_ request: PageRequest) async throws(PosterError) -> PageResponse {
    fatalError("stub")
  }

  /// Stops transfers, stores what has been fetched and closes the directory. Requests that are
  /// still waiting fail with ``PosterError/Code/cancelled``.
  public func shutdown() async {
    fatalError("stub")
  }
}
