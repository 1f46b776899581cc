/// Memory, disk and what is remembered of absent pictures: what is there for a request, and what is kept
/// of what a server says.
///
/// Decides with ``CachePolicy``. Safe to use from any thread.
final class PosterTiers: Sendable {
  let memory: MemoryCache
  /// Decoded posters.
  let images: ImageTier
  /// `nil` if no directory is named.
  let diskTier: DiskTier?
  let absences = AbsenceTable()
  let lookups = OpenLookups()
  let policy: CachePolicy
  let rules: CachingRules
  let clock: PosterClock
  let warnings: WarningGate

  /// The disk tier's cache, `nil` while it cannot be used.
  var disk: DiskCache? { diskTier?.cache }

  /// Opens the cache directory, if there is to be one.
  init(_ configuration: PosterPipeline.Configuration) throws(PosterError) {
    try configuration.caching.validate()
    warnings = WarningGate(configuration.onWarning)
    if let directory = configuration.cacheDirectory {
      diskTier = try DiskTier(
        directory, limit: configuration.diskLimit, isRequired: configuration.isDirectoryRequired,
        warnings: warnings)
    } else {
      diskTier = nil
    }
    memory = MemoryCache(limitBytes: configuration.memoryLimit.bytes)
    images = ImageTier(limitBytes: configuration.bitmapLimit.bytes)
    policy = CachePolicy(fields: RequestFields(configuration.fetching))
    rules = configuration.caching
    clock = configuration.clock
  }
}
