/// What a pipeline does where HTTP leaves it to the cache. All in seconds, 0 to 180 days.
///
/// Whatever is set here, nothing is used that was received, or confirmed by its server, more than 180
/// days ago.
public struct CachingRules: Sendable, Hashable {
  /// How long a picture is fresh whose response says nothing about it. Default 7 days: posters are
  /// replaced under new names, not changed. One that says when it was last modified is fresh for a tenth
  /// of the time since then, but not longer than this.
  public var defaultLifetimeSeconds = 7.0 * 86_400
  /// How long after its expiry a picture is used when its server cannot be asked or is in trouble, unless
  /// the response says how long (`stale-if-error`) or forbids it (`must-revalidate`, `no-cache`).
  /// Default 30 days; noted with a picture when it is stored.
  public var errorGraceSeconds = 30.0 * 86_400
  /// How long the answer 404 is remembered, unless it says how long it holds. Default 1 hour; 0 never
  /// remembers one.
  public var notFoundSeconds = 3600.0
  /// The same for the answer 410. Default 1 day.
  public var goneSeconds = 86_400.0

  public init() {}

  /// Longest time for which an absence is remembered because its answer says so, in seconds: 1 day.
  static let longestStatedAbsenceSeconds = 86_400.0

  /// For how long the answer `status` is remembered; 0 for one that is not.
  ///
  /// - Parameter stated: what the answer itself says, `nil` if nothing.
  func absenceSeconds(status: Int, stated: Double?) -> Double {
    let usual: Double
    switch status {
    case 404: usual = notFoundSeconds
    case 410: usual = goneSeconds
    default: return 0
    }
    guard usual > 0, let stated else { return usual }
    return min(stated, max(usual, Self.longestStatedAbsenceSeconds))
  }

  /// Throws ``PosterError/Code/invalidConfiguration`` where a value is out of its range.
  func validate() throws(PosterError) {
    for (name, seconds) in [
      ("default lifetime", defaultLifetimeSeconds), ("grace after errors", errorGraceSeconds),
      ("memory of 404", notFoundSeconds), ("memory of 410", goneSeconds),
    ] where !(0...Freshness.longestLifetimeSeconds).contains(seconds) {
      throw PosterError(
        .invalidConfiguration,
        "the \(name) must be 0 to \(Int(Freshness.longestLifetimeSeconds)) seconds, not \(seconds)")
    }
  }
}
