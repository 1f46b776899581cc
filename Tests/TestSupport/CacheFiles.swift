import FoundationEssentials
import Glibc
import PosterCache

/// Looking at a cache directory's files, and damaging them.
public struct CacheFiles {
  /// The cache directory.
  public let path: String

  /// - Parameter path: the cache directory.
  public init(_ path: String) {
    self.path = path
  }

  /// The names of the segment files.
  public var segments: [String] { Self.names(in: "\(path)/segments") }

  /// Bytes that the segment files occupy.
  public var segmentBytes: Int {
    segments.reduce(0) { $0 + Self.occupiedBytes(of: "\(path)/segments/\($1)") }
  }

  /// The names of what a directory holds, sorted.
  public static func names(in path: String) -> [String] {
    // A directory that is not there holds nothing.
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// Bytes that the file at `path` occupies; 0 if there is none.
  public static func occupiedBytes(of path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Writes `bytes` at `offset` of a file below the cache directory.
  public func overwrite(_ file: String, at offset: Int, with bytes: [UInt8]) {
    let descriptor = open("\(path)/\(file)", O_WRONLY)
    precondition(descriptor >= 0, "open \(file): \(String(cString: strerror(errno)))")
    defer { close(descriptor) }
    let count = pwrite(descriptor, bytes, bytes.count, off_t(offset))
    precondition(count == bytes.count, "write \(file): \(String(cString: strerror(errno)))")
  }

  /// Flips all bits of a byte of a file below the cache directory.
  public func flip(_ file: String, at offset: Int) {
    let descriptor = open("\(path)/\(file)", O_RDWR)
    precondition(descriptor >= 0, "open \(file): \(String(cString: strerror(errno)))")
    defer { close(descriptor) }
    var byte: UInt8 = 0
    precondition(pread(descriptor, &byte, 1, off_t(offset)) == 1, "read \(file)")
    byte = ~byte
    precondition(pwrite(descriptor, &byte, 1, off_t(offset)) == 1, "write \(file)")
  }

  /// The size of a file below the cache directory.
  public func size(of file: String) -> Int {
    var status = stat()
    return lstat("\(path)/\(file)", &status) == 0 ? Int(status.st_size) : 0
  }
}
