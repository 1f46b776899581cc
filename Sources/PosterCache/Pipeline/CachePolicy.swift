import FoundationEssentials

/// Says what to do about a request, given what is stored for it: RFC 9111, sections 4 and 5.2, for a
/// private cache.
///
/// Knows neither clock nor tier. A wall clock that goes back never keeps anything fresh: what was
/// stored later than now has expired, a lifetime counts from the time of storing and is at most 180
/// days.
struct CachePolicy: Sendable {
  /// What to do.
  enum Verdict: Hashable, Sendable {
    /// Use what is stored: it is fresh, or nobody may be asked.
    case use
    /// Use what is stored, and ask the server meanwhile (RFC 5861, section 3).
    case useAndRevalidate
    /// Ask the server first whether what is stored is still right; it may be used all the same if the
    /// server cannot be asked (RFC 5861, section 4; RFC 9111, section 4.2.4).
    case revalidate(orUseIfThatFails: Bool)
    /// Fetch the picture: nothing is stored that could be asked about.
    case fetch
    /// Fail as the server did that has no such picture.
    case failAsAbsent(Absence)
    /// Fail: it would have to be fetched.
    case failOffline
  }

  /// How much later than now something may have been stored without its clock being called wrong, in
  /// seconds: clocks are corrected a little all the time.
  static let toleranceSeconds = 60.0

  /// What our requests send.
  let fields: RequestFields

  /// What to do about a request.
  ///
  /// - Parameters:
  ///   - stored: what is known about the stored picture, if there is one.
  ///   - absence: what is remembered about the server's not having it.
  func verdict(
    on stored: PosterMetadata?, absence: Absence? = nil, mode: CacheMode, now: Date
  ) -> Verdict {
    // Another variant than ours, or one that nobody can choose again, is none.
    let stored = stored.flatMap { fields.match($0.variant) ? $0 : nil }
    let state = stored.map {
      State(storedAt: $0.storedAt, expiresAt: $0.expiresAt, $0.staleUse, now: now)
    }
    return verdict(on: state, storedAt: stored?.storedAt, absence, mode, now: now)
  }

  /// What to do about a request for a list page.
  ///
  /// - Parameter leastLifetimeSeconds: for how long it counts as fresh at least.
  func verdict(
    on stored: PageMetadata?, leastLifetimeSeconds: Double?, mode: CacheMode, now: Date
  ) -> Verdict {
    let stored = stored.flatMap { fields.match($0.variant) ? $0 : nil }
    let state = stored.map { page in
      let least = page.storedAt.addingTimeInterval(leastLifetimeSeconds ?? 0)
      return State(
        storedAt: page.storedAt, expiresAt: max(page.expiresAt, least), page.staleUse, now: now)
    }
    return verdict(on: state, storedAt: stored?.storedAt, nil, mode, now: now)
  }

  private func verdict(
    on state: State?, storedAt: Date?, _ absence: Absence?, _ mode: CacheMode, now: Date
  ) -> Verdict {
    switch mode {
    case .refresh: return state == nil ? .fetch : .revalidate(orUseIfThatFails: false)
    case .offline: if let state, state.isFresh || state.isUsableOffline { return .use }
    case .normal: break
    }
    // The later word counts, however fresh the earlier one is (RFC 9111, section 4).
    if let absence, holds(absence, against: storedAt, now: now) { return .failAsAbsent(absence) }
    guard mode == .normal else { return .failOffline }
    guard let state else { return .fetch }
    if state.isFresh { return .use }
    return state.mayRevalidateMeanwhile
      ? .useAndRevalidate : .revalidate(orUseIfThatFails: state.isUsableAfterError)
  }

  /// Whether the verdict on `stored` is ``Verdict/use``, as long as nobody knows of an absence: the same
  /// without a copy of it, for a look into memory.
  func mayUse(_ metadata: borrowing PosterMetadata, mode: CacheMode, now: Date) -> Bool {
    guard mode != .refresh, fields.match(metadata.variant) else { return false }
    let state = State(
      storedAt: metadata.storedAt, expiresAt: metadata.expiresAt, metadata.staleUse, now: now)
    return state.isFresh || mode == .offline && state.isUsableOffline
  }

  /// Whether `absence` is still to be believed: its time has come and not passed, and the picture has
  /// not been seen since.
  private func holds(_ absence: Absence, against storedAt: Date?, now: Date) -> Bool {
    let age = now.timeIntervalSince(absence.notedAt)
    return now < absence.until && age >= -Self.toleranceSeconds
      && age < Freshness.longestLifetimeSeconds
      && storedAt.map { $0 <= absence.notedAt } ?? true
  }

  /// What a stored picture may be used for now.
  private struct State {
    var isFresh = false
    var isUsableOffline = false
    var mayRevalidateMeanwhile = false
    var isUsableAfterError = false

    init(storedAt: Date, expiresAt: Date, _ staleUse: StaleUse, now: Date) {
      let age = now.timeIntervalSince(storedAt)
      let lifetime = min(
        expiresAt.timeIntervalSince(storedAt), Freshness.longestLifetimeSeconds)
      guard age < Freshness.longestLifetimeSeconds else { return }
      let isFromFuture = age < -CachePolicy.toleranceSeconds
      isFresh = !isFromFuture && age < lifetime
      guard !staleUse.isForbidden else { return }
      isUsableOffline = true
      // Nobody knows how long ago it expired if its clock was wrong.
      let staleSeconds = isFromFuture ? 0 : age - lifetime
      mayRevalidateMeanwhile =
        !isFromFuture && staleSeconds < Double(staleUse.whileRevalidatingSeconds)
      isUsableAfterError = staleSeconds < Double(staleUse.ifErrorSeconds)
    }
  }
}
