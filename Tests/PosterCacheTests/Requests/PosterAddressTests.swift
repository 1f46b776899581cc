import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PosterAddressTests {
  @Test(arguments: [
    ("https://image.tmdb.org/t/p/w342/a.jpg", "https://image.tmdb.org/t/p/w342/a.jpg"),
    ("HTTPS://Image.TMDB.org:443/t/p/w342/A.jpg", "https://image.tmdb.org/t/p/w342/A.jpg"),
    ("http://example.org", "http://example.org/"),
    ("http://example.org:80/#part", "http://example.org/"),
    ("http://example.org:8080/x", "http://example.org:8080/x"),
    ("http://example.org/%7euser/%2f?q=%c3%a9&Q=1", "http://example.org/~user/%2F?q=%C3%A9&Q=1"),
    ("http://example.org/a/./b/../c", "http://example.org/a/c"),
    ("http://example.org/a/%2e%2e/c", "http://example.org/c"),
    ("http://example.org/é", "http://example.org/%C3%A9"),
    ("http://example.org/a b", "http://example.org/a%20b"),
    ("http://[::1]:9000/x", "http://[::1]:9000/x"),
    ("http://example.org?b=2&a=1", "http://example.org/?b=2&a=1"),
  ])
  func `an address has one canonical form`(text: String, canonical: String) throws {
    let address = try PosterAddress(text)
    #expect(address.canonical == canonical)
    #expect(try PosterAddress(canonical) == address)
    let stored = canonical.utf8CString.withUnsafeBytes {
      PosterAddress(canonicalBytes: UnsafeRawBufferPointer(rebasing: $0.dropLast()))
    }
    #expect(stored == address)
  }

  @Test(arguments: [
    "", "poster.jpg", "/t/p/x.jpg", "ftp://example.org/x", "file:///etc/passwd", "http://",
    "http:///x", "http://user:secret@example.org/", "http://example.org:99999/", "http://a\nb/",
    "javascript:alert(1)", "http://example.org/\r\nHost: other",
  ])
  func `what is no usable address is refused in one line without its credentials`(text: String) {
    let error = #expect(throws: PosterError.self) { try PosterAddress(text) }
    #expect(error?.code == .invalidAddress)
    #expect(error?.message.contains("secret") == false)
    #expect(error?.message.contains("\n") == false)
  }

  @Test func `host and port are told apart`() throws {
    let address = try PosterAddress("http://[::1]:9000/x")
    #expect(address.host == "[::1]")
    #expect(address.port == 9000)
    #expect(!address.isSecure)
    #expect(try PosterAddress("https://example.org/").port == 443)
  }

  @Test func `an address of eight thousand characters works`() throws {
    let text = "https://example.org/" + String(repeating: "x", count: 8000)
    #expect(try PosterAddress(text).canonical == text)
  }

  @Test(arguments: [16_384, 16_385, 70_000, 1_000_000])
  func `no way leads to an address that is too long`(length: Int) throws {
    let isShort = length <= PosterAddress.maximumLength
    let base = "http://example.org/"
    func text(_ filler: String, _ prefix: String = base) -> String {
      let count = (length - prefix.utf8.count) / filler.utf8.count
      let rest = length - prefix.utf8.count - count * filler.utf8.count
      return prefix + String(repeating: filler, count: count) + String(repeating: "z", count: rest)
    }
    func isAddress(_ make: () throws(PosterError) -> PosterAddress) -> Bool {
      do {
        #expect(try make().canonical.utf8.count <= PosterAddress.maximumLength)
        return true
      } catch {
        #expect(error.code == .invalidAddress)
        #expect(error.message.contains("longer than 16384 bytes"))
        #expect(error.message.utf8.count < 300)
        return false
      }
    }
    // At sight, the long way, and in a form that grows by being made canonical.
    #expect(isAddress { () throws(PosterError) in try PosterAddress(text("x")) } == isShort)
    #expect(
      isAddress { () throws(PosterError) in try PosterAddress(text("x") + "#") }
        == (length < 16_384))
    #expect(isAddress { () throws(PosterError) in try PosterAddress(text("é")) } == false)
    // Below a base: at sight, and the long way.
    let address = try PosterAddress(base)
    let path = String(text("x").dropFirst(base.count))
    #expect(isAddress { () throws(PosterError) in try address.appending(path) } == isShort)
    #expect(
      isAddress { () throws(PosterError) in try address.appending(path.dropLast() + "~") }
        == isShort)
    #expect(
      isAddress { () throws(PosterError) in try address.appending(path.dropLast() + "?") } == false)
    // As stored.
    let stored = Array(text("x").utf8).withUnsafeBytes { PosterAddress(canonicalBytes: $0) }
    #expect((stored != nil) == isShort)
  }

  @Test(arguments: [
    ("http://h.test/a.jpg", "http://h.test/a.jpg"),
    ("http://h.test/a.jpg?token=S&page=2", "http://h.test/a.jpg?token=…&page=2"),
    (
      "https://h.test/3/list?page=7&language=ko-KR&Policy=S",
      "https://h.test/3/list?page=7&language=ko-KR&Policy=…"
    ),
    (
      "https://h.test/v1/x?limit=20&offset=40&region=KR&query=S&Page=S",
      "https://h.test/v1/x?limit=20&offset=40&region=KR&query=…&Page=…"
    ),
    ("http://h.test/?S", "http://h.test/?…"), ("http://h.test/?", "http://h.test/?"),
    ("http://h.test/?a=S?S&&b=", "http://h.test/?a=…&&b=…"),
    ("http://h.test/a@b/c", "http://h.test/a@b/c"),
    ("http://h.test/?page=1=S", "http://h.test/?page=1=S"),
  ])
  func `an address is told without what may be secret`(text: String, expected: String) throws {
    let address = try PosterAddress(text)
    #expect(address.redacted == expected)
    #expect("\(address)" == expected)
    #expect(String(reflecting: address) == expected)
    #expect(address.canonical == text)
  }

  @Test(arguments: [
    "ftp://h.test/x?token=5ec2e7", "ftp://user:5ec2e7@h.test/", "http://user:5ec2e7@h.test:99999/",
    "http://user:5ec2e7@h.test/", "h.test/a.jpg?5ec2e7", "http://h.test:99999/?a=b&sig=5ec2e7",
    "user:5ec2e7@h.test", "http://user:5ec?2e7@h.test:99999/", "http:///?t=5ec2e7",
    "http://h.test/\u{1}?t=5ec2e7",
  ])
  func `what is no address is told without what may be secret, too`(text: String) {
    let error = #expect(throws: PosterError.self) { try PosterAddress(text) }
    #expect(error?.message.contains("5ec") == false, "\(error?.message ?? "")")
  }

  @Test func `requests are equal by address, not by key alone`() throws {
    let key = CacheKey(high: 1, low: 2)
    let requests = try ["http://h.test/a", "http://h.test/b", "http://h.test/a"].map { text in
      PosterRequest(try PosterAddress(text), key: key, priority: .visible)
    }
    #expect(Set(requests).count == 2)
  }

  @Test(arguments: ["/abc.jpg", "abc.jpg", "//abc.jpg"])
  func `a poster path may lack its slash or have two`(path: String) throws {
    let request = try PosterRequest(path: path, size: .w500)
    #expect(request.address.canonical == "https://image.tmdb.org/t/p/w500/abc.jpg")
  }

  @Test(arguments: ["", "/", "../../../etc/passwd", "/%2e%2e/%2e%2e/x", "/..", "a/../../../../b"])
  func `a poster path cannot leave the image host's base`(path: String) {
    #expect(throws: PosterError.self) {
      let request = try PosterRequest(path: path)
      // What is not refused stays below base and size.
      if !request.address.canonical.hasPrefix("https://image.tmdb.org/t/p/w342/") {
        Issue.record("\(path) became \(request.address)")
      }
    }
  }

  @Test func `a query or fragment in a poster path is part of the path`() throws {
    #expect(
      try PosterRequest(path: "/a?b#c.jpg").address.canonical
        == "https://image.tmdb.org/t/p/w342/a%3Fb%23c.jpg")
  }

  /// Whatever is recognised as canonical at sight must be what the long way makes of it.
  @Test func `the short way and the long way agree`() throws {
    var generator = SeededGenerator()
    let pieces = [
      "a", "Z", "9", "-", "_", "~", ".", "..", "/", "//", "%41", "%2F", ":", "@", "?", "#", "é",
      " ",
      "80", "443", "8080", "0", "\\", "&", "=", "+",
    ]
    var recognised = 0
    for _ in 0..<20_000 {
      let scheme = ["http://", "https://"].randomElement(using: &generator) ?? ""
      let host =
        ["h", "example.org", "a-b.c:", "h:80", "h:443", "h:8080", "H"]
        .randomElement(using: &generator) ?? ""
      let path = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
        pieces.randomElement(using: &generator) ?? ""
      }.joined()
      let text = "\(scheme)\(host)/\(path)"
      guard
        text.utf8CString.dropLast().withUnsafeBytes({ bytes in
          CanonicalForm(bytes.bindMemory(to: UInt8.self)) != nil
        })
      else { continue }
      recognised += 1
      // A fragment is cut off, and its presence sends the text the long way.
      let long = try PosterAddress(text + "#")
      #expect(long == (try PosterAddress(text)), "seed \(generator.seed): \(text)")
      #expect(long.canonical == text, "seed \(generator.seed)")
    }
    #expect(recognised > 1000)
  }

  @Test func `keys differ where addresses do`() throws {
    let addresses = try (0..<1000).map { try PosterAddress("http://example.org/\($0)") }
    #expect(Set(addresses.map { CacheKey($0) }).count == 1000)
    // XXH3-128 of the canonical address, as any other implementation computes it.
    #expect(
      CacheKey(try PosterAddress("http://example.org")).description
        == "13dab8d42ad2218070c0198247c2304a")
  }
}
