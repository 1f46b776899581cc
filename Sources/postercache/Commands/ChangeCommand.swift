import PosterCache

/// `evict`, `pin` and `unpin`: change what is stored under some names.
struct ChangeCommand {
  /// What to do with the posters.
  enum Change {
    case evict, pin, unpin

    /// What was done with them, as the result names it.
    fileprivate var participle: String {
      switch self {
      case .evict: "removed"
      case .pin: "pinned"
      case .unpin: "unpinned"
      }
    }
  }

  private let session: Session
  private let change: Change
  private let requests: [PosterRequest]

  /// - Parameter requests: the posters, each once.
  init(_ session: Session, _ change: Change, _ requests: [PosterRequest]) {
    self.session = session
    self.change = change
    self.requests = requests
  }

  func run() throws -> CommandStatus {
    let disk = try session.existingCache()
    defer { disk.close() }
    let outcome: DiskChange
    switch change {
    case .evict: outcome = try disk.evict(requests)
    case .pin: outcome = try disk.pin(requests)
    case .unpin: outcome = try disk.unpin(requests)
    }
    let console = session.console
    for request in outcome.missing { console.failure("not in the cache: \(request.address)") }
    return console.ending(outcome.missing.isEmpty ? .success : .failure) { () throws(OutputError) in
      if console.output.isJSON {
        try console.result(
          .object([
            (change.participle, .integer(outcome.posters)), ("bytes", .integer(outcome.bytes)),
            ("missing", .integer(outcome.missing.count)),
          ]))
      } else {
        let posters = counted(outcome.posters, "poster")
        try console.summary(
          "\(change.participle) \(posters), \(ByteSize(bytes: outcome.bytes))\n")
      }
    }
  }
}
