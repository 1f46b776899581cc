/// What a caller wants: the picture at an address, and how urgently.
///
/// Making one parses the address and computes its key; keep it and use it again where the same
/// picture is asked for often.
public struct PosterRequest: Sendable, Hashable {
  /// The canonical address.
  public let address: PosterAddress
  /// The name under which the picture is cached.
  public let key: CacheKey
  /// How urgently it is wanted; ``Priority/visible`` unless said otherwise.
  public var priority: Priority

  /// A request for the picture at `address`.
  public init(_ address: PosterAddress, priority: Priority = .visible) {
    self.address = address
    self.key = CacheKey(address)
    self.priority = priority
  }

  /// A request whose key is known already.
  init(_ address: PosterAddress, key: CacheKey, priority: Priority) {
    self.address = address
    self.key = key
    self.priority = priority
  }

  /// A request for the picture at an address as people write it.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress``.
  public init(_ address: String, priority: Priority = .visible) throws(PosterError) {
    self.init(try PosterAddress(address), priority: priority)
  }

  /// A request for a TMDB `poster_path`, `profile_path` or `backdrop_path`.
  ///
  /// The path may lack its leading slash or have several; surplus ones are dropped.
  ///
  /// - Parameter images: the base address of the image host, up to and without the size.
  /// - Throws: ``PosterError/Code/invalidAddress`` if the path is empty or leaves the base.
  public init(
    path: String, size: PosterSize = .w342, images: PosterAddress = .tmdbImages,
    priority: Priority = .visible
  ) throws(PosterError) {
    let file = path.drop { $0 == "/" }
    guard !file.isEmpty else { throw PosterError(.invalidAddress, "empty poster path") }
    self.init(try images.appending("\(size.rawValue)/\(file)"), priority: priority)
  }
  /// The key is hash enough; two addresses that share one by accident are still not equal.
  public func hash(into hasher: inout Hasher) {
    key.hash(into: &hasher)
  }
}
