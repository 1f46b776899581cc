import FoundationEssentials
import PosterCache
import PosterServer
import TestSupport
import Testing

@testable import postercache

/// `get --fitting` and `get --decode`.
@Suite(.timeLimit(.minutes(2)))
struct GetDecodingTests {
  private struct SizeJSON: Decodable {
    var bytes: Int
    var contentType: String
    var width: Int
    var height: Int
  }

  private func decoded(_ bytes: [UInt8], _ size: Rendition.Size) throws -> PosterImage {
    try ImageDecoder().decode(
      PosterBody(copying: bytes), as: Rendition(size, alpha: .straight))
  }

  @Test(arguments: ["one.jpg", "two.png"])
  func `the pixels are written as PNG, shrunk or whole`(name: String) async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let address = "\(place.origin.images)w185/\(name)"
    let original = DemoPoster.encode(name: name, size: .w185)
    let box = PixelSize(width: 60, height: 60)
    for (options, size) in [
      (["--decode"], Rendition.Size.full), (["--fitting", "60x60"], .fitting(box)),
    ] {
      let result = await PosterCacheBinary.run(
        ["get", address, "--cache-dir", place.cache, "-o", "-"] + options)
      #expect(result.status == 0 && result.errors.isEmpty)
      let expected = try decoded(original, size).bitmap
      let written = try ImageDecoder().header(of: PosterBody(copying: result.standardOutput))
      #expect(written.type == .png && written.size == expected.size)
      let pixels = try decoded(result.standardOutput, .full).bitmap
      #expect(
        pixels.withUnsafeBytes { pixels in
          expected.withUnsafeBytes { pixels.elementsEqual($0) }
        })
    }
    #expect(place.imageRequests == 1)
  }

  @Test func `JSON tells the size, and about the picture that is stored`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let address = "\(place.origin.images)w185/one.jpg"
    let result = await place.run("get", address, "--fitting", "60x60", "--json")
    let json = try result.decoded(as: SizeJSON.self)
    let original = DemoPoster.encode(name: "one.jpg", size: .w185)
    let full = try ImageDecoder().header(of: PosterBody(copying: original)).size
    let expected = Rendition(.fitting(PixelSize(width: 60, height: 60))).size(of: full)
    #expect((json.width, json.height) == (expected.width, expected.height))
    #expect(json.contentType == "image/jpeg" && json.bytes == original.count)
  }

  @Test func `a picture that cannot be decoded is a failure, and stays stored`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let whole = DemoPoster.encode(name: "half.jpg", size: .w92)
    let half = Array(whole.prefix(whole.count / 2))
    // As long as it says: nothing but decoding can tell.
    let headers = ["Content-Type: image/jpeg", "Cache-Control: max-age=60"]
    let server = ScriptedServer { _ in
      [.response(200, headers, body: half)]
    }
    defer { server.stop() }
    let address = server.address("/half.jpg")
    let plain = await place.run("get", address, "-o", "-")
    #expect(plain.status == 0 && plain.standardOutput == half)
    let result = await place.run("get", address, "--decode", "-o", "-")
    #expect(result.status == 1 && result.output.isEmpty)
    #expect(result.errorLines.count == 1 && result.errors.contains(address))
    #expect(try await place.storedCount() == 1)
  }

  @Test(arguments: ["max-age=0", "no-store"])
  func `a server is asked once for the pixels of what must not be used again`(
    caching: String
  ) async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let picture = DemoPoster.encode(name: "once.jpg", size: .w92)
    let server = ScriptedServer { _ in
      [
        .response(
          200, ["Content-Type: image/jpeg", "Cache-Control: \(caching)"], body: picture)
      ]
    }
    defer { server.stop() }
    let address = server.address("/once.jpg")
    let result = await place.run("get", address, "--decode", "-o", "-")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test func `offline, expired pictures are decoded without asking`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let picture = DemoPoster.encode(name: "expired.jpg", size: .w92)
    let server = ScriptedServer { _ in
      [.response(200, ["Content-Type: image/jpeg", "Cache-Control: max-age=0"], body: picture)]
    }
    defer { server.stop() }
    let address = server.address("/expired.jpg")
    let plain = await place.run("get", address, "-o", "-")
    #expect(plain.status == 0)
    let result = await place.run("get", address, "--decode", "--offline", "-o", "-")
    #expect(result.status == 0 && result.errors.isEmpty)
    let size = try ImageDecoder().header(of: PosterBody(copying: picture)).size
    #expect(
      try ImageDecoder().header(of: PosterBody(copying: result.standardOutput)).size == size)
    #expect(server.requests.count == 1)
  }
}
