import FoundationEssentials

/// What came of a ``FetchRequest``.
package struct FetchResponse: Sendable {
  /// The status of the last response, after redirects; of a picture 200 or 203.
  package var status: Int { headers.status }
  /// The headers of the last response.
  package var headers: ResponseHeaders
  /// Its body.
  package var body: PosterBody
  /// What kind of picture the body is; `nil` for a page.
  package var type: ImageType?
  /// Whether the server confirmed ``FetchRequest/stored``, whose body this response has then; its
  /// headers are those of the 304.
  package var isNotModified = false
  /// What was asked about, if the server confirmed it.
  package var confirmed: StoredPoster?
  /// When it was asked for, before redirects; `nil` if that is not known.
  package var requestedAt: Date?
  /// What the receivers of this response share.
  package let keepsake = Keepsake()

  /// A place for what the first receiver of a response made of it: the others get the same, one
  /// right after the other on the fetch thread. It lives as long as somebody holds the response,
  /// which the fetch thread does until it has told them all.
  package final class Keepsake: Sendable {
    private let kept = Lock<(any Sendable)?>(nil)

    /// What was kept, or what `make` makes now. Call it on the fetch thread only.
    func value<Value: Sendable>(_ make: () -> Value) -> (value: Value, isNew: Bool) {
      if let value = kept.withLock({ $0 }) as? Value { return (value, false) }
      let value = make()
      kept.withLock { $0 = value }
      return (value, true)
    }
  }
}
