/// Beginnings of pictures whose transfers were stopped, the most recently stopped ones within a number
/// of bytes.
///
/// Few at a time, so that they are simply searched.
struct PartialStore {
  /// Bytes of memory for all of them together.
  static let limit = 8 << 20
  /// What is shorter costs less to fetch again than to ask for.
  static let shortest = 4 << 10

  private let limit: Int
  /// The oldest first.
  private var partials: [PartialBody] = []
  /// Bytes of memory that they occupy.
  private(set) var bytes = 0

  init(limit: Int = Self.limit) {
    self.limit = limit
  }

  /// How many are kept.
  var count: Int { partials.count }

  /// Keeps `partial` in place of an earlier one of the same address.
  mutating func insert(_ partial: PartialBody) {
    _ = take(partial.address)
    guard partial.count >= Self.shortest, partial.capacity <= limit else { return }
    partials.append(partial)
    bytes += partial.capacity
    while bytes > limit { remove(at: 0) }
  }

  /// Hands over what there is of the picture at `address`.
  mutating func take(_ address: PosterAddress) -> PartialBody? {
    guard let index = partials.firstIndex(where: { $0.address == address }) else { return nil }
    return remove(at: index)
  }

  @discardableResult
  private mutating func remove(at index: Int) -> PartialBody {
    let partial = partials.remove(at: index)
    bytes -= partial.capacity
    return partial
  }
}
