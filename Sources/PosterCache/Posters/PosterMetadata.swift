import FoundationEssentials

/// What is known about a stored picture besides its bytes.
public struct PosterMetadata: Sendable, Hashable {
  /// The canonical address it was asked for under.
  public var address: PosterAddress
  /// What kind of picture it is.
  public var type: ImageType
  /// The `ETag` of the response, quotes and weakness mark included, if it had one.
  public var etag: String?
  /// The `Last-Modified` of the response as sent, if it had one.
  public var lastModified: String?
  /// When the response was received, in whole milliseconds.
  public var storedAt: Date
  /// Until when it may be used without asking the server, in whole milliseconds.
  public var expiresAt: Date
  /// How it may be used after that.
  public var staleUse = StaleUse()
  /// What the server chose it by, if its answer depends on more than the address.
  public var variant: Variant?
  /// The average colour of the picture, if it has been decoded since it was received.
  public var averageColor: PosterColor?

  /// Both dates are rounded to whole milliseconds, as they are stored.
  public init(
    address: PosterAddress, type: ImageType, etag: String? = nil, lastModified: String? = nil,
    storedAt: Date, expiresAt: Date
  ) {
    self.address = address
    self.type = type
    self.etag = etag
    self.lastModified = lastModified
    self.storedAt = Date(milliseconds: storedAt.milliseconds)
    self.expiresAt = Date(milliseconds: expiresAt.milliseconds)
  }
}

extension Date {
  /// Whole milliseconds since 1970, the unit in which the disk tier keeps time; at most some 35,000
  /// years from there.
  var milliseconds: Int64 {
    let bound = Double(Self.maximumMilliseconds)
    return Int64(min(max((timeIntervalSince1970 * 1000).rounded(), -bound), bound))
  }

  static let maximumMilliseconds = Int64(1) << 50

  /// The moment `milliseconds` after the start of 1970.
  init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
