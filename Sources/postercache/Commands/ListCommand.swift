import FoundationEssentials
import PosterCache

/// `ls`: what is cached, the last to be evicted first, printed as it is read.
struct ListCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    let now = Date()
    let isJSON = session.console.output.isJSON
    var chunk = isJSON ? "[" : ""
    var isFirst = true
    var outputError: OutputError?
    try disk.forEachEntry { entry in
      if isJSON {
        chunk += (isFirst ? "\n" : ",\n") + Self.json(entry).text
      } else {
        chunk += Self.row(entry, now: now)
      }
      isFirst = false
      // Enough for one call, little enough for a reader to see progress.
      guard chunk.utf8.count >= 32 * 1024 else { return true }
      do throws(OutputError) {
        try session.console.result(chunk)
      } catch {
        outputError = error
        return false
      }
      chunk = ""
      return true
    }
    if let outputError { throw outputError }
    try session.console.result(chunk + (isJSON ? "\n]\n" : ""))
    return .success
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
