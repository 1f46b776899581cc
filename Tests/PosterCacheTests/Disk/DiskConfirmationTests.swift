import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Posters of which a server has said that they are still right.
@Suite(.timeLimit(.minutes(10)))
struct DiskConfirmationTests {
  private let directory = TemporaryDirectory()
  private var files: CacheFiles { CacheFiles(directory.path) }

  /// What a server says `days` later about a picture that is as it was.
  private func confirmed(_ poster: StoredPoster, days: Double = 1) -> PosterMetadata {
    var metadata = poster.metadata
    metadata.storedAt += days * 86_400
    metadata.expiresAt += days * 86_400
    metadata.staleUse.whileRevalidatingSeconds = 60
    metadata.staleUse.ifErrorSeconds = 86_400
    return metadata
  }

  private func found(_ cache: DiskCache, _ number: Int) throws -> PosterMetadata? {
    try cache.peek(at: SamplePoster.request(number))?.metadata
  }

  /// Confirms a poster and waits for it; returns why that failed.
  private func confirm(
    _ cache: DiskCache, _ poster: StoredPoster, as metadata: PosterMetadata
  ) -> PosterError? {
    let result = Monitor<Result<Void, PosterError>?>(nil)
    cache.confirm(poster, as: metadata) { value in
      result.withLock { $0 = value }
      result.signal()
    }
    switch result.wait(untilNanoseconds: { _ in nil }, for: { $0 }) {
    case .success: return nil
    case .failure(let error): return error
    }
  }

  private func rebuild() throws {
    try FileManager.default.removeItem(atPath: "\(directory.path)/index/data.mdb")
    #expect(try DiskCache.verify(directory: directory.path, repairing: true).repaired > 0)
  }

  @Test func `what a server confirms is read from then on, and nothing else changes`() throws {
    let posters = (0..<3).map { SamplePoster.make($0) }
    let metadata = confirmed(posters[1])
    do {
      let cache = try DiskCache(directory: directory.path)
      for poster in posters { #expect(cache.store(poster, isSeen: false) == nil) }
      try cache.pin([SamplePoster.request(0)])
      cache.noteAbsence(
        of: SamplePoster.request(1),
        Absence(status: 404, notedAt: metadata.storedAt, until: metadata.expiresAt))
      let stored = try #require(try cache.peek(at: SamplePoster.request(1)))
      let size = files.size(of: "segments/00000001.seg")
      var other = metadata
      other.address = SamplePoster.request(7).address
      other.type = .png
      #expect(confirm(cache, stored, as: other) == nil)
      #expect(try found(cache, 1) == metadata)
      #expect(try found(cache, 2) == posters[2].metadata)
      #expect(try cache.peek(at: SamplePoster.request(1))?.body == posters[1].body)
      #expect(try cache.lease(SamplePoster.request(1), isSeen: false)?.metadata == metadata)
      #expect(try cache.absence(of: SamplePoster.request(1)) == nil)
      #expect(files.size(of: "segments/00000001.seg") == size)
      #expect(try cache.statistics().entries == 3)
    }
    let cache = try DiskCache(directory: directory.path)
    #expect(try found(cache, 1) == metadata)
    var listed: [PosterMetadata] = []
    try cache.forEachEntry { entry in
      listed.append(entry.metadata)
      return true
    }
    // The lease was a use.
    #expect(listed == [posters[0].metadata, metadata, posters[2].metadata])
    // Read, confirmed and stored by somebody else meanwhile: once more.
    #expect(confirm(cache, posters[1], as: confirmed(posters[1], days: 2)) == nil)
    #expect(try found(cache, 1) == confirmed(posters[1], days: 2))
    cache.close()
    try DiskInspection(directory.path).expectSound("confirmed")
    #expect(confirm(cache, posters[1], as: metadata)?.code == .notStored)
  }

  @Test func `a confirmation is no use`() throws {
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<4 { #expect(cache.store(SamplePoster.make(number)) == nil) }
    for number in [1, 0] {
      let poster = SamplePoster.make(number)
      #expect(confirm(cache, poster, as: confirmed(poster)) == nil)
    }
    var renamed = confirmed(SamplePoster.make(2))
    renamed.etag = "\"other\""
    #expect(confirm(cache, SamplePoster.make(2), as: renamed) == nil)
    #expect(try found(cache, 2) == renamed)
    #expect(try cache.numbers() == [3, 2, 1, 0])
  }

  @Test func `a poster that still waits to be written is confirmed in its turn`() throws {
    let cache = try DiskCache(directory: directory.path)
    let poster = SamplePoster.make(1)
    let newer = SamplePoster.make(1, version: 1)
    // Nothing can be written meanwhile.
    try cache.index.holdingWriters { () throws(PosterError) in
      cache.insert(poster)
      cache.confirm(poster, as: confirmed(poster))
      #expect(try cache.peek(at: SamplePoster.request(1))?.metadata == confirmed(poster))
      cache.confirm(poster, as: confirmed(poster, days: 3))
      cache.insert(SamplePoster.make(2))
      // Of another version nobody has asked the server.
      cache.insert(newer)
      cache.confirm(poster, as: confirmed(poster, days: 9))
      #expect(try cache.peek(at: SamplePoster.request(1))?.metadata == newer.metadata)
      #expect(try cache.peek(at: SamplePoster.request(1))?.body == newer.body)
    }
    try cache.flush()
    #expect(try found(cache, 1) == newer.metadata)
    try cache.index.holdingWriters { () throws(PosterError) in
      cache.insert(poster)
      cache.confirm(poster, as: confirmed(poster))
    }
    try cache.flush()
    #expect(try found(cache, 1) == confirmed(poster))
    #expect(try cache.peek(at: SamplePoster.request(1))?.body == poster.body)
    #expect(try cache.numbers() == [1, 2])
  }

  @Test func `another version is never confirmed, by whomever it was stored`() throws {
    let caches = try (0..<2).map { _ in try DiskCache(directory: directory.path) }
    let poster = SamplePoster.make(1)
    var twin = poster.metadata
    twin.etag = "\"twin\""
    let others = [
      // Other bytes, with the same validators and the same length as well.
      SamplePoster.make(1, version: 1),
      StoredPoster(metadata: poster.metadata, body: SamplePoster.make(1, version: 2).body),
      // Other validators for the same bytes.
      StoredPoster(metadata: twin, body: poster.body),
    ]
    for other in others {
      #expect(caches[1].store(other) == nil)
      var renamed = confirmed(poster)
      renamed.etag = nil
      for metadata in [confirmed(poster), renamed] {
        #expect(confirm(caches[0], poster, as: metadata) == nil)
        #expect(try found(caches[0], 1) == other.metadata)
        #expect(try caches[0].peek(at: SamplePoster.request(1))?.body == other.body)
      }
    }
    try caches[1].evict([SamplePoster.request(1)])
    #expect(confirm(caches[0], poster, as: confirmed(poster)) == nil)
    #expect(try found(caches[0], 1) == nil)
    // The same picture, that somebody has fetched again and been promised more for.
    let promised = StoredPoster(metadata: confirmed(poster, days: 5), body: poster.body)
    #expect(caches[1].store(promised) == nil)
    #expect(confirm(caches[0], poster, as: confirmed(poster)) == nil)
    #expect(try found(caches[0], 1) == promised.metadata)
  }

  @Test(arguments: [2000, 2_500_000])
  func `where the validators have changed the poster is written anew and keeps its standing`(
    bytes: Int
  ) throws {
    do {
      // No room for two of the large ones.
      let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 3 << 20))
      let poster = SamplePoster.make(1, bytes: bytes)
      #expect(cache.store(poster, isSeen: false) == nil)
      #expect(cache.store(SamplePoster.make(2), isSeen: true) == nil)
      var metadata = confirmed(poster)
      metadata.etag = "W/\"other\""
      metadata.variant = Variant(fields: "accept,accept-language", hash: 0x1234_5678_9ABC_DEF0)
      #expect(confirm(cache, poster, as: metadata) == nil)
      #expect(try found(cache, 1) == metadata)
      // Unseen: below one that was seen, and it does not become so.
      #expect(try cache.numbers() == [2, 1])
      _ = try cache.poster(for: SamplePoster.request(1))
      if bytes < 1 << 20 { try cache.pin([SamplePoster.request(1)]) }
      let stored = try #require(try cache.peek(at: SamplePoster.request(1)))
      #expect(stored.body == poster.body)
      metadata.lastModified = nil
      #expect(confirm(cache, stored, as: metadata) == nil)
      #expect(try cache.numbers() == [1, 2])
      #expect((try cache.statistics().pinnedBytes > 0) == (bytes < 1 << 20))
      #expect(try cache.statistics().entries == 2)
    }
    try DiskInspection(directory.path).expectSound("written anew")
    try rebuild()
    let cache = try DiskCache(directory: directory.path)
    let metadata = try #require(try found(cache, 1))
    #expect(metadata.etag == "W/\"other\"" && metadata.lastModified == nil)
    #expect(metadata.staleUse.ifErrorSeconds == 86_400)
    #expect(metadata.variant?.fields == "accept,accept-language")
    #expect(metadata.variant?.hash == 0x1234_5678_9ABC_DEF0)
    #expect(try cache.numbers().first == 1)
  }

  @Test func `a rebuilt index goes by what was written, which never allows more`() throws {
    let posters = (0..<5).map { SamplePoster.make($0) }
    do {
      let cache = try DiskCache(directory: directory.path)
      for poster in posters { #expect(cache.store(poster) == nil) }
      #expect(confirm(cache, posters[0], as: confirmed(posters[0])) == nil)
      for (number, metadata) in stricter(posters).enumerated() {
        #expect(confirm(cache, posters[number + 1], as: metadata) == nil)
        #expect(try found(cache, number + 1) == metadata)
      }
    }
    try rebuild()
    let cache = try DiskCache(directory: directory.path)
    #expect(try found(cache, 0) == posters[0].metadata)
    for (number, metadata) in stricter(posters).enumerated() {
      #expect(try found(cache, number + 1) == metadata)
    }
  }

  /// What allows less than was said at first: not so long, not stale, or by another clock.
  private func stricter(_ posters: [StoredPoster]) -> [PosterMetadata] {
    var all = posters.dropFirst().map(\.metadata)
    all[0].expiresAt -= 1
    all[1].storedAt += 5
    all[1].staleUse.isForbidden = true
    all[2].storedAt -= 86_400
    all[3].storedAt -= 1
    all[3].staleUse.ifErrorSeconds = 7
    return all
  }

  @Test func `texts of any length are stored or refused`() {
    var metadata = SamplePoster.make(1).metadata
    metadata.variant = Variant(fields: String(repeating: "x", count: 65_527), hash: 1)
    metadata.etag = String(repeating: "e", count: 65_535)
    metadata.lastModified = metadata.etag
    var bytes: [UInt8] = []
    RecordMetadata.append(metadata, to: &bytes)
    #expect(RecordMetadata.length(of: metadata) == bytes.count)
    #expect(bytes.count <= RecordMetadata.maximumLength)
    let decoded = bytes.withUnsafeBytes { RecordMetadata.decode($0) }
    #expect(decoded == metadata)
    metadata.variant?.fields += "x"
    #expect(RecordMetadata.length(of: metadata) == nil)
  }

  @Test func `in a directory that was lost the confirmed poster is stored`() throws {
    let path = "\(directory.path)/cache"
    let tier = try DiskTier(
      path, limit: nil, isRequired: true, warnings: WarningGate { _ in })
    let poster = SamplePoster.make(1)
    let metadata = confirmed(poster)
    for round in 0..<2 {
      let result = Monitor<Result<Void, PosterError>?>(nil)
      try FileManager.default.moveItem(atPath: path, toPath: "\(directory.path)/gone\(round)")
      tier.confirm(poster, as: metadata) { value in
        result.withLock { $0 = value }
        result.signal()
      }
      let outcome = result.wait(untilNanoseconds: { _ in nil }, for: { $0 })
      #expect(throws: Never.self) { try outcome.get() }
      let cache = try DiskCache(directory: path)
      #expect(try found(cache, 1) == metadata)
    }
    tier.close()
    #expect(tier.absence(of: SamplePoster.request(1)) == nil)
    tier.noteAbsence(
      of: SamplePoster.request(1),
      Absence(status: 404, notedAt: metadata.storedAt, until: metadata.expiresAt))
  }
}
