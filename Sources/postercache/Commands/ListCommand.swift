import FoundationEssentials
import PosterCache

/// `ls`: what is cached; in the order of eviction it is printed as it is read.
struct ListCommand {
  private let session: Session
  private let order: EntryOrder

  init(_ session: Session, _ order: EntryOrder) {
    self.session = session
    self.order = order
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    var output = Output(console: session.console)
    var outputError: OutputError?
    var gathered: [DiskEntry] = []
    try disk.forEachEntry { entry in
      guard order == .lru else {
        gathered.append(entry)
        return true
      }
      do throws(OutputError) {
        try output.write(entry)
        return true
      } catch {
        outputError = error
        return false
      }
    }
    if let outputError { throw outputError }
    for entry in Self.sorted(gathered, order) { try output.write(entry) }
    try output.finish()
    return .success
  }

  /// `entries` in `order`; those in the order of eviction are so already.
  static func sorted(_ entries: [DiskEntry], _ order: EntryOrder) -> [DiskEntry] {
    func precedes(_ left: DiskEntry, _ right: DiskEntry) -> Bool {
      left.metadata.address.canonical.utf8.lexicographicallyPrecedes(
        right.metadata.address.canonical.utf8)
    }
    switch order {
    case .lru: return entries
    case .size:
      return entries.sorted { left, right in
        left.bytes == right.bytes ? precedes(left, right) : left.bytes > right.bytes
      }
    case .url: return entries.sorted(by: precedes)
    }
  }

  /// The listing on its way to standard output.
  private struct Output {
    private let console: Console
    private let now = Date()
    private var chunk: String
    private var isFirst = true

    init(console: Console) {
      self.console = console
      chunk = console.output.isJSON ? "[" : ""
    }

    mutating func write(_ entry: DiskEntry) throws(OutputError) {
      if console.output.isJSON {
        chunk += (isFirst ? "\n" : ",\n") + ListCommand.json(entry).text
      } else {
        chunk += ListCommand.row(entry, now: now)
      }
      isFirst = false
      // Enough for one call, little enough for a reader to see progress.
      guard chunk.utf8.count >= 32 * 1024 else { return }
      try console.result(chunk)
      chunk = ""
    }

    func finish() throws(OutputError) {
      try console.result(chunk + (console.output.isJSON ? "\n]\n" : ""))
    }
  }

  static func json(_ entry: DiskEntry) -> JSON {
    .object([
      ("key", .string(entry.key.description)),
      ("url", .string(entry.metadata.address.canonical)),
      ("bytes", .integer(entry.bytes)),
      ("content_type", .string(entry.metadata.type.contentType)),
      ("stored_at", .string(entry.metadata.storedAt.formatted(.iso8601))),
      ("expires_at", .string(entry.metadata.expiresAt.formatted(.iso8601))),
      ("pinned", .bool(entry.isPinned)),
    ])
  }

  /// `  39.5 KiB    3h  https://…`: size, age, address.
  static func row(_ entry: DiskEntry, now: Date) -> String {
    let size = ByteSize(bytes: entry.bytes).description.rightAligned(to: 10)
    let age = age(now.timeIntervalSince(entry.metadata.storedAt)).rightAligned(to: 5)
    return
      "\(size)  \(age)  \(entry.metadata.address.canonical)\(entry.isPinned ? "  pinned" : "")\n"
  }

  /// An age in its largest whole unit: `12s`, `3m`, `4h`, `9d`.
  static func age(_ seconds: Double) -> String {
    let seconds = Int(min(max(seconds, 0), 1e12))
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m"
    case ..<86_400: return "\(seconds / 3600)h"
    default: return "\(seconds / 86_400)d"
    }
  }
}
