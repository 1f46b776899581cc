import PosterCache

/// `verify`: checks every record and the index, and mends what is wrong if asked to.
struct VerifyCommand {
  private let session: Session
  private let isRepairing: Bool

  init(_ session: Session, isRepairing: Bool) {
    self.session = session
    self.isRepairing = isRepairing
  }

  func run() throws -> CommandStatus {
    let directory = try session.settings.cacheDirectory()
    let found = try DiskCache.verify(directory: directory, repairing: isRepairing)
    let isMended = found.isSound || isRepairing && found.repaired > 0
    if isMended, session.settings.pipeline.diskLimit != nil {
      // Opening sets the limit; what is damaged must not be opened.
      try session.existingCache().close()
    }
    let console = session.console
    let status = console.ending(isMended ? .success : .failure) { () throws(OutputError) in
      if console.output.isJSON {
        try console.result(Self.json(found))
      } else {
        try console.result(Self.text(found, isRepairing: isRepairing))
      }
    }
    guard !isMended else { return status }
    console.failure(
      isRepairing
        ? "the cache in \(directory) is damaged and could not be repaired"
        : "the cache in \(directory) is damaged: postercache verify --repair mends it")
    return status
  }

  static func json(_ found: DiskVerification) -> JSON {
    let index: JSON
    switch found.index {
    case .intact: index = "ok"
    case .missing: index = "missing"
    case .damaged: index = "damaged"
    }
    return .object([
      ("checked", .integer(found.checked)),
      ("ok", .integer(found.ok)),
      ("corrupt", .integer(found.corrupt)),
      ("missing", .integer(found.missing)),
      ("orphan_bytes", .integer(found.orphanBytes)),
      ("repaired", .integer(found.repaired)),
      ("index", index),
    ])
  }

  static func text(_ found: DiskVerification, isRepairing: Bool) -> String {
    var text = """
      checked    \(found.checked)
      ok         \(found.ok)
      corrupt    \(found.corrupt)
      missing    \(found.missing)
      orphaned   \(ByteSize(bytes: found.orphanBytes))
      repaired   \(found.repaired)

      """
    let state: String
    switch found.index {
    case .intact: return text
    case .missing: state = "missing"
    case .damaged(let reason): state = "damaged, \(Console.onOneLine(reason))"
    }
    let advice: String
    switch (isRepairing, found.repaired > 0) {
    case (true, true): advice = "rebuilt from the records"
    case (true, false): advice = "not rebuilt"
    case (false, _): advice = "postercache verify --repair rebuilds it from the records"
    }
    text += "index      \(state): \(advice)\n"
    return text
  }
}
