import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(3)))
struct SheetTests {
  private struct SheetJSON: Decodable {
    var file: String?
    var width: Int
    var height: Int
    var columns: Int
    var posters: Int
    var missing: Int
    var empty: Int
    var bytes: Int
  }

  /// The pixels of the sheet in `file`.
  private func picture(_ file: String) throws -> PosterImage {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
    return try ImageDecoder().decode(
      PosterBody(copying: bytes), as: Rendition(.full, alpha: .straight))
  }

  private func list(_ place: Workplace, _ more: String...) async -> PosterCacheBinary.Result {
    await PosterCacheBinary.run(
      [
        "sheet", "--list", "trending", "--cache-dir", place.cache, "--size", "w92",
        "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
      ] + more, environment: ["TMDB_API_KEY": Workplace.key])
  }

  /// The sheet that holds `images` of `cell` pixels, `nil` for a missing one.
  ///
  /// - Parameter empty: cells that belong to none of them.
  private func expected(
    _ images: [PosterImage?], columns: Int, cell: PixelSize, empty: [Int] = []
  ) -> Bitmap {
    let count = images.count + empty.count
    var sheet = ContactSheet(ContactSheet.Layout(count: count, columns: columns, cell: cell))
    let cells = (0..<count).filter { !empty.contains($0) }
    for (index, image) in zip(cells, images) {
      if let image { sheet.draw(image.bitmap, at: index) } else { sheet.drawMissing(at: index) }
    }
    return sheet.bitmap
  }

  private func decoded(_ address: PosterAddress, fitting cell: PixelSize) throws -> PosterImage {
    let name = try #require(address.canonical.split(separator: "/").last.map(String.init))
    return try ImageDecoder().decode(
      PosterBody(copying: DemoPoster.encode(name: name, size: .w92)),
      as: Rendition(.fitting(cell)))
  }

  private func isSame(_ left: Bitmap, _ right: Bitmap) -> Bool {
    left.size == right.size
      && left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqual($0) } }
  }

  /// The addresses of the list's posters in its order.
  private func addresses(_ place: Workplace) async throws -> [PosterAddress] {
    let result = await PosterCacheBinary.run(
      [
        "warm", "--list", "trending", "--dry-run", "--size", "w92",
        "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
      ], environment: ["TMDB_API_KEY": Workplace.key])
    return try result.output.split(separator: "\n").map { try PosterAddress(String($0)) }
  }

  @Test func `a list's posters stand side by side in its order`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let file = "\(place.directory.path)/wall.png"
    let cell = PixelSize(width: 40, height: 60)
    let result = await list(place, "-o", file, "--columns", "7", "--cell", "40x60", "--json")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(
      result.keys == ["file", "width", "height", "columns", "posters", "missing", "empty", "bytes"])
    let json = try result.decoded(as: SheetJSON.self)
    let addresses = try await addresses(place)
    #expect(json.posters == addresses.count && json.missing == 0 && json.columns == 7)
    #expect(json.file == file && json.empty == 2)
    let images = try addresses.map { try decoded($0, fitting: cell) }
    let picture = try picture(file)
    // A film without a poster and a person keep their places.
    #expect(isSame(picture.bitmap, expected(images, columns: 7, cell: cell, empty: [5, 17])))
    #expect((json.width, json.height) == (picture.fullSize.width, picture.fullSize.height))
    // They are in the cache now, and the next sheet fetches none.
    let requests = place.imageRequests
    #expect(requests == addresses.count)
    let again = await list(place, "-o", "-", "--columns", "7", "--cell", "40x60")
    #expect(again.status == 0 && again.errors.isEmpty)
    #expect(again.standardOutput == [UInt8](try Data(contentsOf: URL(filePath: file))))
    #expect(place.imageRequests == requests)
  }

  @Test func `a poster that cannot be had is drawn as missing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let addresses = try await addresses(place)
    let lost = String(addresses[2].canonical.dropFirst(place.origin.images.canonical.count))
    place.origin.addFault(Fault(PathPattern("/t/p/\(lost)"), .status(404)))
    let file = "\(place.directory.path)/wall.png"
    let result = await list(place, "-o", file, "--limit", "5", "--cell", "30x45")
    #expect(result.status == 1)
    #expect(result.errors.contains("404") && result.errors.contains(lost))
    #expect(result.errorLines.last == "\(file): 198x61, 5 posters, 1 of them missing")
    let cell = PixelSize(width: 30, height: 45)
    var images = try addresses.prefix(5).map { address -> PosterImage? in
      try decoded(address, fitting: cell)
    }
    images[2] = nil
    #expect(isSame(try picture(file).bitmap, expected(images, columns: 10, cell: cell)))
  }

  @Test func `where the origin is down all is missing, and the status says so`() async throws {
    let place = try Workplace([Fault("/t/p/*", .status(503))])
    defer { place.origin.shutdown() }
    let file = "\(place.directory.path)/wall.png"
    let result = await list(place, "-o", file, "--limit", "2", "--retries", "0", "--json")
    #expect(result.status == 4)
    #expect(try result.decoded(as: SheetJSON.self).missing == 2)
    #expect(access(file, F_OK) == 0)
  }

  @Test func `what is stored is drawn in the order of its use, which a sheet is none of`()
    async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    for name in ["a.jpg", "b.png", "c.jpg"] {
      #expect(await place.run("get", "\(images)w92/\(name)", "-o", "/dev/null").status == 0)
    }
    let before = await place.run("ls", "--json").output
    let statistics = await place.run("stats", "--json").output
    let requests = place.imageRequests
    let file = "\(place.directory.path)/wall.png"
    for options in [[], ["--cached"]] {
      let result = await PosterCacheBinary.run(
        ["sheet", "-o", file, "--columns", "2", "--cache-dir", place.cache] + options)
      #expect(result.status == 0)
      #expect(result.errorLines == ["\(file): 332x486, 3 posters"])
      let cell = PixelSize(width: 154, height: 231)
      let posters = try ["c.jpg", "b.png", "a.jpg"].map {
        try decoded(PosterAddress("\(images)w92/\($0)"), fitting: cell)
      }
      #expect(isSame(try picture(file).bitmap, expected(posters, columns: 2, cell: cell)))
    }
    #expect(await place.run("ls", "--json").output == before)
    #expect(await place.run("stats", "--json").output == statistics)
    #expect(place.imageRequests == requests)
    // Of one size only, and only so many.
    let one = await place.run("sheet", "-o", file, "--limit", "1", "--json")
    #expect(try one.decoded(as: SheetJSON.self).posters == 1)
    let none = await place.run("sheet", "-o", file, "--size", "w500")
    #expect(none.status == 1 && none.errorLines == ["postercache: there is no poster to draw"])
  }

  @Test func `a stored poster that cannot be decoded is drawn as missing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    #expect(await place.run("get", "\(images)w92/a.jpg", "-o", "/dev/null").status == 0)
    do {
      let cache = try DiskCache(directory: place.cache)
      let address = try PosterAddress("\(images)w92/half.jpg")
      let whole = DemoPoster.encode(name: "half.jpg", size: .w92)
      let now = Date()
      cache.insert(
        StoredPoster(
          metadata: PosterMetadata(
            address: address, type: .jpeg, storedAt: now, expiresAt: now.addingTimeInterval(60)),
          body: PosterBody(copying: whole.prefix(whole.count / 2))))
      cache.close()
    }
    let file = "\(place.directory.path)/wall.png"
    let result = await place.run("sheet", "-o", file, "--json")
    #expect(result.status == 1)
    #expect(result.errorLines.count == 1 && result.errors.contains("\(images)w92/half.jpg"))
    let json = try result.decoded(as: SheetJSON.self)
    #expect(json.posters == 2 && json.missing == 1)
  }

  @Test func `an interruption writes nothing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let held = place.origin.hold("/t/p/*")
    let file = "\(place.directory.path)/wall.png"
    let command = PosterCacheBinary.start(
      [
        "sheet", "--list", "trending", "--cache-dir", place.cache, "-o", file,
        "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
      ], environment: ["TMDB_API_KEY": Workplace.key])
    await held.waitForRequests(1)
    command.send(SIGINT)
    let result = await command.result()
    #expect(result.status == 130 && result.output.isEmpty)
    #expect(result.errorLines == ["interrupted: no sheet was written"])
    #expect(access(file, F_OK) != 0)
    held.release()
  }

  @Test func `a sheet beyond all measure is refused, and so is a cache that is not there`()
    async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let file = "\(place.directory.path)/wall.png"
    let missing = await place.run("sheet", "-o", file)
    #expect(missing.status == 5 && missing.errorLines.count == 1)
    let large = await list(place, "-o", file, "--cell", "9000x9000")
    #expect(large.status == 2 && large.errorLines.count == 1)
    #expect(large.errors.contains("megapixels"))
    let unwritable = await list(place, "-o", "/nonexistent/wall.png")
    #expect(unwritable.status == 1)
    #expect(unwritable.errors.contains("cannot write /nonexistent/wall.png"))
    #expect(access(file, F_OK) != 0)
  }
}
