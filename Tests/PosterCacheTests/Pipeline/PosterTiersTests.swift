import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PosterTiersTests {
  private let directory = TemporaryDirectory()

  private func response(_ lines: [String] = []) -> FetchResponse {
    FetchResponse(
      headers: ResponseHeaders(lines: lines), body: PosterBody(copying: TestPicture.jpeg()),
      type: .jpeg)
  }

  @Test func `a picture that nobody wants any more is stored, and leaves memory alone`() throws {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    let tiers = try PosterTiers(configuration)
    let request = SamplePoster.request(1)
    tiers.takeUnclaimed(response(["ETag: \"one\""]), of: FetchRequest(request))
    let secret = SamplePoster.request(2)
    tiers.takeUnclaimed(response(["Cache-Control: no-store"]), of: FetchRequest(secret))
    tiers.takeUnclaimed(
      response(), of: FetchRequest(SamplePoster.request(3).address, kind: .page(nil)))
    tiers.diskTier?.close()
    #expect(tiers.memory.count == 0)
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.statistics().entries == 1)
    #expect(try cache.poster(for: request)?.metadata.etag == "\"one\"")
  }

  @Test func `an arrival tells all who wait for its storing, once each`() async throws {
    let arrival = try #require(
      Arrival(
        of: response(), for: SamplePoster.request(1), at: Date(), rules: CachingRules(),
        fields: RequestFields(FetchConfiguration())))
    let waiting = (0..<10).map { _ in Task { try await arrival.waitUntilStored() } }
    let impatient = Task { try await arrival.waitUntilStored() }
    impatient.cancel()
    let cancelled = await impatient.result
    let error = #expect(throws: PosterError.self) { try cancelled.get() }
    #expect(error?.code == .cancelled)
    arrival.storingDidFinish(.success(()))
    for task in waiting { try await task.value }
    try await arrival.waitUntilStored()
  }

  @Test func `absences are kept by address, and the longest unused goes first`() throws {
    let table = AbsenceTable()
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    func absence(_ status: Int) -> Absence {
      Absence(status: status, notedAt: date, until: date + 60)
    }
    for number in 0..<4096 { table.note(absence(404), of: SamplePoster.request(number)) }
    #expect(table[SamplePoster.request(0)]?.status == 404)
    table.note(absence(410), of: SamplePoster.request(4096))
    #expect(table[SamplePoster.request(0)]?.status == 404)
    #expect(table[SamplePoster.request(1)] == nil)
    #expect(table[SamplePoster.request(4096)]?.status == 410)
    table.forget(SamplePoster.request(4096).key)
    #expect(table[SamplePoster.request(4096)] == nil)
    // Another address that has the same key by accident is another picture.
    let other = PosterRequest(
      try PosterAddress("http://other.test/"), key: SamplePoster.request(2).key, priority: .visible)
    #expect(table[other] == nil)
  }
}
