/// A store of posters in Python, run by `Benchmarks/peers/stores.py` as a program that is told what to
/// do and says itself how long that took.
final class PythonStore {
  /// The stores that the program knows, by the names it knows them by.
  enum Kind: String {
    case diskcache, sqlite
  }

  private let program: AnsweringProgram

  /// Starts the program; it reads the posters at once.
  ///
  /// - Parameter command: what runs `stores.py`, with a ``Kind`` and a file that has a line for each poster:
  ///   its address, a tab, its file.
  init(_ command: Command) throws(BenchError) {
    program = try AnsweringProgram(command, name: "the Python store")
  }

  /// Stores every poster in a new store in the empty `directory`.
  func insert(into directory: String) throws(BenchError) -> Sample {
    try program.measure("insert \(directory)")
  }

  /// Reads every poster of the last store, `times` over in random order.
  func read(times: Int) throws(BenchError) -> Sample {
    try program.measure("hit \(times)")
  }
}
