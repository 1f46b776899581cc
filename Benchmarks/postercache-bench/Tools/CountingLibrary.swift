import Glibc

/// The library that counts what the program allocates and copies that it is loaded into (`LD_PRELOAD`); see
/// `Benchmarks/Counting`.
enum CountingLibrary {
  /// Where it is: beside `program`; `nil` where it was not built.
  static func path(beside program: String) -> String? {
    let directory = program.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    let file = "\(directory)/libCounting.so"
    return access(file, R_OK) == 0 ? file : nil
  }

  /// What this process has done so far, and this thread of it; `nil` where the library is not loaded. Allocates
  /// nothing.
  static func now() -> (all: CountedPhases.MemoryCounts, own: CountedPhases.MemoryCounts)? {
    guard let read else { return nil }
    var (all, own) = (CountedPhases.MemoryCounts(), CountedPhases.MemoryCounts())
    read(&all, &own)
    return (all, own)
  }

  private typealias Reading =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void

  private static let read: Reading? = {
    // Null is the program and everything that was loaded with it.
    guard let symbol = dlsym(nil, "postercache_read_counts") else { return nil }
    // A function of that type in `Counting.h`.
    return unsafeBitCast(symbol, to: Reading.self)
  }()
}
