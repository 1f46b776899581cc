import Glibc
import PosterCache
import TestSupport

/// A process that uses a cache directory and may be killed at any moment.
///
///     disk-torture MODE DIRECTORY SEED [NAME=NUMBER]...
///
/// - `write`: stores rising versions of random posters, until `bytes` bytes of pictures are stored if
///   that is given. Prints a line `stored NUMBER VERSION` for each when it is committed.
/// - `read`, `warm`, `trim`, `clear`: do just that for `seconds` seconds and check every byte they see.
/// - `hold`: `threads` threads look at the whole index again and again; prints a line for each thread
///   that has done so, and ends after `rounds` of them if that is given.
/// - `fill`: stores posters until the disk is full, then reads them all; prints how many it stored.
///
/// The first wrong byte or error ends it with a line on standard error and status 1.
@main
enum DiskTorture {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let seed = UInt64(arguments[3]),
      let settings = TortureSettings(arguments[2], seed: seed, arguments.dropFirst(4))
    else {
      fail("usage: disk-torture MODE DIRECTORY SEED [NAME=NUMBER]...")
    }
    do {
      let limit = settings.limit.map { ByteSize(bytes: $0) }
      let cache = try DiskCache(directory: settings.directory, limit: limit)
      switch arguments[1] {
      case "write": try TortureWriter(cache, settings).run()
      case "read": try TortureVisitor(cache, settings).read()
      case "warm": try TortureVisitor(cache, settings).warm()
      case "trim": try TortureVisitor(cache, settings).trim()
      case "clear": try TortureVisitor(cache, settings).clear()
      case "hold": try TortureReaders(cache, settings).run()
      case "fill": try TortureVisitor(cache, settings).fill()
      default: fail("no mode \(arguments[1])")
      }
      cache.close()
    } catch {
      fail("\(arguments[1]) \(error)")
    }
    exit(0)
  }

  /// Prints a line with one system call, so that a kill leaves none in part.
  static func print(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    let count = write(STDOUT_FILENO, bytes, bytes.count)
    guard count == bytes.count else { fail("cannot print") }
  }

  /// Tells what went wrong and ends the process, whatever its threads do.
  static func fail(_ message: String) -> Never {
    let bytes = Array("\(message)\n".utf8)
    // There is nobody else to tell if this fails.
    _ = write(STDERR_FILENO, bytes, bytes.count)
    _exit(1)
  }
}
