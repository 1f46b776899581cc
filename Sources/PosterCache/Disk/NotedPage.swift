/// A list page on its way into the index; told from another one with the same address by its identity.
final class NotedPage: Sendable {
  let key: CacheKey
  /// The bytes of its ``PageRow``; none if an earlier one is to go and nothing to take its place.
  let row: [UInt8]

  init(_ key: CacheKey, _ row: [UInt8]) {
    self.key = key
    self.row = row
  }
}
