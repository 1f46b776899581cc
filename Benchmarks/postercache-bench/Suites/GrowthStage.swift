import Glibc
import PosterCache

/// A cache of one size, and a bare store of as many rows beside it.
final class GrowthStage {
  /// What is measured, in this order: each leaves the cache as the next one needs it.
  enum Work {
    case hit, bareHit, filesHit, sqliteHit, miss, bareMiss, insert, bareInsert, evict, bareEvict
    case insertAtLimit, bareInsertAtLimit

    /// What is measured in the same rounds.
    static let groups: [[Work]] = [
      [.hit, .bareHit, .filesHit, .sqliteHit], [.miss, .bareMiss], [.insert, .bareInsert],
      [.evict, .bareEvict], [.insertAtLimit, .bareInsertAtLimit],
    ]

    /// The rival who does it; `nil` for ours and the bare store.
    var rival: StoreProgram.Kind? {
      switch self {
      case .filesHit: .files
      case .sqliteHit: .sqlite
      default: nil
      }
    }

    /// What the tables call it.
    var title: String {
      switch self {
      case .hit: "hit"
      case .bareHit: "bare LMDB get, `pread` and XXH3"
      case .filesHit: "\(StoreProgram.Kind.files.title): hit"
      case .sqliteHit: "\(StoreProgram.Kind.sqlite.title): hit"
      case .miss: "miss"
      case .bareMiss: "bare LMDB get"
      case .insert: "insert with room left"
      case .bareInsert: "bare LMDB put and `pwrite`"
      case .evict: "evict one by name"
      case .bareEvict: "bare LMDB delete and commit"
      case .insertAtLimit: "insert at the limit"
      case .bareInsertAtLimit: "bare LMDB delete, put and `pwrite`"
      }
    }
  }

  /// Where the cache is.
  let directory: String

  let size: Int
  private let target: WorkDirectory
  private var bare: BareStore?
  private var cache: DiskCache?
  private var rivals: [StoreProgram.Kind: StoreProgram] = [:]
  private var generator = SplitMix64(seed: 3)
  /// The first number that nobody has stored, and the first of those that the bare store has not
  /// dropped.
  private var next: Int
  private var bareNext: Int
  private var bareFirst = 0
  /// The first poster that has not been evicted by name.
  private var firstNamed = 0

  private static let reads = 20_000
  private static let inserts = 20 * batch
  private static let evictions = 20
  /// As many as one transaction of the disk tier takes.
  private static let batch = 64

  /// Makes and fills both in `target`, and closes the cache.
  init(_ size: Int, in target: WorkDirectory) throws {
    self.size = size
    self.target = target
    next = size
    bareNext = size
    directory = try target.makeEmpty("growth-\(size)")
    let cache = try DiskCache(directory: directory, limit: ByteSize(bytes: 64 << 30))
    let bare = try BareStore(in: try target.makeEmpty("growth-bare-\(size)"))
    self.bare = bare
    let chunk = 4096
    for start in stride(from: 0, to: size, by: chunk) {
      let posters = try Self.posters(start..<min(start + chunk, size))
      try CacheFiller.insert(posters, into: cache)
      try bare.insert(posters)
    }
    cache.close()
  }

  /// Has a rival store as many posters of the same size.
  ///
  /// - Returns: `false` where the rival is not installed.
  func addRival(_ kind: StoreProgram.Kind, _ peers: PeerDirectory) throws -> Bool {
    let body = "\(target.path)/growth-body"
    try TextFile.write(
      SmallPoster.make(0).body.withUnsafeBytes { Array($0) }, to: body)
    let list = "\(target.path)/growth-list"
    let lines = try (0..<size).map { number in
      "\(try SmallPoster.request(number).address.canonical)\t\(body)\n"
    }
    try TextFile.write(lines.joined(), to: list)
    guard let store = try StoreProgram(kind, list: list, peers) else { return false }
    _ = try store.insert(into: try target.makeEmpty("growth-\(kind.rawValue)-\(size)"))
    rivals[kind] = store
    return true
  }

  /// Whether ``run(_:)`` can do that.
  func takesPart(in work: Work) -> Bool {
    guard let rival = work.rival else { return true }
    return rivals[rival] != nil
  }

  /// Opens the cache for what follows.
  func open() throws {
    cache = try DiskCache(directory: directory)
  }

  /// Closes the cache and gives the blocks of all stores back.
  func remove() {
    cache?.close()
    // Both map files that are emptied now.
    cache = nil
    bare = nil
    let kinds = Array(rivals.keys)
    rivals = [:]
    // The directories stay until the end; only the next user of the place would miss the blocks.
    _ = try? target.makeEmpty("growth-\(size)")
    _ = try? target.makeEmpty("growth-bare-\(size)")
    for kind in kinds { _ = try? target.makeEmpty("growth-\(kind.rawValue)-\(size)") }
  }

  /// Gets ready for `work`.
  func prepare(_ work: Work) throws {
    guard work == .insertAtLimit, let cache else { return }
    try cache.setLimit(ByteSize(bytes: cache.statistics().bytes))
  }

  /// Does `work` many times; returns what one took.
  func run(_ work: Work) throws -> Sample {
    if let rival = work.rival {
      guard let store = rivals[rival] else { throw BenchError("no \(rival.title) of \(size)") }
      let times = max(1, Self.reads / size)
      return try store.read(times: times) / Double(times * size)
    }
    guard let cache, let bare else { throw BenchError("the cache of \(size) is not open") }
    switch work {
    case .hit:
      return try Self.repeated(try present()) { try cache.poster(for: $0) != nil }
    case .bareHit:
      return try Self.repeated(try present()) { bare.readIntoFreshBuffer($0.key) >= 0 }
    case .miss:
      return try Self.repeated(try missing()) { try cache.poster(for: $0) == nil }
    case .bareMiss:
      return try Self.repeated(try missing()) { !bare.hasRow($0.key) }
    case .insert, .insertAtLimit:
      let posters = try Self.posters(next..<next + Self.inserts)
      next += posters.count
      let stopwatch = Stopwatch()
      try CacheFiller.insert(posters, into: cache)
      return stopwatch.sample() / Double(posters.count)
    case .bareInsert, .bareInsertAtLimit:
      return try insert(into: bare, dropping: work == .bareInsertAtLimit)
    case .filesHit, .sqliteHit:
      preconditionFailure("a rival's work: \(work)")
    case .evict:
      return try evict(from: cache)
    case .bareEvict:
      let keys = try Self.posters(bareFirst..<bareFirst + Self.evictions).map(\.key)
      bareFirst += keys.count
      let none: [StoredPoster] = []
      return try Self.repeated(keys) { key in
        try bare.insert(none, dropping: [key])
        return true
      }
    }
  }

  private func insert(into bare: BareStore, dropping: Bool) throws -> Sample {
    let posters = try Self.posters(bareNext..<bareNext + Self.inserts)
    bareNext += posters.count
    let dropped =
      dropping ? try Self.posters(bareFirst..<bareFirst + posters.count).map(\.key) : []
    bareFirst += dropped.count
    let stopwatch = Stopwatch()
    for start in stride(from: 0, to: posters.count, by: Self.batch) {
      let batch = start..<start + Self.batch
      try bare.insert(posters[batch], dropping: dropping ? dropped[batch] : [])
    }
    return stopwatch.sample() / Double(posters.count)
  }

  private func evict(from cache: DiskCache) throws -> Sample {
    let requests = try (firstNamed..<firstNamed + Self.evictions).map { number in
      [try SmallPoster.request(number)]
    }
    firstNamed += requests.count
    return try Self.repeated(requests) { try cache.evict($0).posters == 1 }
  }

  private func present() throws -> [PosterRequest] {
    try (0..<Self.reads).map { _ in
      try SmallPoster.request(Int.random(in: 0..<size, using: &generator))
    }
  }

  private func missing() throws -> [PosterRequest] {
    try (0..<Self.reads).map { _ in
      try SmallPoster.request(Int.random(in: 1 << 40..<1 << 50, using: &generator))
    }
  }

  private static func posters(_ numbers: Range<Int>) throws -> [StoredPoster] {
    try numbers.map { try SmallPoster.make($0) }
  }

  private static func repeated<Element>(
    _ elements: [Element], _ body: (Element) throws -> Bool
  ) throws -> Sample {
    let stopwatch = Stopwatch()
    for element in elements where try !body(element) {
      throw BenchError("not as expected: \(element)")
    }
    return stopwatch.sample() / Double(elements.count)
  }
}
