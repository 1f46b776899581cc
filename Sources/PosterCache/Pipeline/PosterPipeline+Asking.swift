/// Asking a server, for a caller or in the background.
extension PosterPipeline {
  /// Asks the server for the poster, and whether `stored` is still right if there is one.
  ///
  /// - Parameter lookup: the look into the tiers that found nothing better.
  func arrival(
    of request: PosterRequest, _ stored: StoredPoster?, _ mode: CacheMode,
    after lookup: OpenLookups.Lookup
  ) async throws(PosterError) -> Arrival {
    var fetch = fetch(request, stored, mode)
    fetch.arrivedMeanwhile = { lookup.end() }
    let first = try await fetcher.value(of: fetch) {
      [tiers] result, finish in
      finish(tiers.take(result, for: request))
    }
    if let first { return first }
    // The server confirmed something else than it was asked about: only the picture itself will do.
    let second = try await fetcher.value(of: self.fetch(request, nil, .refresh)) {
      [tiers] result, finish in finish(tiers.take(result, for: request))
    }
    guard let second else {
      throw PosterError(
        .status(304), "the server keeps answering 304 for another picture: \(request.address)")
    }
    return second
  }

  /// Asks the server about a poster that is in use already, once however many use it.
  func revalidate(_ request: PosterRequest) {
    guard revalidations.begin(request.key) else { return }
    // The last one may have ended since this poster was looked for.
    let (verdict, found) = tiers.look(for: request, .normal)
    guard verdict == .useAndRevalidate, let found else { return revalidations.end(request.key) }
    var fetch = fetch(request, found.stored, .normal)
    fetch.priority = .background
    let (revalidations, key) = (revalidations, request.key)
    fetcher.fetch(fetch) { [tiers] result in
      let taken = tiers.take(result, for: request)
      if case .failure(let error) = taken, error.code != .cancelled { tiers.warnings.warn(error) }
      revalidations.end(key)
    }
  }

  private func fetch(
    _ request: PosterRequest, _ stored: StoredPoster?, _ mode: CacheMode
  ) -> FetchRequest {
    var fetch = FetchRequest(request)
    fetch.stored = stored
    fetch.isRefresh = mode == .refresh
    return fetch
  }
}
