/// A stored picture as a range of an open file, kept in place as long as this object lives: for
/// `sendfile`, `mmap` or another process.
///
/// Holds a shared open-file-description lock on the record's bytes. An eviction meanwhile takes the
/// poster out of the cache, but gives its blocks back only once every lease on it has ended.
/// Safe to use from any thread. The descriptor is for reading by position (`pread`, `sendfile` with
/// an offset): it is this object's own, and closed with it.
public final class PosterLease: Sendable {
  /// The open segment file; valid as long as this object lives.
  public var fileDescriptor: Int32 { file.number }
  /// Where the picture begins in the file.
  public let offset: Int
  /// Bytes of the picture.
  public let count: Int
  /// Address, kind, validators and freshness.
  public let metadata: PosterMetadata

  private let file: FileDescriptor

  init(file: FileDescriptor, offset: Int, count: Int, metadata: PosterMetadata) {
    self.file = file
    self.offset = offset
    self.count = count
    self.metadata = metadata
  }
}
