/// A store of posters that is not ours, run by a program that is told what to do and says itself how long
/// that took: `Benchmarks/peers/stores.c`, or `stores.py` for those in Python.
final class StoreProgram {
  /// The stores, by the names that the programs know them by.
  enum Kind: String, CaseIterable {
    case files, nuke, kingfisher, kodi, sqlite, diskcache

    /// What the tables call it.
    var title: String {
      switch self {
      case .files: "a file for each, renamed"
      case .nuke: "Nuke's layout"
      case .kingfisher: "Kingfisher's layout"
      case .kodi: "Kodi's layout"
      case .sqlite: "SQLite blobs"
      case .diskcache: "diskcache (Python, LRU)"
      }
    }
  }

  /// What each of them does and what not, for the report.
  static let conditions = """
    Others' stores are programs of their own that have the posters in memory and time their own loops, opening \
    not included: in C unless said otherwise, names of files made in advance, as our keys are. None of \
    them has a checksum, none syncs (SQLite, in WAL mode with `synchronous = NORMAL`, at checkpoints alone), \
    and limits are kept by sweeps later on, if at all. *A file for each*: `open`, `fstat`, `read`, `close`; \
    written under another name and renamed; no order of use. *Nuke*: written in place, the order of use is \
    the file system's access time. *Kingfisher*: the same, and each hit looks at the dates and sets them. \
    *Kodi*: 16 directories; a hit finds its file in SQLite and uses are noted there a hundred at a time; an \
    insert is a transaction of two rows (Kodi makes one of each, and scales pictures, which is left out). \
    *SQLite*: one table of names and blobs, 25 posters a transaction, no order of use. *diskcache*: \
    `eviction_policy="least-recently-used"`, no statistics, else its defaults (bodies of 32 KiB and more are \
    files); a transaction for each use.
    """

  private let program: AnsweringProgram

  /// Starts the program; it reads the posters at once. `nil` where it is not installed.
  ///
  /// - Parameter list: a file with a line for each poster: its address, a tab, its file.
  init?(_ kind: Kind, list: String, _ peers: PeerDirectory) throws(BenchError) {
    let command: Command?
    if kind == .diskcache {
      let isThere = peers.python(.pythonStores, ["--version"])?.firstLine()
        .map { $0.hasPrefix("diskcache") && !$0.contains("not installed") }
      command = isThere == true ? peers.python(.pythonStores, [list]) : nil
    } else {
      command = peers.find(.stores).map { Command($0, [kind.rawValue, list]) }
    }
    guard let command else { return nil }
    program = try AnsweringProgram(command, name: kind.title)
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
