/// What ``DiskCache/verify(directory:repairing:)`` found.
public struct DiskVerification: Sendable, Hashable {
  /// The state of the index.
  public enum IndexState: Sendable, Hashable {
    case intact
    /// There is none, although there are records.
    case missing
    /// It cannot be read, for the reason given in words.
    case damaged(String)
  }

  /// The state of the index as it was found.
  public var index: IndexState = .intact
  /// Records looked at: those that the index refers to, or, without an index, all that were found.
  public var checked = 0
  /// Records whose every byte is right.
  public var ok = 0
  /// Records that are not what the index or their own header says.
  public var corrupt = 0
  /// Entries whose record is not there: a segment that is gone or too short.
  public var missing = 0
  /// Bytes in blocks that segments occupy and nothing refers to.
  public var orphanBytes = 0
  /// Faults that were mended; 0 unless that was asked for. A rebuilt index counts as one.
  public var repaired = 0

  /// Whether nothing was wrong.
  public var isSound: Bool {
    index == .intact && corrupt == 0 && missing == 0 && orphanBytes == 0
  }
}
