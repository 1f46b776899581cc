import Foundation
import PosterCache

/// Foundation's `NSCache`, as an app would keep posters in it: by address, the bytes as the cost.
final class FoundationCache: @unchecked Sendable {
  // NSCache is documented as safe to use from any thread.
  private let cache = NSCache<NSString, StoredPoster>()

  /// A key made in advance, so that looking up makes none.
  struct Key: @unchecked Sendable {
    // An immutable string.
    fileprivate let text: NSString
  }

  init(limitBytes: Int) {
    cache.totalCostLimit = limitBytes
  }

  static func key(_ address: String) -> Key { Key(text: NSString(string: address)) }

  func insert(_ poster: StoredPoster, for key: Key) {
    cache.setObject(poster, forKey: key.text, cost: poster.body.count)
  }

  func poster(for key: Key) -> StoredPoster? { cache.object(forKey: key.text) }
}
