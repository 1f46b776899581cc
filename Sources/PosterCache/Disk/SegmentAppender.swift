import CLinux
import Glibc

/// Appends records to segment files; used by one writer's thread, inside its write transactions.
///
/// A process appends only to a segment whose appender lock it holds. It continues one that an
/// earlier process left half used, cutting off what that one had written and not committed, or
/// begins a new one. Appending inside the transaction that enters the records means that no other
/// process can retire the segment in between, and that sequence numbers follow the order of writing.
final class SegmentAppender {
  private let directory: CacheDirectory
  private let files: SegmentFiles
  private var current: Current?
  /// The records gathered for the next write, all of them for the current segment.
  private var gathered: [Gathered] = []
  /// Their headers and metadata, one after the other.
  private var prefixes: [UInt8] = []
  /// The header and metadata of the record being gathered.
  private var prefix: [UInt8] = []
  private var hash: StreamingHash

  private struct Current {
    let number: UInt32
    let file: FileDescriptor
    /// Where the next record begins.
    var end: Int
    /// Where the gathered records begin.
    var writtenEnd: Int
    /// Where the records of this transaction begin.
    var committedEnd: Int

    init(number: UInt32, file: FileDescriptor, end: Int) {
      self.number = number
      self.file = file
      self.end = end
      writtenEnd = end
      committedEnd = end
    }
  }

  private struct Gathered {
    let prefix: Range<Int>
    let body: PosterBody
    let padding: Int
  }

  /// Where a record lies once ``write()`` has succeeded.
  struct Place {
    let segment: UInt32
    let offset: Int
    let header: RecordHeader
  }

  init(directory: CacheDirectory, files: SegmentFiles) {
    self.directory = directory
    self.files = files
    hash = StreamingHash(seed: directory.seed)
  }

  /// Gathers a record of `poster` and says where it will lie.
  ///
  /// - Parameter makeRoom: asked for the record's bytes in blocks before a place is chosen.
  /// - Returns: `nil` if there is no room.
  func gather(
    _ poster: StoredPoster, isSeen: Bool, _ editor: inout IndexEditor,
    makeRoom: (Int, inout IndexEditor) throws(PosterError) -> Bool
  ) throws(PosterError) -> Place? {
    prefix.removeAll(keepingCapacity: true)
    prefix.append(contentsOf: repeatElement(0, count: RecordHeader.size))
    RecordMetadata.append(poster.metadata, to: &prefix)
    let recordBytes = prefix.count + poster.body.count
    let blockBytes = SegmentFormat.blockBytes(recordBytes)
    guard try makeRoom(blockBytes, &editor) else { return nil }

    var current = try segment(for: blockBytes, &editor)
    let header = RecordHeader(
      sequence: editor.takeSequence(), key: poster.key,
      metadataLength: prefix.count - RecordHeader.size, bodyLength: poster.body.count,
      isUnseen: !isSeen, isPinned: try editor.isPinned(poster.key))
    seal(header, poster.body)
    let start = prefixes.count
    prefixes += prefix
    gathered.append(
      Gathered(
        prefix: start..<prefixes.count, body: poster.body, padding: blockBytes - recordBytes))
    let place = Place(segment: current.number, offset: current.end, header: header)
    current.end += blockBytes
    self.current = current
    return place
  }

  /// Gathers a copy of a whole record, of which only the place changes, and says where it will lie.
  func gather(
    copy record: PosterBody, _ editor: inout IndexEditor
  ) throws(PosterError) -> (segment: UInt32, offset: UInt64) {
    let blockBytes = SegmentFormat.blockBytes(record.count)
    var current = try segment(for: blockBytes, &editor)
    gathered.append(
      Gathered(
        prefix: prefixes.count..<prefixes.count, body: record,
        padding: blockBytes - record.count))
    let offset = UInt64(current.end)
    current.end += blockBytes
    self.current = current
    return (current.number, offset)
  }

  /// Writes the gathered records, with one system call as a rule.
  func write() throws(PosterError) {
    guard var current, !gathered.isEmpty else { return }
    do throws(SystemError) {
      if directory.hasEagerAllocation {
        // A file system that cannot has said that it can.
        _ = postercache_allocate(
          current.file.number, Int64(current.writtenEnd),
          Int64(current.end - current.writtenEnd))
      }
      try writeGathered(to: current)
    } catch {
      throw PosterError(.notStored, "cannot write to the cache", underlying: error)
    }
    current.writtenEnd = current.end
    self.current = current
    forgetGathered()
  }

  /// Forgets what was gathered or written in a transaction that is being undone, and lets go of the
  /// segment: the next record claims one anew, at its committed end.
  func abandon() {
    forgetGathered()
    if let current {
      // Where this fails, whoever continues the segment does it.
      _ = ftruncate(current.file.number, off_t(current.committedEnd))
    }
    current = nil
  }

  /// Notes that the transaction has been committed.
  func commit() {
    if let end = current?.end { current?.committedEnd = end }
  }

  private func forgetGathered() {
    gathered.removeAll(keepingCapacity: true)
    prefixes.removeAll(keepingCapacity: true)
  }

  // MARK: - Records

  /// Puts the header and the checksum over header, metadata and body into `prefix`.
  private func seal(_ header: RecordHeader, _ body: PosterBody) {
    prefix.withUnsafeMutableBytes { prefix in
      header.write(to: prefix)
      RecordHeader.storeCheck(in: prefix, seed: directory.seed)
      hash.reset()
      hash.update(UnsafeRawBufferPointer(prefix))
      body.withUnsafeBytes { hash.update($0) }
      RecordHeader.storeChecksum(hash.digest(), in: prefix)
      if header.isPinned { prefix[RecordHeader.pinOffset] = RecordHeader.pinMark }
    }
  }

  private func writeGathered(to segment: Current) throws(SystemError) {
    let zeros: InlineArray<512, UInt64> = .init(repeating: 0)
    let result: Result<Void, SystemError> = prefixes.withUnsafeBytes { prefixes in
      zeros.span.withUnsafeBytes { zeros in
        var vectors: [iovec] = []
        vectors.reserveCapacity(gathered.count * 3)
        for record in gathered {
          vectors.append(iovec(UnsafeRawBufferPointer(rebasing: prefixes[record.prefix])))
          // `gathered` keeps the body alive until after the write.
          record.body.withUnsafeBytes { vectors.append(iovec($0)) }
          vectors.append(iovec(UnsafeRawBufferPointer(rebasing: zeros[..<record.padding])))
        }
        return Result { () throws(SystemError) in
          try Self.writeAll(&vectors, to: segment.file, at: segment.writtenEnd)
        }
      }
    }
    withExtendedLifetime(gathered) {}
    try result.get()
  }

  /// Buffers that one call takes (`IOV_MAX`).
  private static let maximumVectors = 1024

  /// `pwritev` until everything is written: it may write less than asked, as on a disk that fills.
  private static func writeAll(
    _ vectors: inout [iovec], to file: FileDescriptor, at start: Int
  ) throws(SystemError) {
    var offset = start
    var first = 0
    while first < vectors.count {
      let written = vectors[first...].withUnsafeBufferPointer { vectors in
        retryingOnInterrupt {
          pwritev(
            file.number, vectors.baseAddress, CInt(min(vectors.count, maximumVectors)),
            off_t(offset))
        }
      }
      guard written > 0 else {
        throw SystemError(call: "write", errorNumber: written == 0 ? ENOSPC : errno)
      }
      offset += written
      var rest = written
      while first < vectors.count, rest >= vectors[first].iov_len {
        rest -= vectors[first].iov_len
        first += 1
      }
      if rest > 0 {
        vectors[first].iov_base += rest
        vectors[first].iov_len -= rest
      }
    }
  }

  // MARK: - Segments

  /// The segment for a record of `blockBytes`, claimed or begun if need be.
  private func segment(
    for blockBytes: Int, _ editor: inout IndexEditor
  ) throws(PosterError) -> Current {
    let capacity = SegmentFormat.segmentBytes(
      limit: editor.totals.limit, canPunch: files.canPunch)
    if let current {
      if try editor.segment(current.number) == nil {
        // Another process has cleared the directory since the last transaction.
        precondition(gathered.isEmpty, "segment \(current.number) vanished within a transaction")
      } else if current.end + blockBytes <= capacity || current.end == 0 {
        return current
      } else {
        try write()
        try editor.closeSegment(current.number)
      }
      self.current = nil
    }
    for (number, row) in try editor.openSegments() {
      let end = Int(row.committedEnd)
      let fits = end + blockBytes <= capacity
      let isNearlyFull = end + SegmentFormat.leastRoomBytes > capacity
      guard fits || isNearlyFull, let claimed = try claim(number, committedEnd: end) else {
        continue
      }
      if fits { return claimed }
      // Nobody else would close it, and only a closed segment is deleted once it is empty.
      try editor.closeSegment(number)
    }
    return try begin(&editor)
  }

  /// Continues a half-used segment, or returns `nil` if another process appends to it.
  private func claim(
    _ number: UInt32, committedEnd: Int
  ) throws(PosterError) -> Current? {
    do throws(SystemError) {
      guard let file = try directory.openSegment(number, writable: true) else { return nil }
      guard SegmentFormat.lockAsAppender(file) else { return nil }
      // What lies beyond was written by a process that died before it committed.
      if try file.status().st_size > committedEnd {
        guard ftruncate(file.number, off_t(committedEnd)) == 0 else {
          throw SystemError(call: "ftruncate")
        }
      }
      return Current(number: number, file: file, end: committedEnd)
    } catch {
      throw PosterError(.notStored, "cannot continue a cache segment", underlying: error)
    }
  }

  private func begin(_ editor: inout IndexEditor) throws(PosterError) -> Current {
    while true {
      let number = try editor.takeSegmentNumber()
      // What has been in it would be cut off.
      guard try editor.segment(number) == nil else { throw .damagedIndex("numbers of segments") }
      let begun: Current
      do throws(SystemError) {
        let file = try directory.createSegment(number)
        guard SegmentFormat.lockAsAppender(file) else { throw SystemError(call: "lock") }
        // There is something in it only where a process died before it committed its first record.
        guard ftruncate(file.number, 0) == 0 else { throw SystemError(call: "ftruncate") }
        begun = Current(number: number, file: file, end: 0)
      } catch {
        // Something that is not ours has this name: a link, a directory, a pipe.
        // Or a process whose transaction has just failed still holds it.
        if [ELOOP, EISDIR, ENXIO, EAGAIN].contains(error.errorNumber) { continue }
        throw PosterError(.notStored, "cannot begin a cache segment", underlying: error)
      }
      try editor.addSegment(number)
      return begun
    }
  }
}

extension iovec {
  /// `writev` takes its buffers as mutable, but changes none.
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }
}
