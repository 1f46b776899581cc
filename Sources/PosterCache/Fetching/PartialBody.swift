/// The beginning of a picture whose transfer was stopped, and what it takes to fetch the rest.
///
/// Used on the fetch thread only.
final class PartialBody {
  /// The address that it was asked for under, before redirects.
  let address: PosterAddress
  /// A strong validator, as `If-Range` wants it: an entity tag, quotes included.
  let validator: String
  /// Length of the whole picture in bytes.
  let total: Int
  /// The address that it came from where redirects led to another one. Only from there the rest can be
  /// taken: other places may use the same validators for other pictures.
  let source: String?
  /// What has come.
  private var builder: PosterBody.Builder?

  init(
    address: PosterAddress, source: String? = nil, validator: String, total: Int,
    builder: consuming PosterBody.Builder
  ) {
    self.address = address
    self.source = source
    self.validator = validator
    self.total = total
    count = builder.count
    capacity = builder.capacity
    self.builder = consume builder
  }

  /// Bytes that have come.
  let count: Int
  /// Bytes of memory that they occupy.
  let capacity: Int

  /// Hands the bytes over to whoever appends the rest. Call it once.
  func takeBuilder() -> PosterBody.Builder {
    guard let builder = builder.take() else { preconditionFailure("a partial body used twice") }
    return builder
  }
}
