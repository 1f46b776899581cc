import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PageProgressTests {
  /// One that is loading page 1.
  private func loading() -> PageProgress {
    var pages = PageProgress(hasPages: true)
    #expect(near(&pages, at: 0))
    pages.pageWasAsked(1)
    return pages
  }

  private func near(_ pages: inout PageProgress, at seconds: Double) -> Bool {
    pages.endIsNear(at: seconds)
  }

  @Test func `a page is asked for once, and the next one when the end is near again`() {
    var pages = loading()
    #expect(pages.loading == 1 && !pages.canBeAsked)
    #expect(!near(&pages, at: 1))
    pages.pageDidLoad(itemCount: 20, hasMore: true)
    #expect(pages.loading == nil && pages.canBeAsked && !pages.isStillWanted)
    #expect(near(&pages, at: 2))
  }

  @Test func `nothing is asked for behind the end`() {
    var pages = loading()
    pages.pageDidLoad(itemCount: 20, hasMore: false)
    #expect(pages.hasEnded && !pages.canBeAsked)
    #expect(!near(&pages, at: 2))
    var none = PageProgress(hasPages: false)
    #expect(!near(&none, at: 0) && none.hasEnded)
  }

  @Test func `a page that failed is asked for again after 1 second, doubled to 30`() {
    var pages = loading()
    var now = 0.0
    for wait in [1.0, 2, 4, 8, 16, 30, 30, 30] {
      pages.pageDidFail(.mayPass, at: now)
      #expect(pages.retryAt == now + wait)
      #expect(!near(&pages, at: now + wait - 0.001))
      now += wait
      #expect(near(&pages, at: now))
      pages.pageWasAsked(UInt64(now))
    }
    pages.pageDidLoad(itemCount: 1, hasMore: true)
    #expect(near(&pages, at: now))
    pages.pageWasAsked(1000)
    pages.pageDidFail(.mayPass, at: now)
    #expect(pages.retryAt == now + 1)
  }

  @Test
  func `a page that failed is asked for at once when the end is reached anew, or somebody says so`()
  {
    var pages = loading()
    pages.pageDidFail(.mayPass, at: 0)
    #expect(!near(&pages, at: 0.1))
    pages.endIsFar()
    #expect(pages.retryAt == nil)
    #expect(near(&pages, at: 0.2))
    pages.pageWasAsked(2)
    pages.pageDidFail(.mayPass, at: 0.3)
    #expect(retry(&pages))
    pages.pageWasAsked(3)
    #expect(!retry(&pages))
  }

  private func retry(_ pages: inout PageProgress) -> Bool { pages.retryWasWanted() }

  @Test func `refused credentials end the list, other failures may wait for somebody to say so`() {
    var refused = loading()
    refused.pageDidFail(.refused, at: 0)
    #expect(refused.hasEnded && !retry(&refused) && !near(&refused, at: 100))
    var offline = loading()
    offline.pageDidFail(.hopeless, at: 0)
    #expect(offline.retryAt == nil && !near(&offline, at: 100))
    #expect(retry(&offline))
    #expect(PageFailure(PosterError(.unauthorized, "no")) == .refused)
    #expect(PageFailure(PosterError(.offline, "no")) == .hopeless)
    #expect(PageFailure(PosterError(.status(500), "no")) == .mayPass)
    #expect(PageFailure(PosterError(.malformedPage, "no")) == .mayPass)
  }

  @Test func `pages without items are followed at once, three in a row end the list`() {
    var pages = loading()
    for number in 2...3 as ClosedRange<UInt64> {
      pages.pageDidLoad(itemCount: 0, hasMore: true)
      #expect(pages.isStillWanted)
      pages.pageWasAsked(number)
    }
    pages.pageDidLoad(itemCount: 0, hasMore: true)
    #expect(!pages.isStillWanted && pages.hasEnded)
  }

  @Test func `what is stopped may be asked for again`() {
    var pages = loading()
    #expect(stop(&pages) == 1)
    #expect(stop(&pages) == nil)
    #expect(near(&pages, at: 1))
  }

  private func stop(_ pages: inout PageProgress) -> UInt64? { pages.wasStopped() }
}
