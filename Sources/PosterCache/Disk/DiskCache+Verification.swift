extension DiskCache {
  /// Checks every record of the cache in `directory`, and the index itself, and mends what is wrong
  /// if asked to.
  ///
  /// Safe while other processes use the directory, except that an index which is missing or damaged
  /// can only be rebuilt while nobody else has the directory open.
  ///
  /// - Parameter isRepairing: drop what is damaged, give back blocks that nothing refers to, and
  ///   rebuild an index that is missing or damaged from the records.
  /// - Throws: ``PosterError/Code/directoryUnavailable`` or ``PosterError/Code/unsupportedFormat``.
  public static func verify(
    directory path: String, repairing isRepairing: Bool = false
  ) throws(PosterError) -> DiskVerification {
    fatalError("stub")
  }
}
