extension PosterPipeline {
  /// Where a pipeline keeps posters and how it gets them.
  public struct Configuration: Sendable {
    /// The cache directory, created if missing; `nil` (the default) for no disk tier.
    public var cacheDirectory: String?
    /// A new limit for the directory, which belongs to it from then on. `nil` (the default) keeps
    /// the directory's own, 1 GiB in a new one.
    public var diskLimit: ByteSize?
    /// Whether opening the pipeline fails if the cache directory cannot be used. Otherwise it warns,
    /// delivers posters without storing them, and tries the directory again every 10 seconds at most.
    /// Default `true`.
    public var isDirectoryRequired = true
    /// Bytes of encoded posters in memory. Default a 64th of the memory that the process may use, at
    /// least 16 and at most 256 MiB (``MemoryLimits/posters``).
    public var memoryLimit = MemoryLimits.standard.posters
    /// Bytes of decoded posters in memory. Default a 16th of it, at least 32 MiB and at most 1 GiB
    /// (``MemoryLimits/bitmaps``).
    public var bitmapLimit = MemoryLimits.standard.bitmaps
    /// How many posters are decoded at once; `nil` (the default) for one less than there are cores, and
    /// at least 1.
    public var decodeWorkers: Int?
    /// What decoding a picture may cost.
    public var decoding = DecodingLimits()
    /// Never use the network: what is not cached fails with ``PosterError/Code/offline``. What has
    /// expired is used, unless its server forbade that. Default `false`.
    public var isOffline = false
    /// Ask the server about every poster that is asked for, as ``CacheMode/refresh``. Default `false`.
    public var isRefreshing = false
    /// What is left to a cache to decide: how long is fresh what does not say so, and the like.
    public var caching = CachingRules()
    /// Which query parameters do not belong to a picture's name. Default none: all do.
    public var addressRule = AddressRule()
    /// How transfers are made.
    public var fetching = FetchConfiguration()
    /// Where the time comes from.
    public var clock = PosterClock.system
    /// Called with faults that cost a caller nothing, such as a poster that could not be stored;
    /// from any thread, and only once for the same kind in a row.
    public var onWarning: @Sendable (PosterError) -> Void = { _ in }

    public init() {}
  }
}
