import CLinux
import Glibc
import PosterCache

/// One file for each poster, written under a temporary name and renamed, as most image caches keep
/// them. Names are hashed; those of Nuke and Kingfisher lie in one directory, those of Kodi in sixteen,
/// by their first digit.
///
/// The names are made in advance. No checksum, no order of use, no limit.
struct FileStore {
  /// How the files are spread over directories.
  enum Layout {
    case oneDirectory, sixteenDirectories

    /// What the tables call it.
    var title: String {
      switch self {
      case .oneDirectory: "a file for each and rename (Nuke, Kingfisher)"
      case .sixteenDirectories: "a file for each and rename, 16 directories (Kodi)"
      }
    }
  }

  private let paths: [String]
  private let temporaryPaths: [String]

  /// A store of `posters` in the empty directory `path`.
  init(_ posters: [StoredPoster], _ layout: Layout, in path: String) throws(BenchError) {
    let digits = Array("0123456789abcdef")
    if layout == .sixteenDirectories {
      for digit in digits {
        guard mkdir("\(path)/\(digit)", 0o755) == 0 else { throw BenchError(call: "mkdir", path) }
      }
    }
    paths = posters.map { poster in
      var name = ""
      for half in [poster.key.high, poster.key.low] {
        for shift in stride(from: 60, through: 0, by: -4) {
          name.append(digits[Int(half >> UInt64(shift) & 0xF)])
        }
      }
      return layout == .oneDirectory
        ? "\(path)/\(name).jpg" : "\(path)/\(name.prefix(1))/\(name).jpg"
    }
    temporaryPaths = paths.map { $0 + ".tmp" }
  }

  /// Stores `poster`, the one at `place` of the list that the store was made for.
  func insert(_ poster: StoredPoster, at place: Int) throws(BenchError) {
    let temporary = temporaryPaths[place]
    let file = postercache_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchError(call: "open", temporary) }
    let count = poster.body.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
    guard count == poster.body.count, rename(temporary, paths[place]) == 0 else {
      throw BenchError(call: "write", temporary)
    }
  }

  /// Reads the poster at `place` into memory of its own; returns its length, or -1.
  func read(_ place: Int) -> Int {
    let file = postercache_open(paths[place], O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { return -1 }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, let bytes = malloc(Int(status.st_size)) else { return -1 }
    defer { free(bytes) }
    return Glibc.read(file, bytes, Int(status.st_size))
  }
}
