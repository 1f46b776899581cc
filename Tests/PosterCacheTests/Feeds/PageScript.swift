@testable import PosterCache

/// Answers requests for list pages as a test says, and remembers them.
actor PageScript {
  /// What has been asked for, in order.
  private(set) var requests: [PageRequest] = []
  private let answer: @Sendable (PageRequest, Int) -> (status: Int, body: String)

  /// - Parameter answer: called with each request and how many there have been, itself included.
  init(_ answer: @escaping @Sendable (PageRequest, Int) -> (status: Int, body: String)) {
    self.answer = answer
  }

  /// Answers every request with the same.
  init(_ body: String, status: Int = 200) {
    self.init { _, _ in (status, body) }
  }

  /// The addresses that have been asked for.
  var addresses: [String] { requests.map(\.address.canonical) }

  /// What feeds load their pages with.
  nonisolated var load: FeedPage.Load {
    { request async throws(PosterError) in await self.respond(to: request) }
  }

  private func respond(to request: PageRequest) -> PageResponse {
    requests.append(request)
    let (status, body) = answer(request, requests.count)
    return PageResponse(status: status, body: PosterBody(copying: body.utf8))
  }
}
