import CLMDB
import CLinux
import CXXHash
import Glibc
import PosterCache

/// The least that a store of posters in one file can do: an LMDB row for each, the records one after
/// the other, a checksum. No order of use, no limit, no metadata to look at, one thread.
///
/// The limit that the disk tier is measured against: the same number of rows of the same size, and
/// records of the same size at block boundaries.
final class BareStore {
  /// Bytes of a record before its body: about what the disk tier's header and metadata take.
  static let prefixBytes = 224
  private static let blockBytes = 4096

  private let environment: OpaquePointer
  private let table: MDB_dbi
  private let reader: OpaquePointer
  private let file: CInt
  /// Where the next record goes.
  private var end = 0
  private var buffer: [UInt8] = []
  private var lastSync = Stopwatch()

  /// A row, as large as one of the disk tier's index.
  private struct Row {
    var offset: UInt64
    var length: UInt64
    var checksum: UInt64
    var rest = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
  }

  /// An empty store in the existing directory `path`.
  init(in path: String) throws(BenchError) {
    let records = "\(path)/records"
    file = postercache_open(records, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchError(call: "open", records) }
    var created: OpaquePointer?
    try Self.check(mdb_env_create(&created))
    environment = created!  // set by the call that has just succeeded
    try Self.check(mdb_env_set_mapsize(environment, 16 << 30))
    let flags = UInt32(MDB_NOTLS | MDB_NOSYNC | MDB_NORDAHEAD)
    try Self.check(mdb_env_open(environment, path, flags, 0o644))
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
    var table: MDB_dbi = 0
    try Self.check(mdb_dbi_open(transaction, nil, 0, &table))
    try Self.check(mdb_txn_commit(transaction))
    self.table = table
    var begun: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &begun))
    reader = begun!  // set by the call that has just succeeded
    mdb_txn_reset(reader)
  }

  /// Stores `posters`, and drops the rows for `dropped`, in one transaction and with one write; syncs
  /// the table where the last time was more than a second ago.
  func insert(
    _ posters: some Collection<StoredPoster>, dropping dropped: some Collection<CacheKey> = []
  ) throws(BenchError) {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
    for key in dropped {
      try Self.check(
        Self.withValue(of: key) { key in
          var key = key
          return mdb_del(transaction, table, &key, nil)
        })
    }
    buffer.removeAll(keepingCapacity: true)
    for poster in posters {
      let start = buffer.count
      buffer += Self.record(poster)
      let length = Self.prefixBytes + poster.body.count
      let checksum = buffer[start...].withUnsafeBytes { XXH3_64bits($0.baseAddress, length) }
      var row = Row(offset: UInt64(end + start), length: UInt64(length), checksum: checksum)
      try Self.check(
        Self.withValue(of: poster.key) { key in
          withUnsafeMutableBytes(of: &row) { row in
            var key = key
            var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
            return mdb_put(transaction, table, &key, &value, 0)
          }
        })
    }
    if !buffer.isEmpty { try Self.append(buffer, to: file, at: end) }
    end += buffer.count
    try Self.check(mdb_txn_commit(transaction))
    if lastSync.sample().seconds > 1 {
      try Self.check(mdb_env_sync(environment, 1))
      lastSync = Stopwatch()
    }
  }

  deinit {
    mdb_txn_abort(reader)
    mdb_env_close(environment)
    close(file)
  }

  /// Whether there is a row for `key`.
  func hasRow(_ key: CacheKey) -> Bool { row(key) != nil }

  /// Reads a record into one buffer that every read uses, and checks it; returns its length, or -1.
  func readIntoSharedBuffer(_ key: CacheKey) -> Int {
    guard let row = row(key) else { return -1 }
    if buffer.count < Int(row.length) { buffer = [UInt8](repeating: 0, count: Int(row.length)) }
    return buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return -1 }
      return read(row, into: start)
    }
  }

  /// Reads a record into memory of its own, as whoever hands it out must; returns its length, or -1.
  func readIntoFreshBuffer(_ key: CacheKey) -> Int {
    guard let row = row(key), let bytes = malloc(Int(row.length)) else { return -1 }
    defer { free(bytes) }
    return read(row, into: bytes)
  }

  /// Where the record of `key` lies; `nil` without a row.
  func place(_ key: CacheKey) -> (offset: Int, length: Int)? {
    row(key).map { (Int($0.offset), Int($0.length)) }
  }

  /// Reads what lies at `place` into memory of its own, and checks nothing; returns its length, or -1.
  func readUnchecked(_ place: (offset: Int, length: Int)) -> Int {
    guard let bytes = malloc(place.length) else { return -1 }
    defer { free(bytes) }
    return pread(file, bytes, place.length, off_t(place.offset))
  }

  private func read(_ row: Row, into bytes: UnsafeMutableRawPointer) -> Int {
    let count = pread(file, bytes, Int(row.length), off_t(row.offset))
    guard count == Int(row.length), XXH3_64bits(bytes, count) == row.checksum else { return -1 }
    return count
  }

  private func row(_ key: CacheKey) -> Row? {
    guard mdb_txn_renew(reader) == MDB_SUCCESS else { return nil }
    defer { mdb_txn_reset(reader) }
    return Self.withValue(of: key) { key in
      var key = key
      var value = MDB_val()
      guard mdb_get(reader, table, &key, &value) == MDB_SUCCESS else { return nil }
      return value.mv_data.loadUnaligned(as: Row.self)
    }
  }

  // MARK: - Appending

  /// A poster's record: a prefix of zeros, the body, and zeros up to the next block.
  static func record(_ poster: StoredPoster) -> [UInt8] {
    let length = prefixBytes + poster.body.count
    var record = [UInt8](repeating: 0, count: (length + blockBytes - 1) / blockBytes * blockBytes)
    record.withUnsafeMutableBytes { record in
      poster.body.withUnsafeBytes { body in
        UnsafeMutableRawBufferPointer(rebasing: record[prefixBytes...]).copyMemory(from: body)
      }
    }
    return record
  }

  /// Writes `record` at `offset` of `file`.
  static func append(_ record: [UInt8], to file: CInt, at offset: Int) throws(BenchError) {
    guard pwrite(file, record, record.count, off_t(offset)) == record.count else {
      throw BenchError(call: "pwrite", "\(record.count) bytes")
    }
  }

  private static func withValue<Result>(of key: CacheKey, _ body: (MDB_val) -> Result) -> Result {
    withUnsafeBytes(of: (key.high, key.low)) { bytes in
      body(
        MDB_val(
          mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)))
    }
  }

  private static func check(_ status: CInt) throws(BenchError) {
    guard status == MDB_SUCCESS else { throw BenchError(String(cString: mdb_strerror(status))) }
  }
}
