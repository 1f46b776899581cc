import Glibc

/// Makes a new index from what the segments hold, and puts it in the place of the old one.
///
/// The newest version of each poster counts, by its record's sequence number; the order of use is that
/// of the records, since the other is lost; pinned posters stay pinned. Call it only while nobody else
/// uses the directory. The old index stays until the new one is complete, whatever happens meanwhile.
struct IndexRebuild {
  let directory: CacheDirectory

  /// What was found on the way.
  struct Outcome {
    /// Records whose every byte is right, older versions included.
    var intactRecords = 0
    /// Places where something else stands than records.
    var garbageRuns = 0
  }

  /// Rebuilds the index.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable`` where it cannot be written.
  func run() throws(PosterError) -> Outcome {
    let place = NewIndexPlace(directory: directory.index)
    do throws(PosterError) {
      var outcome = Outcome()
      try fill(place, &outcome)
      return outcome
    } catch {
      place.remove()
      throw PosterError(.directoryUnavailable, error.message, underlying: error.underlying)
    }
  }

  /// Looks at every segment without an index, and changes nothing.
  func survey() throws(PosterError) -> Outcome {
    var outcome = Outcome()
    for number in try directory.segmentNumbers() {
      try scan(number) { (_, finding) throws(PosterError) in outcome.count(finding) }
    }
    return outcome
  }

  // MARK: - Private

  private func fill(_ place: NewIndexPlace, _ outcome: inout Outcome) throws(PosterError) {
    let index = try place.makeIndex()
    do {
      // The environment has to be closed before its file gets another name.
      defer { Index.release(index) }
      let numbers = try directory.segmentNumbers()
      for number in numbers { try enter(number, into: index, &outcome) }
      try finish(index, last: numbers.last ?? 0, outcome)
      try index.sync()
    }
    do throws(SystemError) {
      try place.takeOver()
    } catch {
      throw CacheDirectory.unusable(directory.path, error)
    }
    var state = directory.state
    state.unsyncedIn = nil
    try directory.setState(state, syncing: false)
  }

  /// Enters what segment `number` holds.
  private func enter(
    _ number: UInt32, into index: Index, _ outcome: inout Outcome
  ) throws(PosterError) {
    outcome = try index.edit { [outcome] editor throws(PosterError) in
      var outcome = outcome
      let end = try size(of: number)
      try editor.restoreSegment(number, end: UInt64(end))
      try scan(number) { (offset, finding) throws(PosterError) in
        outcome.count(finding)
        switch finding {
        case .record(let header, let metadata):
          try editor.restore(header, metadata, segment: number, offset: UInt64(offset))
        case .garbage(let bytes), .zeros(let bytes):
          try editor.restoreGarbage(
            PendingExtent(segment: number, offset: UInt64(offset), length: UInt64(bytes)))
        }
      }
      let isFull = end + SegmentFormat.leastRoomBytes > SegmentFormat.segmentBytes
      let liveCount = try editor.segment(number)?.liveCount ?? 0
      if isFull || liveCount == 0 { try editor.closeSegment(number) }
      return outcome
    }
  }

  /// Gives the directory the limit that it had, and what follows from it.
  private func finish(
    _ index: Index, last: UInt32, _ outcome: Outcome
  ) throws(PosterError) {
    try index.edit { editor throws(PosterError) in
      editor.noteDamage(outcome.garbageRuns, lastSegment: last)
      // One that is not known must not cost a poster.
      let limit = directory.state.limit ?? max(editor.totals.limit, editor.totalBytes)
      _ = try editor.setLimit(limit)
    }
  }

  private func scan(
    _ number: UInt32,
    _ body: (Int, SegmentScanner.Finding) throws(PosterError) -> Void
  ) throws(PosterError) {
    let file: FileDescriptor
    do throws(SystemError) {
      guard let opened = try directory.openSegment(number, writable: false) else { return }
      file = opened
    } catch {
      throw CacheDirectory.unusable(directory.path, error)
    }
    var scanner = try SegmentScanner(file, seed: directory.seed)
    try scanner.forEachFinding(body)
  }

  private func size(of number: UInt32) throws(PosterError) -> Int {
    do throws(SystemError) {
      let bytes = try directory.openSegment(number, writable: false)?.status().st_size ?? 0
      return min(SegmentFormat.blockBytes(Int(bytes)), Int(SegmentFormat.maximumOffset))
    } catch {
      throw CacheDirectory.unusable(directory.path, error)
    }
  }
}

extension IndexRebuild.Outcome {
  fileprivate mutating func count(_ finding: SegmentScanner.Finding) {
    switch finding {
    case .record: intactRecords += 1
    case .garbage:
      garbageRuns += 1
    case .zeros: break
    }
  }
}
