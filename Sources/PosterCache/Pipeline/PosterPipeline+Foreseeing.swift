/// What warming would do, without doing it.
extension PosterPipeline {
  /// Whether ``warm(_:mode:)`` would ask a server for the poster if it had `disk` for its disk tier, which this
  /// is no use of: neither hit nor miss is counted.
  ///
  /// - Throws: ``PosterError/Code/damagedIndex`` or ``PosterError/Code/notStored``.
  package func wouldAsk(
    for request: PosterRequest, given disk: DiskCache?
  ) throws(PosterError) -> Bool {
    let request = request.applying(addressRule)
    let verdict = tiers.policy.verdict(
      on: try disk?.peek(at: request)?.metadata, absence: try disk?.absence(of: request),
      mode: mode, now: tiers.clock.now())
    return switch verdict {
    case .use, .failAsAbsent, .failOffline: false
    case .useAndRevalidate, .revalidate, .fetch: true
    }
  }
}
