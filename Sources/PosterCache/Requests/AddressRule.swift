/// Which query parameters do not belong to a picture's name, such as signatures that expire.
///
/// Storage services sign addresses (`…?X-Amz-Signature=…`), each time otherwise. Taken for part of
/// the name, the signature would make every visit fetch and store the same picture anew, and would
/// lie in the cache. With a rule, requests that differ in nothing else are one: they share a key, an
/// entry and a transfer. The whole address is used to fetch and revalidate, and kept nowhere.
///
/// A rule also means that whoever may use the cache gets the picture, with or without a signature.
/// Use the same rule for a cache directory all the time: under another one its pictures have other
/// names. Empty unless parameters are named.
public struct AddressRule: Sendable, Hashable {
  /// The names as they stand in a canonical address.
  private let names: Set<String>

  /// A rule that leaves parameters out of names.
  ///
  /// - Parameter parameters: their names, case being significant, not percent-encoded.
  public init(droppingParameters parameters: Set<String> = []) {
    names = Set(
      parameters.map { name in
        // An escape in a name that a caller gives is three characters.
        PercentEncoding.normalized(
          Substring(name.replacing("%", with: "%25")).utf8,
          allowing: { byte in
            byte != UInt8(ascii: "&") && byte != UInt8(ascii: "=")
              && PercentEncoding.isAllowedInQuery(byte)
          })
      })
  }

  /// The parameters with which Amazon S3 and compatible services, CloudFront and Google Cloud
  /// Storage sign an address and let it expire. For hosts where these names mean just that.
  public static let signatures = AddressRule(droppingParameters: [
    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
    "X-Amz-Signature", "X-Amz-SignedHeaders", "AWSAccessKeyId", "Expires", "Signature",
    "Key-Pair-Id", "Policy", "X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date",
    "X-Goog-Expires", "X-Goog-Signature", "X-Goog-SignedHeaders", "GoogleAccessId",
  ])

  /// Whether it leaves every address as it is.
  public var isEmpty: Bool { names.isEmpty }

  /// The address under which the picture at `address` is cached: the same without the parameters
  /// that the rule names. The others keep their order; a query of which none is left goes.
  public func name(of address: PosterAddress) -> PosterAddress {
    let canonical = address.canonical
    guard !isEmpty, let mark = canonical.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return address
    }
    let query = canonical[canonical.utf8.index(after: mark)...]
    let parameters = query.split(separator: "&", omittingEmptySubsequences: false)
    let kept = parameters.filter { parameter in
      !names.contains(String(parameter.prefix { $0 != "=" }))
    }
    guard kept.count < parameters.count else { return address }
    let rest = kept.joined(separator: "&")
    return PosterAddress(
      canonical: canonical[..<mark] + (rest.isEmpty ? "" : "?" + rest), like: address)
  }
}
