import CLMDB
import CLinux
import Glibc

/// The index of a cache directory: an LMDB environment with one table for each question asked of it.
///
/// LMDB lets one process open an environment only once (its file locks are per process), so
/// ``acquire(in:)`` hands out one object per directory, told apart by device and inode. Readers take
/// no lock and never wait; one writer at a time, over all processes, is LMDB's own rule.
///
/// Commits are not synced one by one (`MDB_NOSYNC`): a killed process loses nothing that was
/// committed, since the pages are the kernel's. What ``sync()`` has made safe from a power cut is so
/// until the next commit, which may reach the disk in part.
final class Index: Sendable {
  /// The tables, by their names in the environment; `docs/disk-format.md` gives their rows.
  enum Table: Int, CaseIterable, Sendable {
    case entries, recency, segments, pending, pages, negative, negativeOrder, totals

    /// Keys are compared as native integers rather than as bytes.
    var hasIntegerKeys: Bool {
      self == .recency || self == .segments || self == .negativeOrder
    }
  }

  /// Bytes of the sparse map, and so of the largest index: at 170 bytes an entry, a hundred million.
  static let mapBytes = 16 << 30
  /// Read transactions at once, over all processes.
  static let maximumReaders: UInt32 = 1024

  private nonisolated(unsafe) let environment: OpaquePointer  // any thread's, with MDB_NOTLS
  let tables: [MDB_dbi]
  /// Its directory is held open so that no other one gets the inode by which this one is known.
  let files: IndexFiles
  /// Reset read transactions, ready to be renewed.
  private let idleReaders = Lock<[Reader]>([])

  /// A read transaction's handle; used by one thread at a time.
  private struct Reader: @unchecked Sendable {  // goes from thread to thread, never to two at once
    let handle: OpaquePointer
  }

  private init(opening directory: FileDescriptor, isNew: Bool) throws(PosterError) {
    files = IndexFiles(directory: directory)
    postercache_enter_index()
    defer { postercache_leave_index() }
    try files.prepare()
    var created: OpaquePointer?
    do throws(PosterError) {
      try Self.check(mdb_env_create(&created), "open")
      // Set by the call that has just succeeded.
      let environment = created!
      try Self.check(mdb_env_set_mapsize(environment, Self.mapBytes), "open")
      try Self.check(mdb_env_set_maxdbs(environment, MDB_dbi(Table.allCases.count)), "open")
      try Self.check(mdb_env_set_maxreaders(environment, Self.maximumReaders), "open")
      let flags = UInt32(MDB_NOTLS | MDB_NOSYNC | MDB_NORDAHEAD)
      // By way of the descriptor: whatever stands at the directory's path by now, this is the one.
      let path = "/proc/self/fd/\(directory.number)"
      let status = mdb_env_open(environment, path, flags, 0o644)
      // Its first pages say how large a map it needs: nonsense, where that is impossible.
      if !isNew, [EINVAL, ENOMEM, EOVERFLOW, EFBIG].contains(status) {
        guard status != ENOMEM || Self.canMap else {
          throw PosterError(
            .directoryUnavailable,
            "no room for the cache index: it takes \(ByteSize(bytes: Self.mapBytes)) of addresses"
              + " (ulimit -v), which cost no memory")
        }
        throw .damagedIndex("its first pages")
      }
      try Self.check(status, "open")
      if !isNew { try Self.requireWhole(environment, files) }
      try Self.check(mdb_reader_check(environment, nil), "open")
      tables = try Self.openTables(environment, creating: isNew)
      files.reserve()
      self.environment = environment
    } catch {
      if let created { mdb_env_close(created) }
      // An index that could not be completed, as on a full disk, is none; nobody else has it open.
      if isNew { files.remove() }
      // A map that does not fit or a disk that is full: the directory cannot be used now.
      throw error.code == .notStored
        ? PosterError(.directoryUnavailable, error.message, underlying: error.underlying) : error
    }
  }

  /// Whether this process can map as much as an index takes.
  static var canMap: Bool {
    let map = mmap(nil, mapBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let map, map != MAP_FAILED else { return false }
    munmap(map, mapBytes)
    return true
  }

  /// Refuses an index that its own first pages contradict, or that was cut short.
  private static func requireWhole(
    _ environment: OpaquePointer, _ files: IndexFiles
  ) throws(PosterError) {
    var information = MDB_envinfo()
    mdb_env_info(environment, &information)
    var statistics = MDB_stat()
    mdb_env_stat(environment, &statistics)
    // LMDB raises the size of the map to what the index claims to need.
    guard information.me_mapsize == mapBytes, statistics.ms_psize > 0,
      information.me_last_pgno < mapBytes / Int(statistics.ms_psize)
    else { throw .damagedIndex("its first pages") }
    let bytes = (information.me_last_pgno + 1) * Int(statistics.ms_psize)
    guard files.dataBytes < bytes else { return }
    // LMDB does not write pages that a transaction took and gave back, so that the last ones may be
    // missing from a file that is whole. Zeros are no page: whoever needs them finds the damage.
    // Not while somebody makes it longer.
    var begun: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &begun), "begin")
    do throws(PosterError) {
      try files.cover(bytes)
      mdb_txn_abort(begun)
    } catch {
      mdb_txn_abort(begun)
      throw error
    }
    if let damage = try IndexCheck.damage(of: files.directory) {
      throw .damagedIndex("it was cut short: \(damage)")
    }
  }

  /// Ends what is cached and closes the environment; nobody may use the index any more.
  private func close() {
    idleReaders.withLock { readers in
      for reader in readers { mdb_txn_abort(reader.handle) }
      readers = []
    }
    mdb_env_close(environment)
  }

  // MARK: - Sharing

  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private struct Opened {
    let index: Index
    var users: Int
  }

  private static let opened = Lock<[Identity: Opened]>([:])

  /// The index in `directory`, opened unless this process has it open already. Every call needs one
  /// of ``release(_:)``.
  ///
  /// - Parameter creating: make one if there is none; only while nobody else can open the directory.
  /// - Throws: ``PosterError/Code/damagedIndex`` or ``PosterError/Code/directoryUnavailable``.
  static func acquire(
    in directory: FileDescriptor, creating: Bool = false
  ) throws(PosterError) -> Index {
    let status: stat
    do throws(SystemError) {
      status = try directory.status()
    } catch {
      throw PosterError(
        .directoryUnavailable, "cannot look at the cache index", underlying: error)
    }
    try ForkGuard.check()
    ForkGuard.watch()
    let identity = Identity(device: status.st_dev, inode: status.st_ino)
    // The lock is held while LMDB opens and closes, because what must not happen is that one
    // environment closes, and gives up the process' file locks, while another one opens.
    return try opened.withLock { opened throws(PosterError) in
      if let index = opened[identity]?.index {
        opened[identity]?.users += 1
        return index
      }
      let exists = IndexFiles(directory: directory).exist
      guard exists || creating else { throw .damagedIndex("it is missing") }
      let index = try Index(opening: directory, isNew: !exists)
      opened[identity] = Opened(index: index, users: 1)
      return index
    }
  }

  /// Closes `index` once nobody who acquired it uses it any more.
  static func release(_ index: Index) {
    opened.withLock { opened in
      guard let (identity, entry) = opened.first(where: { $0.value.index === index }) else {
        preconditionFailure("an index released more often than acquired")
      }
      if entry.users > 1 {
        opened[identity]?.users -= 1
      } else {
        opened[identity] = nil
        index.close()
      }
    }
  }

  // MARK: - Transactions

  /// Runs `body` on a consistent snapshot. Never waits for a writer.
  func read<Result>(
    _ body: (IndexTransaction) throws(PosterError) -> Result
  ) throws(PosterError) -> Result {
    postercache_enter_index()
    let reader: Reader
    do throws(PosterError) {
      reader = try takeReader()
    } catch {
      postercache_leave_index()
      throw error
    }
    defer {
      postercache_leave_index()
      mdb_txn_reset(reader.handle)
      idleReaders.withLock { $0.append(reader) }
    }
    return try body(IndexTransaction(handle: reader.handle, index: self))
  }

  /// Runs `body` as the only writer of the directory and commits; an error undoes all of it.
  func write<Result>(
    _ body: (IndexTransaction) throws(PosterError) -> Result
  ) throws(PosterError) -> Result {
    postercache_enter_index()
    defer { postercache_leave_index() }
    var begun: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &begun), "begin")
    // Set by the call that has just succeeded.
    let handle = begun!
    let result: Result
    do throws(PosterError) {
      result = try body(IndexTransaction(handle: handle, index: self))
    } catch {
      mdb_txn_abort(handle)
      throw error
    }
    try Self.check(mdb_txn_commit(handle), "commit")
    return result
  }

  /// Runs `body` while nobody else writes.
  func holdingWriters(_ body: () throws(PosterError) -> Void) throws(PosterError) {
    postercache_enter_index()
    defer { postercache_leave_index() }
    var begun: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &begun), "begin")
    defer { mdb_txn_abort(begun) }
    try body()
  }

  /// The number of the transaction whose state the oldest reader sees, over all processes.
  var oldestSnapshot: UInt64 {
    var oldest = UInt64.max
    // One line a reader: process, thread, and the transaction's number or a dash.
    mdb_reader_list(
      environment,
      { line, context in
        // Both passed by the call around this.
        let word = String(cString: line!).split(whereSeparator: \.isWhitespace).last ?? ""
        let oldest = context!.assumingMemoryBound(to: UInt64.self)
        if let number = UInt64(word) { oldest.pointee = min(oldest.pointee, number) }
        return 0
      }, &oldest)
    return oldest
  }

  /// Writes a copy without free pages into `folder`, which holds no index, and syncs it.
  func copyCompacted(to folder: FileDescriptor) throws(PosterError) {
    let path = "/proc/self/fd/\(folder.number)"
    try Self.check(mdb_env_copy2(environment, path, UInt32(MDB_CP_COMPACT)), "copy")
  }

  /// Waits until everything committed so far would survive a power cut.
  func sync() throws(PosterError) {
    try Self.check(mdb_env_sync(environment, 1), "sync")
  }

  /// Frees the places in the table of readers that processes have left which died.
  func reclaimReaders() {
    var dead: CInt = 0
    // Where this fails, their places are free once nobody has the directory open.
    mdb_reader_check(environment, &dead)
  }

  /// Bytes of the index file as of the last commit, pages that are free for use again included.
  var fileBytes: Int {
    var information = MDB_envinfo()
    mdb_env_info(environment, &information)
    return (information.me_last_pgno + 1) * pageBytes
  }

  /// Bytes of a page.
  var pageBytes: Int {
    var statistics = MDB_stat()
    mdb_env_stat(environment, &statistics)
    return Int(statistics.ms_psize)
  }

  private func takeReader() throws(PosterError) -> Reader {
    if let reader = idleReaders.withLock({ $0.popLast() }) {
      let status = mdb_txn_renew(reader.handle)
      if status != MDB_SUCCESS { mdb_txn_abort(reader.handle) }
      try Self.check(status, "renew")
      return reader
    }
    var handle: OpaquePointer?
    var status = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &handle)
    if status == MDB_READERS_FULL {
      reclaimReaders()
      status = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &handle)
    }
    try Self.check(status, "begin")
    // Set by the call that has just succeeded.
    return Reader(handle: handle!)
  }

  // MARK: - LMDB

  /// Opens the tables, or makes them and the totals in a new index. Where they are missing from another
  /// one it is damaged: new ones would say that there is nothing in the directory.
  private static func openTables(
    _ environment: OpaquePointer, creating: Bool
  ) throws(PosterError) -> [MDB_dbi] {
    var transaction: OpaquePointer?
    // Nobody who just looks is to wait for who writes.
    try check(
      mdb_txn_begin(environment, nil, creating ? 0 : UInt32(MDB_RDONLY), &transaction), "open")
    var tables: [MDB_dbi] = []
    for table in Table.allCases {
      var identifier: MDB_dbi = 0
      let flags =
        (creating ? UInt32(MDB_CREATE) : 0) | (table.hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0)
      let status = mdb_dbi_open(transaction, "\(table)", flags, &identifier)
      if status != MDB_SUCCESS { mdb_txn_abort(transaction) }
      if status == MDB_NOTFOUND { throw .damagedIndex("its tables") }
      try check(status, "open")
      tables.append(identifier)
    }
    // Committed also where it only reads: that is what keeps the tables open.
    try check(mdb_txn_commit(transaction), "open")
    return tables
  }

  /// Throws unless `status` is success.
  static func check(
    _ status: CInt, _ what: @autoclosure () -> String
  ) throws(PosterError) {
    guard status != MDB_SUCCESS else { return }
    let reason = String(cString: mdb_strerror(status))
    switch status {
    // The last three are errors of LMDB's own, which only a page that cannot be brings about.
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_PANIC, MDB_VERSION_MISMATCH,
      MDB_INCOMPATIBLE, MDB_CURSOR_FULL, MDB_PAGE_FULL, MDB_BAD_TXN:
      throw .damagedIndex("\(what()): \(reason)")
    case EACCES, EPERM, EROFS, ENOENT, ENOTDIR:
      throw PosterError(.directoryUnavailable, "cannot open the cache index (\(what()): \(reason))")
    case EIO:
      // What LMDB says when a page could be written in part only.
      throw PosterError(
        .notStored, "the cache index failed (\(what()): \(reason), or the disk is full)")
    default:
      throw PosterError(.notStored, "the cache index failed (\(what()): \(reason))")
    }
  }
}

extension PosterError {
  /// An index that is not what this code wrote, and what to do about it.
  static func damagedIndex(_ detail: String) -> PosterError {
    PosterError(
      .damagedIndex,
      "the cache index is damaged (\(detail)): rebuild it with verify --repair, or delete the"
        + " cache directory")
  }
}

/// Whether the calling thread is using the index of a cache: for a signal's handler that wants to know
/// whether a fault may come from a damaged page. May be called in one.
package func isUsingCacheIndex() -> Bool {
  postercache_is_in_index() != 0
}
