import FoundationEssentials
import Glibc
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// File systems that are full or read-only, directories that may not be used or are reached in some
/// roundabout way: pictures are delivered all the same.
@Suite(.timeLimit(.minutes(10)))
struct DiskEnvironmentTests {
  private static let canMount = SmallDisk.isPossible
  /// Some other user, who may do nothing that is not allowed to everybody.
  private static let nobody = "65534"

  // MARK: - A full disk

  @Test(.enabled(if: canMount, "needs the right to mount a file system"))
  func `on a full disk storing fails, reading goes on, and space makes it work again`() throws {
    let disk = try #require(SmallDisk(megabytes: 6))
    let path = "\(disk.path)/cache"
    let cache = try DiskCache(directory: path)
    for number in 0..<30 {
      #expect(cache.storing(TorturePoster.make(number, version: 1)) == nil)
    }
    let inspection = DiskInspection(path)
    for round in 1...3 {
      let ballast = disk.fillWithBallast()
      for number in 100..<120 {
        let refusal = cache.storing(TorturePoster.make(number, version: round))
        #expect(refusal?.code == .notStored, "round \(round)")
      }
      // A new version of what is there either takes its place or leaves it.
      #expect(cache.storing(TorturePoster.make(3, version: 1 + round))?.code == .notStored)
      for number in 0..<30 {
        let request = SamplePoster.request(number)
        let stored = try #require(try cache.poster(for: request), "\(number), round \(round)")
        #expect(TorturePoster.fault(in: stored, for: request) == nil)
      }
      unlink(ballast)
      let refusal = cache.storing(TorturePoster.make(200 + round, version: 1))
      #expect(refusal == nil, "round \(round)")
      let versions = try inspection.check(cache, "round \(round)")
      #expect(Set(versions.keys) == Set(0..<30).union(201...(200 + round)))
      try inspection.expectNoLeak(cache, "round \(round)")
    }
    cache.close()
    try inspection.expectSound("after a full disk")
  }

  @Test(.enabled(if: canMount, "needs the right to mount a file system"), arguments: [1, 2, 3])
  func `a cache that has filled its disk can be trimmed, cleared and go on`(seed: UInt64)
    async throws
  {
    let disk = try #require(SmallDisk(megabytes: 6))
    let path = "\(disk.path)/cache"
    let filler = await TortureProcess.run(
      "fill", path, seed: seed, ["first=\(seed * 100)", "limit=\(1 << 30)"])
    #expect(filler.status == 0, "\(filler.errors)")
    #expect(Int(filler.output.dropLast()) ?? 0 > 20)
    // Whatever is left: not a block.
    let ballast = disk.fillWithBallast()
    let reader = await TortureProcess.run(
      "read", path, seed: seed, ["first=\(seed * 100)", "count=300", "rounds=300"])
    #expect(reader.status == 0, "a full disk: \(reader.status), \(reader.errors)")
    let cache = try DiskCache(directory: path)
    let before = try cache.statistics()
    #expect(try cache.trim(to: ByteSize(bytes: before.bytes / 2)).posters > 0)
    #expect(cache.storing(TorturePoster.make(3, version: 9)) == nil)
    try DiskInspection(path).check(cache, "seed \(seed)")
    #expect(try cache.removeAll().posters > 0)
    #expect(cache.storing(TorturePoster.make(4, version: 9)) == nil)
    try DiskInspection(path).check(cache, "seed \(seed)")
    cache.close()
    unlink(ballast)
    try DiskInspection(path).expectSound("seed \(seed)")
  }

  @Test(.enabled(if: canMount, "needs the right to mount a file system"))
  func `a new cache on a full disk is an error, and the next attempt works`() async throws {
    let disk = try #require(SmallDisk(megabytes: 2))
    let ballast = disk.fillWithBallast()
    let path = "\(disk.path)/cache"
    let picture = try await delivered(cache: path)
    #expect(picture.warnings == 1, "\(picture.errors)")
    #expect(throws: PosterError.self) { try DiskCache(directory: path) }
    unlink(ballast)
    let cache = try DiskCache(directory: path)
    #expect(cache.storing(TorturePoster.make(1, version: 1)) == nil)
    cache.close()
    try DiskInspection(path).expectSound("after a full disk")
  }

  @Test(.enabled(if: canMount, "needs the right to mount a file system"))
  func `on a file system that is read-only pictures are delivered with one warning`() async throws {
    let disk = try #require(SmallDisk(megabytes: 6))
    let path = "\(disk.path)/cache"
    #expect(try await delivered(cache: path).warnings == 0)
    #expect(disk.setReadOnly(true))
    for name in ["x.jpg", "y.jpg"] {
      let picture = try await delivered(name, cache: path)
      #expect(picture.warnings == 1, "\(picture.errors)")
    }
    let fresh = try await delivered(cache: "\(disk.path)/other")
    #expect(fresh.warnings == 1, "\(fresh.errors)")
    #expect(disk.setReadOnly(false))
    #expect(try await delivered("y.jpg", cache: path).warnings == 0)
    try DiskInspection(path).expectSound("after a read-only file system")
  }

  // MARK: - Permissions

  @Test(.enabled(if: getuid() != 0 || Program.path(of: "setpriv") != nil, "needs setpriv"))
  func `without permission pictures are delivered with one warning`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/cache"
    #expect(try await delivered(cache: path).warnings == 0)
    // Nobody but its owner, nobody at all, and everybody but only to read.
    for (folders, files) in [(0o700, 0o600), (0o000, 0o000), (0o555, 0o444)] as [(mode_t, mode_t)]
    where getuid() == 0 || folders != 0o700 {
      setModes(of: path, folders: folders, files: files)
      for name in ["x.jpg", "y.jpg"] {
        let picture = try await delivered(name, cache: path, isNobody: true)
        #expect(picture.warnings == 1, "\(String(folders, radix: 8)): \(picture.errors)")
      }
      setModes(of: path, folders: 0o755, files: 0o644)
    }
    // A directory that cannot be made.
    let folder = "\(directory.path)/folder"
    mkdir(folder, 0o555)
    let picture = try await delivered(cache: "\(folder)/cache", isNobody: true)
    #expect(picture.warnings == 1, "\(picture.errors)")
    try DiskInspection(path).expectSound("after all that")
  }

  // MARK: - Roundabout ways

  @Test func `a directory reached through symbolic links is the same one`() throws {
    let directory = TemporaryDirectory()
    mkdir("\(directory.path)/real", 0o755)
    symlink("real", "\(directory.path)/link")
    symlink("\(directory.path)/link/cache", "\(directory.path)/direct")
    let paths = ["real", "link", "link/../link"].map { "\(directory.path)/\($0)/cache" }
    let caches =
      try paths.map { try DiskCache(directory: $0) }
      + [DiskCache(directory: "\(directory.path)/direct")]
    for (number, cache) in caches.enumerated() {
      #expect(cache.storing(TorturePoster.make(number, version: 1)) == nil)
    }
    for cache in caches {
      #expect(try DiskInspection(paths[0]).check(cache, "\(paths)") == [0: 1, 1: 1, 2: 1, 3: 1])
    }
    for cache in caches { cache.close() }
    try DiskInspection("\(directory.path)/direct").expectSound("through a link")
  }

  @Test func `temporary files may be on another file system, and none are made`() async throws {
    let places = DiskInspection.places
    let directory = TemporaryDirectory(in: places[0])
    let other = TemporaryDirectory(in: places[places.count - 1])
    for temporary in [other.path, "\(other.path)/missing"] {
      let name = temporary == other.path ? "x.jpg" : "y.jpg"
      let picture = try await delivered(
        name, cache: "\(directory.path)/cache", environment: ["TMPDIR": temporary])
      #expect(picture.warnings == 0, "\(picture.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == [])
    let cache = try DiskCache(directory: "\(directory.path)/cache")
    #expect(try cache.statistics().entries == 2)
  }

  // MARK: -

  private struct Delivery {
    var warnings: Int
    var errors: String
  }

  /// Has the command get a picture into a file, which must work, and counts its warnings.
  private func delivered(
    _ name: String = "x.jpg", cache: String, isNobody: Bool = false,
    environment: [String: String] = [:]
  ) async throws -> Delivery {
    let place = TemporaryDirectory()
    chmod(place.path, 0o777)
    let file = "\(place.path)/picture"
    // Where it was built, others may have no way to it.
    let program = "\(place.path)/postercache"
    try FileManager.default.copyItem(atPath: PosterCacheBinary.path, toPath: program)
    chmod(program, 0o755)
    let arguments = [
      "get", "--demo", "/\(name)", "--size", "w92", "-o", file, "--cache-dir", cache,
    ]
    let setpriv = getuid() == 0 && isNobody ? Program.path(of: "setpriv") : nil
    let nobody = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", program]
    let result = await RunningCommand(
      path: setpriv ?? program, arguments: (setpriv == nil ? [] : nobody) + arguments,
      environment: environment
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    let picture = try Data(contentsOf: URL(filePath: file))
    #expect([UInt8](picture) == DemoPoster.encode(name: name, size: .w92))
    // One line says where the picture is.
    let warnings = result.errorLines.count { $0.contains("warning") }
    #expect(result.errorLines.count == warnings + 1, "\(result.errors)")
    return Delivery(warnings: warnings, errors: result.errors)
  }

  /// Sets the modes of everything in a directory; from the outside inwards where that gives rights.
  private func setModes(of path: String, folders: mode_t, files: mode_t) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      chmod(path, files)
      return
    }
    chmod(path, 0o755)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names { setModes(of: "\(path)/\(name)", folders: folders, files: files) }
    chmod(path, folders)
  }
}
