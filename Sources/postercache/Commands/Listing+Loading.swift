import PosterCache

extension Settings.Listing {
  /// Loads all pages of `feed`, and fetches no poster; what came until then if the task is cancelled.
  ///
  /// - Returns: what was on them, and the posters in the list's order.
  func load(
    _ feed: TMDBFeed, images: ImageHost
  ) async -> (tally: WarmTally, requests: [PosterRequest]) {
    var feed = feed
    var tally = WarmTally()
    var requests: [PosterRequest] = []
    while !Task.isCancelled, let address = feed.nextPageAddress {
      do throws(PosterError) {
        guard let page = try await feed.nextPage() else { break }
        requests += tally.pageDidLoad(page, size: size, images: images).map(\.request)
      } catch {
        feed.skipFailedPage()
        // An interruption is no failure of what it interrupts.
        if !Task.isCancelled { tally.pageDidFail(address, source.explaining(error)) }
      }
    }
    return (tally, requests)
  }
}
