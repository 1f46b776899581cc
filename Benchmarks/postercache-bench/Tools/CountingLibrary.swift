import Glibc

/// The library that counts allocations and copies of a program it is loaded into (`LD_PRELOAD`).
enum CountingLibrary {
  /// Where it is: beside this program; `nil` where it was not built.
  static var path: String? {
    let file = "\(BenchOptions.ownDirectory)/libCounting.so"
    return access(file, R_OK) == 0 ? file : nil
  }
}
