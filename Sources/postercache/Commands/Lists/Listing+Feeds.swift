import PosterCache

extension Settings.Listing {
  /// The pages of every list, loaded by `pipeline`.
  ///
  /// - Parameter priority: by default nobody looks, and posters need not leave room for somebody who might.
  func feeds(
    from servers: Servers, through pipeline: PosterPipeline, priority: Priority = .background
  ) throws(PosterError) -> [any FeedSource] {
    let load: FeedPage.Load = { request async throws(PosterError) in
      var request = request
      request.priority = priority
      return try await pipeline.page(request)
    }
    return try lists.map { list throws(PosterError) in
      try feed(of: list, from: servers, load: load)
    }
  }

  private func feed(
    of list: ListSelection, from servers: Servers, load: @escaping FeedPage.Load
  ) throws(PosterError) -> any FeedSource {
    switch list {
    case .tmdb(let tmdb):
      try TMDBFeed(
        tmdb, api: servers.tmdb.address, credential: servers.tmdb.credential, language: language,
        region: region, pictures: pictures, pageLimit: pageLimit, itemLimit: posterLimit,
        load: load)
    case .spotify(let spotify, let filters):
      try SpotifyFeed(
        spotify, api: servers.spotify.address, credential: servers.spotify.credential,
        filters: filters, pageLimit: pageLimit, itemLimit: posterLimit, load: load)
    case .feed(let source):
      // Strictness is ours to see to, as with every list.
      DocumentFeed(source, pageLimit: pageLimit, itemLimit: posterLimit, load: load)
    case .urls(let source):
      URLListFeed(source, itemLimit: posterLimit, load: load)
    }
  }

  /// The host of the pictures; asks the API for it where ``wantsConfiguration`` says so.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if ``size`` is none that is offered.
  func imageHost(
    _ servers: Servers, through pipeline: PosterPipeline, console: Console
  ) async throws(PosterError) -> ImageHost {
    guard wantsConfiguration else { return servers.images }
    var host = servers.images
    var failure: PosterError?
    do throws(PosterError) {
      host = try await ImageHost.loaded(
        api: servers.tmdb.address, credential: servers.tmdb.credential
      ) { (request) async throws(PosterError) in
        var request = request
        request.priority = .background
        return try await pipeline.page(request)
      }
    } catch {
      if Task.isCancelled { throw error }
      console.detail("no configuration, going on with \(host.base): \(error)")
      failure = error
    }
    guard let refusal = refusal(on: host) else { return host }
    guard let failure else { throw refusal }
    throw PosterError(
      refusal.code,
      "\(refusal.message) (these are built in, as the API did not tell its own sizes: \(failure))")
  }

  /// Why `page` is not to be taken: with ``isStrict``, its first entry that cannot be understood.
  func refusal(of page: FeedPage, from list: ListSelection) -> PosterError? {
    guard isStrict, let fault = page.faults.first else { return nil }
    return PosterError(.malformedPage, "\(list.sourceName): \(fault)")
  }
}
