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
