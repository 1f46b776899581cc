import PosterCache

/// What contestants of ours have left behind.
enum CacheCheck {
  /// - Throws: unless the cache in `directory` holds exactly `count` posters of `bytes` together.
  static func check(_ directory: String, count: Int, bytes: Int) throws {
    let cache = try DiskCache(directory: directory)
    defer { cache.close() }
    var found = (count: 0, bytes: 0)
    try cache.forEachEntry { entry in
      found.count += 1
      found.bytes += entry.bytes
      return true
    }
    guard found == (count, bytes) else {
      throw BenchError(
        "\(found.count) posters of \(found.bytes) bytes arrived, not \(count) of \(bytes)")
    }
  }
}
