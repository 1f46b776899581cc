/// What a caller wants: the picture at an address, and how urgently.
///
/// Making one parses the address and computes its key; keep it and use it again where the same
/// picture is asked for often.
public struct PosterRequest: Sendable, Hashable {
  /// The canonical address under which the picture is cached and named.
  public let address: PosterAddress
  /// The name under which the picture is cached: the key of ``address``.
  public let key: CacheKey
  /// How urgently it is wanted; ``Priority/visible`` unless said otherwise.
  public var priority: Priority
  /// Where the picture is fetched from, if that is not ``address``.
  private let signedAddress: PosterAddress?

  /// Where the picture is fetched from: ``address``, with the parameters that an ``AddressRule``
  /// leaves out of it. May hold a signature: it is never stored, and no message names it.
  public var source: PosterAddress { signedAddress ?? address }

  /// A request for the picture at `address`.
  ///
  /// - Parameter rule: what of the address does not belong to the picture's name; by default
  ///   everything does. A pipeline with a rule applies its own.
  public init(
    _ address: PosterAddress, priority: Priority = .visible, rule: AddressRule = AddressRule()
  ) {
    let name = rule.name(of: address)
    self.init(name, key: CacheKey(name), priority: priority, source: address)
  }

  /// A request whose key is known already.
  ///
  /// - Parameter source: where the picture is fetched from, if not from `address`.
  init(
    _ address: PosterAddress, key: CacheKey, priority: Priority, source: PosterAddress? = nil
  ) {
    self.address = address
    self.key = key
    self.priority = priority
    signedAddress = source == address ? nil : source
  }

  /// A request for the picture at an address as people write it.
  ///
  /// - Parameter rule: what of the address does not belong to the picture's name.
  /// - Throws: ``PosterError/Code/invalidAddress``.
  public init(
    _ address: String, priority: Priority = .visible, rule: AddressRule = AddressRule()
  ) throws(PosterError) {
    self.init(try PosterAddress(address), priority: priority, rule: rule)
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
    let file = Substring(path.utf8.drop { $0 == UInt8(ascii: "/") })
    guard !file.isEmpty else { throw PosterError(.invalidAddress, "empty poster path") }
    self.init(try images.appending("\(size.rawValue)/\(file)"), priority: priority)
  }

  /// The same request with a name that `rule` makes of its ``source``.
  ///
  /// Costs next to nothing where the rule is empty or changes nothing.
  public func applying(_ rule: AddressRule) -> PosterRequest {
    guard !rule.isEmpty else { return self }
    let name = rule.name(of: source)
    guard name != address else { return self }
    return PosterRequest(name, key: CacheKey(name), priority: priority, source: source)
  }

  /// The key is hash enough; two addresses that share one by accident are still not equal.
  public func hash(into hasher: inout Hasher) {
    key.hash(into: &hasher)
  }
}
