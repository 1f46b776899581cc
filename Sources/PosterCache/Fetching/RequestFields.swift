/// The header fields that every request for a picture has and that a server may choose its answer by:
/// what `Vary` refers to (RFC 9111, section 4.1). Others, such as `Accept-Encoding`, are never sent and
/// count as empty.
package struct RequestFields: Sendable, Hashable {
  /// The `Accept` of a picture: the three kinds we take, none preferred, because the server knows what
  /// it has. The rest is for servers that would rather answer 406 than send what they have.
  static let accept = "image/jpeg,image/png,image/webp,*/*;q=0.1"

  /// Values by name in lower case.
  private let values: [String: String]
  /// Hashes of the usual choices: comparing must not cost a look into memory its speed.
  private let usualHashes: [String: UInt64]

  /// The fields of a fetcher with `configuration`.
  package init(_ configuration: FetchConfiguration) {
    let values = ["accept": Self.accept, "user-agent": configuration.userAgent]
    self.values = values
    let names = ["accept", "accept-encoding", "origin", "user-agent"]
    usualHashes = (1..<1 << names.count).reduce(into: [:]) { hashes, choice in
      let fields = names.indices.filter { choice >> $0 & 1 == 1 }.map { names[$0] }
        .joined(separator: ",")
      hashes[fields] = Self.hash(fields, values)
    }
  }

  /// What a response with this `Vary` is one of; `nil` if it depends on the address alone.
  package func variant(vary: String?) -> Variant? {
    let names = Set(
      (vary ?? "").lowercased().split { $0 == "," || $0.isWhitespace }.map { String($0) })
    if names.isEmpty { return nil }
    if names.contains("*") { return Variant(fields: "*", hash: 0) }
    let fields = names.sorted().joined(separator: ",")
    return Variant(fields: fields, hash: hash(fields))
  }

  /// Whether a server would choose `variant` for a request with these fields.
  package func match(_ variant: Variant?) -> Bool {
    guard let variant else { return true }
    return variant.fields != "*" && variant.hash == hash(variant.fields)
  }

  private func hash(_ fields: String) -> UInt64 {
    usualHashes[fields] ?? Self.hash(fields, values)
  }

  private static func hash(_ fields: String, _ values: [String: String]) -> UInt64 {
    // A value holds no line break.
    var text = fields.split(separator: ",")
      .map { "\($0):\(values[String($0)] ?? "")\n" }.joined()
    return text.withUTF8 { xxh3(UnsafeRawBufferPointer($0), seed: 0) }
  }
}
