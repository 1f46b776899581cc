import PosterCache

extension Settings.Listing {
  /// What lists hold.
  struct Contents: Sendable {
    var tally: WarmTally
    /// The pictures in the order of the lists, `nil` for an entry that has none.
    var cells: [PosterRequest?]
  }

  /// Loads all pages of all lists, and fetches no poster; what came until then if the task is cancelled, which
  /// shuts `pipeline` down.
  func load(
    from servers: Servers, through pipeline: PosterPipeline, console: Console
  ) async -> Result<Contents, PosterError> {
    await withTaskCancellationHandler {
      await Result { () async throws(PosterError) in
        // What no list takes is told before anybody is asked.
        let feeds = try feeds(from: servers, through: pipeline)
        return await load(
          feeds, images: try await imageHost(servers, through: pipeline, console: console))
      }
    } onCancel: {
      Task.detached { await pipeline.shutdown() }
    }
  }

  /// Loads all pages, those of one list one after the other.
  private func load(_ feeds: [any FeedSource], images: ImageHost) async -> Contents {
    let outcomes = await withTaskGroup(of: (Int, [PageOutcome]).self) { group in
      for (index, feed) in feeds.enumerated() {
        group.addTask { (index, await pages(of: feed, lists[index])) }
      }
      var outcomes: [[PageOutcome]] = feeds.map { _ in [] }
      for await (index, pages) in group { outcomes[index] = pages }
      return outcomes
    }
    var contents = Contents(tally: WarmTally(lists.map(\.label)), cells: [])
    for (index, pages) in outcomes.enumerated() {
      for outcome in pages {
        switch outcome.result {
        case .success(let page):
          contents.cells +=
            contents.tally.pageDidLoad(
              page, of: index, size: size, images: images
            ).cells
        case .failure(let error): contents.tally.pageDidFail(outcome.address, error, of: index)
        }
      }
    }
    return contents
  }

  /// A page that came, or why it did not.
  private struct PageOutcome: Sendable {
    var address: PosterAddress?
    var result: Result<FeedPage, PosterError>
  }

  private func pages(of feed: any FeedSource, _ list: ListSelection) async -> [PageOutcome] {
    var feed = feed
    var outcomes: [PageOutcome] = []
    while !Task.isCancelled, feed.hasNextPage {
      let address = feed.nextPageAddress
      do throws(PosterError) {
        guard let page = try await feed.nextPage() else { break }
        if let refusal = refusal(of: page, from: list) {
          outcomes.append(PageOutcome(address: address, result: .failure(refusal)))
          break
        }
        outcomes.append(PageOutcome(address: address, result: .success(page)))
      } catch {
        feed.skipFailedPage()
        // An interruption is no failure of what it interrupts.
        guard !Task.isCancelled else { break }
        outcomes.append(
          PageOutcome(
            address: address,
            result: .failure(source.explaining(error, about: list, at: address))))
      }
    }
    return outcomes
  }
}
