import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(3)))
struct GetTests {
  @Test func `a picture comes from the network, then from the disk, byte for byte`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let expected = DemoPoster.encode(name: "one.jpg", size: .w185)
    let arguments = [
      "get", "/one.jpg", "--size", "w185", "--images", place.origin.images.canonical,
    ]
    let first = await PosterCacheBinary.run(arguments + ["--cache-dir", place.cache])
    #expect(first.status == 0 && first.errors.isEmpty)
    #expect(first.standardOutput == expected)
    let again = await PosterCacheBinary.run(
      ["get", "\(place.origin.images)w185/one.jpg", "--json", "--cache-dir", place.cache])
    #expect(
      again.keys == [
        "key", "url", "source", "status", "bytes", "content_type", "sha256", "etag", "stored_at",
        "expires_at",
      ])
    let json = try again.decoded(as: PictureJSON.self)
    #expect(json.source == "disk" && json.status == 200 && json.contentType == "image/jpeg")
    #expect(json.bytes == expected.count)
    #expect(json.sha256 == expected.withUnsafeBytes(sha256))
    #expect(json.url == "\(place.origin.images)w185/one.jpg")
    #expect(json.key == CacheKey(try PosterAddress(json.url)).description)
    #expect(json.storedAt.hasSuffix("Z") && json.storedAt < json.expiresAt)
    #expect(place.imageRequests == 1)
  }

  @Test func `a picture goes into a file`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let file = "\(place.directory.path)/out.png"
    let result = await place.run("get", "\(place.origin.images)w92/two.png", "-o", file)
    #expect(result.status == 0 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("\(file): ") && result.errors.hasSuffix(" image/png, network"))
    #expect(
      [UInt8](try Data(contentsOf: URL(filePath: file)))
        == DemoPoster.encode(name: "two.png", size: .w92))
    let unwritable = await place.run(
      "get", "\(place.origin.images)w92/two.png", "-o", "/nonexistent/x")
    #expect(unwritable.status == 1)
    #expect(unwritable.errors.contains("cannot write /nonexistent/x"))
  }

  @Test func `an unusable cache directory costs a warning, not the picture`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let result = await PosterCacheBinary.run([
      "get", "\(place.origin.images)w92/three.jpg", "--cache-dir", "/dev/null/cache",
    ])
    #expect(result.status == 0)
    #expect(result.standardOutput == DemoPoster.encode(name: "three.jpg", size: .w92))
    #expect(result.errorLines.count == 1)
    #expect(result.errors.contains("warning"))
  }

  @Test func `what is not there is a failure, and what is no picture too`() async throws {
    let place = try Workplace([Fault("/t/p/w92/html.jpg", .wrongType)])
    defer { place.origin.shutdown() }
    for name in ["no.such.file.gif", "html.jpg"] {
      let result = await place.run("get", "\(place.origin.images)w92/\(name)")
      #expect(result.status == 1)
      #expect(result.output.isEmpty)
      #expect(result.errorLines.count == 1, "\(result.errors)")
    }
    #expect(try await place.storedCount() == 0)
  }

  @Test func `no message tells what may be secret in an address, and JSON tells the address`()
    async throws
  {
    let place = try Workplace([
      Fault("/t/p/w92/refused.jpg", .status(403)), Fault("/t/p/w92/html.jpg", .wrongType),
      Fault("/t/p/w92/kept.jpg", .header(name: "Cache-Control", value: "no-store")),
      Fault("/t/p/w92/away.jpg", .redirect(to: "ftp://127.0.0.1/x?t=5ec2e7")),
    ])
    defer { place.origin.shutdown() }
    let secret = "?token=5ec2e7"
    for (name, status, words) in [
      ("refused.jpg", 1, "403"), ("html.jpg", 1, "HTML"), ("away.jpg", 1, "redirected"),
    ] as [(String, Int32, String)] {
      let result = await place.run("get", "-v", "\(place.origin.images)w92/\(name)\(secret)")
      #expect(result.status == status)
      #expect(result.errorLines.count == 1, "\(result.errors)")
      #expect(result.errors.contains(words))
      #expect(result.errors.contains("w92/\(name)?token=…"))
      #expect(!result.errors.contains("5ec2e7"), "\(result.errors)")
    }
    let address = "\(place.origin.images)w92/kept.jpg\(secret)"
    for arguments in [
      ["get", "--offline", address], ["get", address, address], [address], ["ls", address],
      ["get", "ftp://127.0.0.1/\(secret)"],
    ] {
      let result = await PosterCacheBinary.run(arguments + ["--cache-dir", place.cache])
      #expect(result.status == (arguments.contains("--offline") ? 4 : 2))
      #expect(!result.errors.contains("5ec2e7"), "\(result.errors)")
    }
    place.origin.setFaults([])
    let json = await place.run("get", "--json", address)
    #expect(try json.decoded(as: PictureJSON.self).url == address)
    #expect(await place.run("ls").output.contains(address))
    #expect(await place.run("ls", "--json").output.contains(address))
  }

  @Test func `offline, only what is cached can be had`() async throws {
    let place = try Workplace()
    #expect(await place.run("get", "\(place.origin.images)w92/four.jpg").status == 0)
    place.origin.shutdown()
    let cached = await place.run("get", "--offline", "\(place.origin.images)w92/four.jpg")
    #expect(cached.status == 0)
    #expect(cached.standardOutput == DemoPoster.encode(name: "four.jpg", size: .w92))
    #expect(await place.run("get", "--offline", "\(place.origin.images)w92/five.jpg").status == 4)
    let down = await place.run("get", "\(place.origin.images)w92/five.jpg", "--retries", "0")
    #expect(down.status == 4)
    #expect(down.errorLines.count == 1)
  }

  @Test func `an interruption ends a transfer that does not come`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let held = place.origin.hold("/t/p/*")
    let command = PosterCacheBinary.start([
      "get", "\(place.origin.images)w92/six.jpg", "--cache-dir", place.cache,
    ])
    await held.waitForRequests(1)
    command.send(SIGTERM)
    let result = await command.result()
    #expect(result.status == 143)
    #expect(result.output.isEmpty && result.errors.isEmpty)
  }

  private struct PictureJSON: Decodable {
    var key: String
    var url: String
    var source: String
    var status: Int
    var bytes: Int
    var contentType: String
    var sha256: String
    var storedAt: String
    var expiresAt: String
  }
}
