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

  /// What this process has done so far; `nil` where the library is not loaded. Allocates nothing.
  static func now() -> CountedPhases.MemoryCounts? {
    guard let read else { return nil }
    // As `postercache_counts` has them.
    var counts: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    read(&counts)
    return CountedPhases.MemoryCounts(
      allocations: Int(counts.0), largeAllocations: Int(counts.1), allocatedBytes: Int(counts.2),
      copiedBytes: Int(counts.3), connections: Int(counts.4))
  }

  private typealias Reading = @convention(c) (UnsafeMutableRawPointer) -> Void

  private static let read: Reading? = {
    // Null is the program and everything that was loaded with it.
    guard let symbol = dlsym(nil, "postercache_read_counts") else { return nil }
    // A function of that type in `Counting.h`.
    return unsafeBitCast(symbol, to: Reading.self)
  }()
}
