import CXXHash

extension StableBytes {
  /// A strong validator that follows from the bytes, in its quotes: their XXH3-64 in hexadecimal digits.
  var etag: String {
    let all = pointer(to: 0..<count)
    return "\"\(String(XXH3_64bits(all.baseAddress, all.count), radix: 16))\""
  }
}
