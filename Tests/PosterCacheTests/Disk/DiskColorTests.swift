import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Average colours, which the index keeps with its entries.
@Suite(.timeLimit(.minutes(10)))
struct DiskColorTests {
  private let directory = TemporaryDirectory()
  private let color = PosterColor(red: 1, green: 254, blue: 3)
  private let request = SamplePoster.request(1)

  @Test func `a colour is there at once, after reopening, and no use`() throws {
    do {
      let cache = try DiskCache(directory: directory.path)
      for number in 1...3 { #expect(cache.store(SamplePoster.make(number)) == nil) }
      #expect(cache.averageColor(of: request) == nil)
      let poster = try #require(try cache.peek(at: request))
      cache.noteAverageColor(color, of: poster)
      try cache.flush()
      #expect(cache.averageColor(of: request) == color)
      #expect(try cache.peek(at: request)?.metadata.averageColor == color)
      // The first one stays.
      cache.noteAverageColor(PosterColor(red: 0, green: 0, blue: 0), of: poster)
      try cache.flush()
    }
    let cache = try DiskCache(directory: directory.path)
    #expect(cache.averageColor(of: request) == color)
    #expect(cache.averageColor(of: SamplePoster.request(2)) == nil)
    var listed: [PosterColor?] = []
    try cache.forEachEntry { entry in
      listed.append(entry.metadata.averageColor)
      return true
    }
    // In the order of use: noting was none.
    #expect(listed == [nil, nil, color])
    cache.close()
    try DiskInspection(directory.path).expectSound("colours")
  }

  @Test func `black is a colour, and flags and colours do not disturb each other`() throws {
    var row = EntryRow(
      segment: 1, offset: 4096, isPinned: false, isUnseen: false, metadataLength: 10,
      bodyLength: 20, sequence: 3, tick: 4, storedAt: 5, expiresAt: 6)
    for number in 0..<8 {
      row.isPinned = number & 1 != 0
      row.isUnseen = number & 2 != 0
      row.staleUse.isForbidden = number & 4 != 0
      for color in [nil, PosterColor(red: 0, green: 0, blue: 0), color] {
        row.averageColor = color
        let copy = row.withBytes { EntryRow(bytes: $0) }
        #expect(copy == row)
      }
    }
  }

  @Test func `a colour that was computed before its poster is committed is noted with it`() throws {
    let cache = try DiskCache(directory: directory.path)
    let poster = SamplePoster.make(1)
    cache.insert(poster)
    cache.noteAverageColor(color, of: poster)
    try cache.flush()
    #expect(cache.averageColor(of: request) == color)
  }

  @Test func `a new version has no colour, and takes none of an earlier one`() throws {
    let cache = try DiskCache(directory: directory.path)
    #expect(cache.store(SamplePoster.make(1)) == nil)
    let earlier = try #require(try cache.peek(at: request))
    cache.noteAverageColor(color, of: earlier)
    #expect(cache.store(SamplePoster.make(1, bytes: 3000, version: 1)) == nil)
    #expect(cache.averageColor(of: request) == nil)
    cache.noteAverageColor(color, of: earlier)
    cache.noteAverageColor(color, of: SamplePoster.make(1))
    try cache.flush()
    #expect(cache.averageColor(of: request) == nil)
    try cache.evict([request])
    #expect(cache.averageColor(of: request) == nil)
  }

  @Test func `a colour survives uses, pins, confirmations and compaction, and not a rebuild`()
    throws
  {
    do {
      let cache = try DiskCache(directory: directory.path)
      #expect(cache.store(SamplePoster.make(1)) == nil)
      let poster = try #require(try cache.peek(at: request))
      cache.noteAverageColor(color, of: poster)
      try cache.flush()
      _ = try cache.poster(for: request)
      try cache.pin([request])
      try cache.unpin([request])
      var metadata = poster.metadata
      metadata.storedAt += 60
      metadata.expiresAt += 60
      cache.confirm(poster, as: metadata)
      try cache.flush()
      #expect(cache.averageColor(of: request) == color)
      #expect(try cache.peek(at: request)?.metadata.storedAt == metadata.storedAt)
      // Written anew, as its server has a new validator for it.
      metadata.etag = "\"other\""
      cache.confirm(poster, as: metadata)
      try cache.flush()
      #expect(try cache.peek(at: request)?.metadata.etag == "\"other\"")
      #expect(cache.averageColor(of: request) == color)
    }
    do {
      let cache = try DiskCache(directory: directory.path)
      let key = request.key
      let entry = try cache.index.read { rows throws(PosterError) in try rows.entry(key) }
      cache.close()
      // Moved by hand, as a segment that holds little is emptied only among many.
      let editor = DirectoryEditor(
        index: cache.index, directory: cache.directory,
        files: SegmentFiles(directory: cache.directory, canPunch: true), counters: DiskCounters())
      try editor.empty(try #require(entry).segment)
      #expect(cache.averageColor(of: request) == color)
    }
    try FileManager.default.removeItem(atPath: "\(directory.path)/index/data.mdb")
    #expect(try DiskCache.verify(directory: directory.path, repairing: true).repaired > 0)
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.peek(at: request) != nil)
    #expect(cache.averageColor(of: request) == nil)
  }
}
