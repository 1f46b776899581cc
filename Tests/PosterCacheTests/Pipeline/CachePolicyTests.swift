import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct CachePolicyTests {
  private static let day = 86_400.0
  private let policy = CachePolicy(fields: RequestFields(FetchConfiguration()))
  /// When what is stored was stored.
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  // MARK: - A table

  /// A picture stored at 0 that expires at 600.
  struct Row: Sendable {
    var now: Double
    var whileRevalidating: UInt32 = 0
    var ifError: UInt32 = 0
    var isForbidden = false
    var normal: CachePolicy.Verdict
    var offline: CachePolicy.Verdict = .use
  }

  private static let ask = CachePolicy.Verdict.revalidate(orUseIfThatFails: false)
  private static let tryToAsk = CachePolicy.Verdict.revalidate(orUseIfThatFails: true)

  static let rows: [Row] = [
    Row(now: 0, normal: .use), Row(now: 599.999, normal: .use), Row(now: 600, normal: ask),
    Row(now: 599.999, isForbidden: true, normal: .use),
    Row(now: 600, isForbidden: true, normal: ask, offline: .failOffline),
    Row(now: 600, whileRevalidating: 30, normal: .useAndRevalidate),
    Row(now: 629.999, whileRevalidating: 30, normal: .useAndRevalidate),
    Row(now: 630, whileRevalidating: 30, normal: ask),
    Row(now: 630, whileRevalidating: 30, ifError: 31, normal: tryToAsk),
    Row(now: 631, whileRevalidating: 30, ifError: 31, normal: ask),
    Row(
      now: 600, whileRevalidating: 30, ifError: 30, isForbidden: true, normal: ask,
      offline: .failOffline),
    // The clock has gone back: a little is nothing, more makes it stale.
    Row(now: -59, normal: .use), Row(now: -61, normal: ask),
    Row(now: -61, whileRevalidating: 30, ifError: 30, normal: tryToAsk),
    Row(now: -365 * day, normal: ask),
    Row(now: -365 * day, isForbidden: true, normal: ask, offline: .failOffline),
    // Nothing is used that is older than 180 days.
    Row(now: 180 * day - 1, ifError: .max, normal: tryToAsk),
    Row(now: 180 * day, ifError: .max, normal: ask, offline: .failOffline),
  ]

  @Test(arguments: rows) func `what is stored is used as long as it may`(row: Row) throws {
    var stored = try stored(lifetime: 600)
    stored.staleUse.whileRevalidatingSeconds = row.whileRevalidating
    stored.staleUse.ifErrorSeconds = row.ifError
    stored.staleUse.isForbidden = row.isForbidden
    let now = start.addingTimeInterval(row.now)
    #expect(policy.verdict(on: stored, mode: .normal, now: now) == row.normal)
    #expect(policy.verdict(on: stored, mode: .offline, now: now) == row.offline)
    #expect(policy.verdict(on: stored, mode: .refresh, now: now) == Self.ask)
  }

  @Test func `a lifetime longer than 180 days is none`() throws {
    let stored = try stored(lifetime: 1000 * Self.day)
    #expect(
      policy.verdict(on: stored, mode: .normal, now: start + (180 * Self.day - 1)) == .use)
    #expect(policy.verdict(on: stored, mode: .normal, now: start + 180 * Self.day) == Self.ask)
  }

  @Test func `nothing stored is fetched, but not offline`() {
    #expect(policy.verdict(on: nil, mode: .normal, now: start) == .fetch)
    #expect(policy.verdict(on: nil, mode: .refresh, now: start) == .fetch)
    #expect(policy.verdict(on: nil, mode: .offline, now: start) == .failOffline)
  }

  @Test func `another variant is nothing stored`() throws {
    var stored = try stored(lifetime: 600)
    stored.variant = policy.fields.variant(vary: "Accept")
    #expect(policy.verdict(on: stored, mode: .normal, now: start) == .use)
    for variant in [Variant(fields: "accept", hash: 1), Variant(fields: "*", hash: 0)] {
      stored.variant = variant
      #expect(policy.verdict(on: stored, mode: .normal, now: start) == .fetch)
      #expect(policy.verdict(on: stored, mode: .refresh, now: start) == .fetch)
      #expect(policy.verdict(on: stored, mode: .offline, now: start) == .failOffline)
    }
  }

  @Test func `a remembered absence counts until its time is over`() throws {
    let absence = Absence(status: 404, notedAt: start, until: start + 3600)
    func verdict(_ mode: CacheMode, _ seconds: Double) -> CachePolicy.Verdict {
      policy.verdict(on: nil, absence: absence, mode: mode, now: start + seconds)
    }
    for mode in [CacheMode.normal, .offline] {
      #expect(verdict(mode, 0) == .failAsAbsent(absence))
      #expect(verdict(mode, 3599) == .failAsAbsent(absence))
      #expect(verdict(mode, -59) == .failAsAbsent(absence))
    }
    #expect(verdict(.normal, 3600) == .fetch && verdict(.offline, 3600) == .failOffline)
    #expect(verdict(.normal, -61) == .fetch && verdict(.normal, -365 * Self.day) == .fetch)
    #expect(verdict(.refresh, 0) == .fetch)
  }

  @Test func `of a picture and an absence the later one counts`() throws {
    let stored = try stored(lifetime: 600)
    let before = Absence(status: 410, notedAt: start - 10, until: start + 9000)
    let after = Absence(status: 410, notedAt: start + 10, until: start + 9000)
    #expect(
      policy.verdict(on: stored, absence: before, mode: .normal, now: start + 700) == Self.ask)
    #expect(
      policy.verdict(on: stored, absence: after, mode: .normal, now: start + 700)
        == .failAsAbsent(after))
    #expect(policy.verdict(on: stored, absence: before, mode: .normal, now: start + 60) == .use)
    #expect(
      policy.verdict(on: stored, absence: after, mode: .normal, now: start + 60)
        == .failAsAbsent(after))
    #expect(
      policy.verdict(on: stored, absence: after, mode: .refresh, now: start + 700) == Self.ask)
    // What is pinned stays when its server has it no more.
    #expect(policy.verdict(on: stored, absence: after, mode: .offline, now: start + 700) == .use)
  }

  // MARK: - A model

  /// The same rules, written as one sentence each over whole seconds.
  private func expected(
    _ stored: PosterMetadata?, _ absence: Absence?, _ mode: CacheMode, _ now: Int, _ epoch: Date
  ) -> CachePolicy.Verdict {
    func seconds(_ date: Date) -> Int { Int(date.timeIntervalSince(epoch)) }
    let halfYear = 180 * 86_400
    let picture = stored.flatMap { $0.variant == nil ? $0 : nil }
    var isFresh = false
    var canBeStale = false
    var staleness = 0
    var isClockWrong = false
    if let picture {
      let from = seconds(picture.storedAt)
      let to = min(seconds(picture.expiresAt), from + halfYear)
      isClockWrong = from > now + 60
      isFresh = !isClockWrong && now < to && now < from + halfYear
      canBeStale = !picture.staleUse.isForbidden && now < from + halfYear
      staleness = isClockWrong ? 0 : now - to
    }
    if mode == .refresh { return picture == nil ? .fetch : Self.ask }
    if mode == .offline, isFresh || canBeStale { return .use }
    if let absence, now < seconds(absence.until), now >= seconds(absence.notedAt) - 60,
      now < seconds(absence.notedAt) + halfYear,
      picture == nil || picture?.storedAt ?? epoch <= absence.notedAt
    {
      return .failAsAbsent(absence)
    }
    if mode == .offline { return .failOffline }
    guard let picture else { return .fetch }
    if isFresh { return .use }
    if canBeStale, !isClockWrong, staleness < picture.staleUse.whileRevalidatingSeconds {
      return .useAndRevalidate
    }
    return canBeStale && staleness < picture.staleUse.ifErrorSeconds ? Self.tryToAsk : Self.ask
  }

  @Test(arguments: 0..<20) func `it agrees with the model`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    // Coarse, so that bounds meet; now and then a leap of years.
    func moment() -> Int {
      let near = Int.random(in: -8...8, using: &generator) * 60
      let far = [0, 0, 0, 86_400 * 180, -86_400 * 180, 86_400 * 400].randomElement(
        using: &generator)
      return near + (far ?? 0) + Int.random(in: -1...1, using: &generator)
    }
    for step in 0..<2000 {
      var picture: PosterMetadata?
      if Bool.random(using: &generator) {
        let storedAt = start.addingTimeInterval(Double(moment()))
        var metadata = try stored(lifetime: 0)
        metadata.storedAt = storedAt
        metadata.expiresAt = storedAt.addingTimeInterval(Double(max(moment(), 0)))
        metadata.staleUse.isForbidden = Int.random(in: 0..<4, using: &generator) == 0
        metadata.staleUse.whileRevalidatingSeconds = UInt32(max(moment(), 0))
        metadata.staleUse.ifErrorSeconds = UInt32(max(moment(), 0))
        if Int.random(in: 0..<5, using: &generator) == 0 {
          metadata.variant = Variant(fields: "*", hash: 0)
        }
        picture = metadata
      }
      var absence: Absence?
      if Bool.random(using: &generator) {
        let notedAt = start.addingTimeInterval(Double(moment()))
        absence = Absence(
          status: 404, notedAt: notedAt, until: notedAt.addingTimeInterval(Double(max(moment(), 0)))
        )
      }
      let mode = CacheMode.allCases.randomElement(using: &generator) ?? .normal
      let now = moment()
      if let picture {
        let time = start.addingTimeInterval(Double(now))
        let verdict = policy.verdict(on: picture, mode: mode, now: time)
        #expect(policy.mayUse(picture, mode: mode, now: time) == (verdict == .use), "seed \(seed)")
      }
      let verdict = policy.verdict(
        on: picture, absence: absence, mode: mode, now: start.addingTimeInterval(Double(now)))
      let right = expected(picture, absence, mode, now, start)
      guard verdict == right else {
        Issue.record(
          "seed \(seed), step \(step): \(verdict) instead of \(right) for \(String(describing: picture)), \(String(describing: absence)), \(mode), \(now)"
        )
        return
      }
    }
  }

  private func stored(lifetime: Double) throws -> PosterMetadata {
    PosterMetadata(
      address: try PosterAddress("http://images.test/a.jpg"), type: .jpeg, storedAt: start,
      expiresAt: start.addingTimeInterval(lifetime))
  }
}
