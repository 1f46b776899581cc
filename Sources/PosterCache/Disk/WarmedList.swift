/// What a run had of a list.
struct WarmedList: Sendable {
  /// The list's name, any text.
  var name: String
  /// The posters.
  var keys: [CacheKey]
  /// In milliseconds since 1970.
  var notedAt: Int64

  /// Under which key a part of what was warmed of the list called `name` is kept. No canonical address
  /// begins so.
  static func key(of name: String, part: Int) -> CacheKey {
    CacheKey(hashing: "warmed \(part) \(name)")
  }
}
