/// What was warmed of lists, so that the next run can tell what is new.
extension DiskCache {
  /// The posters that the last finished run of the list called `name` had; `nil` if there was none.
  package func warmed(list name: String) throws(PosterError) -> Set<CacheKey>? {
    nil
  }

  /// Notes the posters that a finished run of the list called `name` had.
  package func noteWarmed(
    _ keys: some Collection<CacheKey>, list name: String
  ) throws(PosterError) {
  }
}
