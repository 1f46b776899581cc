import Foundation
import FoundationNetworking
import PosterCache

/// Foundation's `URLCache` on a disk, as a program that sets `URLSessionConfiguration.urlCache` has it.
struct FoundationDiskCache {
  private let cache: URLCache
  private let requests: [URLRequest]
  private let responses: [CachedURLResponse]

  /// A cache of `posters`, and of no memory, in `path`; requests and responses are made in advance.
  init(_ posters: [StoredPoster], in path: String) throws(BenchError) {
    cache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 30, diskPath: path)
    var requests: [URLRequest] = []
    var responses: [CachedURLResponse] = []
    for poster in posters {
      let address = poster.metadata.address.canonical
      guard let url = URL(string: address),
        let response = HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: "HTTP/1.1",
          headerFields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=31536000"])
      else { throw BenchError("no address for Foundation: \(address)") }
      requests.append(URLRequest(url: url))
      responses.append(
        CachedURLResponse(
          response: response, data: poster.body.withUnsafeBytes { Data($0) },
          storagePolicy: .allowed))
    }
    (self.requests, self.responses) = (requests, responses)
  }

  func insertAll() {
    for (request, response) in zip(requests, responses) {
      cache.storeCachedResponse(response, for: request)
    }
  }

  /// Reads every poster once; returns the sum of their lengths.
  func readAll() -> Int {
    requests.reduce(0) { $0 + (cache.cachedResponse(for: $1)?.data.count ?? 0) }
  }
}
