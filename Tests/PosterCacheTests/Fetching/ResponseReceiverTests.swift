import TestSupport
import Testing

@testable import PosterCache

/// What is made of an answer, without a network.
@Suite(.timeLimit(.minutes(2)))
struct ResponseReceiverTests {
  private static let address = SamplePoster.request(1).address

  /// What a transfer leaves: a result if it ended by itself, a partial if it was stopped.
  private struct Ending {
    var result: Result<FetchResponse, FetchFailure>?
    var partial: PartialBody?
    var wasStopped = false
  }

  /// Receives `head` and `body`, the latter in pieces of at most `piece` bytes and up to `stop`.
  private func receive(
    _ head: [String], _ body: [UInt8], resuming partial: PartialBody? = nil,
    stop: Int? = nil, piece: Int = 1000, limit: Int = 1 << 20, source: String? = nil
  ) -> Ending {
    var receiver = ResponseReceiver(
      FetchRequest(Self.address), limit: limit, beginning: partial)
    for line in head + [""] {
      _ = Array("\(line)\r\n".utf8).withUnsafeBytes { receiver.didReceive(header: $0) }
    }
    var sent = 0
    let end = min(stop ?? body.count, body.count)
    while sent < end {
      let next = min(sent + piece, end)
      let goesOn = body[sent..<next].withUnsafeBytes { receiver.didReceive($0, from: source) }
      guard goesOn else { return Ending(result: receiver.finish(), wasStopped: true) }
      sent = next
    }
    if stop != nil { return Ending(partial: receiver.takePartial(from: source)) }
    return Ending(result: receiver.finish())
  }

  private let picture = TestPicture.jpeg(filler: 5000)

  /// The picture's first 2,000 bytes.
  private func beginning(etag: String = "\"1\"", source: String? = nil) throws -> PartialBody {
    try #require(
      receive(
        ["HTTP/1.1 200 OK", "Content-Length: \(picture.count)", "ETag: \(etag)"], picture,
        stop: 2000,
        source: source
      ).partial)
  }

  @Test func `a stopped picture of known length with a strong validator can be resumed`() throws {
    let partial = try beginning()
    #expect(partial.count == 2000)
    #expect(partial.total == picture.count)
    #expect(partial.validator == "\"1\"")
    #expect(partial.address == Self.address)
    #expect(partial.capacity == picture.count)
  }

  @Test(arguments: [
    ["HTTP/1.1 203 OK", "Content-Length: 5008", "ETag: \"1\""],
    ["HTTP/1.1 404 OK", "Content-Length: 5008", "ETag: \"1\""],
    ["HTTP/1.1 206 OK", "Content-Length: 5008", "ETag: \"1\"", "Content-Range: bytes 0-5007/5008"],
    ["HTTP/1.1 200 OK", "ETag: \"1\""],
    ["HTTP/1.1 200 OK", "Content-Length: 5008"],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: W/\"1\""],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: 1"],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \""],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \"1\"", "Cache-Control: no-store"],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \"1\"", "Content-Encoding: gzip"],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \"1\"", "Transfer-Encoding: chunked"],
    ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \"1\"", "Content-Type: multipart/x"],
  ])
  func `others cannot`(head: [String]) {
    #expect(receive(head, picture, stop: 2000).partial == nil)
  }

  @Test func `nothing received, and everything received, leaves nothing to resume`() {
    let head = ["HTTP/1.1 200 OK", "Content-Length: 5008", "ETag: \"1\""]
    #expect(receive(head, picture, stop: 0).partial == nil)
    #expect(receive(head, picture, stop: picture.count).partial == nil)
  }

  @Test func `the rest is appended, and can itself be stopped and resumed`() throws {
    let head = { (first: Int) in
      ["HTTP/1.1 206 OK", "Content-Range: bytes \(first)-5007/5008", "ETag: \"1\""]
    }
    let second = receive(
      head(2000), Array(picture[2000...]), resuming: try beginning(), stop: 1500
    ).partial
    #expect(second?.count == 3500)
    let ending = receive(head(3500), Array(picture[3500...]), resuming: second)
    let response = try #require(try ending.result?.get())
    #expect(response.body.bytes == picture)
    #expect(response.type == .jpeg)
  }

  @Test func `the whole picture instead of the rest replaces the beginning`() throws {
    let changed = TestPicture.png
    let ending = receive(
      ["HTTP/1.1 200 OK", "Content-Length: \(changed.count)", "ETag: \"2\""], changed,
      resuming: try beginning())
    #expect(try ending.result?.get().body.bytes == changed)
    // Stopped again, it is the new one that can be resumed.
    let partial = receive(
      ["HTTP/1.1 200 OK", "Content-Length: \(changed.count)", "ETag: \"2\""], changed,
      resuming: try beginning(), stop: 10
    ).partial
    #expect(partial?.count == 10)
    #expect(partial?.validator == "\"2\"")
  }

  @Test(arguments: [
    ["Content-Range: bytes 1999-5007/5008", "ETag: \"1\""],
    ["Content-Range: bytes 2001-5007/5008", "ETag: \"1\""],
    ["Content-Range: bytes 0-5007/5008", "ETag: \"1\""],
    ["Content-Range: bytes 2000-5008/5009", "ETag: \"1\""],
    ["Content-Range: bytes 2000-5007/*", "ETag: \"1\""],
    ["Content-Range: bytes 2000-5008/5008", "ETag: \"1\""],
    ["Content-Range: bytes 5007-2000/5008", "ETag: \"1\""],
    ["Content-Range: bytes */5008", "ETag: \"1\""],
    ["Content-Range: bits 2000-5007/5008", "ETag: \"1\""],
    ["Content-Range: bytes 99999999999999999999-5007/5008", "ETag: \"1\""],
    ["Content-Range: ", "ETag: \"1\""], ["ETag: \"1\""],
    ["Content-Range: bytes 2000-5007/5008", "ETag: \"2\""],
    ["Content-Range: bytes 2000-5007/5008", "ETag: W/\"1\""],
    ["Content-Range: bytes 2000-5007/5008"],
    ["Content-Range: bytes 2000-5007/5008", "ETag: \"1\"", "Content-Length: 9"],
    ["Content-Range: bytes 2000-5007/5008", "ETag: \"1\"", "Content-Encoding: gzip"],
    ["Content-Range: bytes 2000-5007/5008", "ETag: \"1\"", "Content-Type: multipart/byteranges"],
  ])
  func `what is not surely the rest is refused, and asked for anew at once`(lines: [String]) throws
  {
    for body in [Array(picture[2000...]), []] {
      let ending = receive(["HTTP/1.1 206 OK"] + lines, body, resuming: try beginning())
      #expect(ending.wasStopped == !body.isEmpty)
      guard case .failure(let failure) = ending.result else {
        Issue.record("a success of \(lines)")
        return
      }
      #expect(failure.error.code == .incompleteBody)
      #expect(failure.isRetriable && failure.isRetriableAtOnce)
    }
  }

  @Test func `the rest must come from where the beginning came from`() throws {
    let head = ["HTTP/1.1 206 OK", "Content-Range: bytes 2000-5007/5008", "ETag: \"1\""]
    let rest = Array(picture[2000...])
    let sources: [String?] = [nil, "http://a.test/", "http://b.test/"]
    for first in sources {
      for second in sources {
        let ending = receive(head, rest, resuming: try beginning(source: first), source: second)
        #expect((try? ending.result?.get().body.bytes) == (first == second ? picture : nil))
      }
    }
  }

  @Test func `an unsatisfiable range is asked for anew at once`() throws {
    let ending = receive(
      ["HTTP/1.1 416 No", "Content-Range: bytes */9"], Array("no".utf8), resuming: try beginning())
    guard case .failure(let failure) = ending.result else {
      Issue.record("a success")
      return
    }
    #expect(failure.isRetriable && failure.isRetriableAtOnce)
    // Without anything to resume, it is an answer like others.
    guard case .failure(let plain) = receive(["HTTP/1.1 416 No"], []).result else {
      Issue.record("a success")
      return
    }
    #expect(plain.error.code == .status(416))
    #expect(!plain.isRetriable)
  }

  @Test func `a rest that ends too soon is incomplete`() throws {
    for last in [5007, 4000] {
      let head = ["HTTP/1.1 206 OK", "Content-Range: bytes 2000-\(last)/5008", "ETag: \"1\""]
      let ending = receive(head, Array(picture[2000..<4000]), resuming: try beginning())
      guard case .failure(let failure) = ending.result else {
        Issue.record("a success")
        return
      }
      #expect(failure.error.code == .incompleteBody)
      #expect(failure.isRetriable && !failure.isRetriableAtOnce)
      #expect(
        failure.error.message == "the body ended after 4000 of 5008 bytes: \(Self.address)")
    }
  }

  @Test func `a rest longer than announced is refused`() throws {
    let head = ["HTTP/1.1 206 OK", "Content-Range: bytes 2000-5007/5008", "ETag: \"1\""]
    let ending = receive(head, Array(picture[2000...]) + [1], resuming: try beginning())
    #expect((try? ending.result?.get()) == nil)
  }

  @Test(arguments: [
    ([], true), (["HTTP/1.1 503 No"], true), (["HTTP/1.1 429 No"], true),
    (["HTTP/1.1 302 Over there"], true), (["HTTP/1.1 404 No"], false),
    (["HTTP/1.1 416 No"], false), (["HTTP/1.1 304 No"], false),
  ])
  func `a beginning survives answers that say nothing of it`(head: [String], survives: Bool) throws
  {
    var receiver = ResponseReceiver(
      FetchRequest(Self.address), limit: 1 << 20, beginning: try beginning())
    for line in head + (head.isEmpty ? [] : [""]) {
      _ = Array("\(line)\r\n".utf8).withUnsafeBytes { receiver.didReceive(header: $0) }
    }
    let partial = receiver.takePartial(from: nil)
    #expect((partial != nil) == survives)
    #expect(partial?.takeBuilder().count == (survives ? 2000 : nil))
  }

  @Test(arguments: [
    ["Content-Length: 5008", "Content-Length: 2000"],
    ["Content-Length: 2000", "Content-Length: 5008"], ["Content-Length: 2000, 5008"],
    ["Content-Length: 2000,"], ["Content-Length: 2000 5008"], ["Content-Length: -2000"],
  ]) func `a length that contradicts itself is none`(lengths: [String]) throws {
    let head = ["HTTP/1.1 200 OK", "ETag: \"1\""] + lengths
    let ending = receive(head, Array(picture[..<2000]))
    guard case .failure(let failure) = ending.result else {
      Issue.record("a success")
      return
    }
    #expect(failure.error.code == .incompleteBody)
    #expect(receive(head, picture, stop: 1000).partial == nil)
    #expect(try receive(head, picture).result?.get().body.bytes == picture)
  }

  @Test(arguments: [
    ["Content-Length: 5008", "Content-Length: 5008"], ["Content-Length: 5008, 5008 ,5008"],
  ]) func `a length that is said twice is one`(lengths: [String]) {
    let ending = receive(["HTTP/1.1 200 OK", "ETag: \"1\""] + lengths, picture, stop: 1000)
    #expect(ending.partial?.total == picture.count)
  }

  @Test(arguments: [304, 416])
  func `a picture whose rest is refused is asked for as a whole`(status: Int) throws {
    let ending = receive(["HTTP/1.1 \(status) No", "ETag: \"1\""], [], resuming: try beginning())
    guard case .failure(let failure) = ending.result else {
      Issue.record("a success")
      return
    }
    #expect(failure.isRetriableAtOnce)
  }

  // MARK: - Gzip

  @Test func `gzip is unwrapped twice, and no more`() throws {
    let head = ["HTTP/1.1 200 OK"]
    let once = gzipped(picture)
    for wrapped in [once, gzipped(once)] {
      let ending = receive(head + ["Content-Length: \(wrapped.count)"], wrapped)
      #expect(try ending.result?.get().body.bytes == picture)
      #expect(try receive(head, wrapped).result?.get().body.bytes == picture)
      guard case .failure(let failure) = receive(head, Array(wrapped.dropLast())).result else {
        Issue.record("a success")
        return
      }
      #expect(failure.error.code == .incompleteBody)
    }
    guard case .failure(let failure) = receive(head, gzipped(gzipped(once))).result else {
      Issue.record("a success")
      return
    }
    #expect(failure.error.code == .notAnImage)
  }

  @Test func `the end of gzip data does not prove that the picture in it is whole`() throws {
    let half = Array(picture[..<2000])
    for body in [gzipped(half), gzipped(gzipped(half))] {
      for head in [[], ["Transfer-Encoding: chunked"]] {
        guard case .failure(let failure) = receive(["HTTP/1.1 200 OK"] + head, body).result else {
          Issue.record("a success")
          return
        }
        #expect(failure.error.code == .incompleteBody)
      }
    }
    // A proxy can compress piece by piece.
    let pieces = gzipped(half) + gzipped(Array(picture[2000...]))
    #expect(try receive(["HTTP/1.1 200 OK"], pieces).result?.get().body.bytes == picture)
  }

  // MARK: - Random answers

  /// A server whose picture changes and that keeps the rules, or breaks them.
  private struct NaiveServer {
    var version = 0
    var pictures: [[UInt8]] = []
    var generator: SeededGenerator

    mutating func change() {
      let filler = Int.random(in: 1...400, using: &generator)
      var picture = TestPicture.jpeg(filler: filler)
      for index in 6..<picture.count - 2 {
        picture[index] = .random(in: 0..<0xFF, using: &generator)
      }
      pictures.append(picture)
      version = pictures.count - 1
    }

    var etag: String { "\"\(version)\"" }
    var picture: [UInt8] { pictures[version] }

    /// The answer to a request for everything, or for what follows `partial`.
    mutating func answer(_ partial: PartialBody?, isHonest: Bool) -> ([String], [UInt8]) {
      let total = picture.count
      guard let partial, !isHonest || partial.validator == etag else {
        return (["HTTP/1.1 200 OK", "Content-Length: \(total)", "ETag: \(etag)"], picture)
      }
      var first = partial.count
      var announced = total
      var tag = etag
      if !isHonest {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: first = Int.random(in: 0..<total, using: &generator)
        case 1: announced += 1
        case 2: tag = "\"none\""
        case 3: return (["HTTP/1.1 416 No"], [])
        default: break
        }
      }
      guard first < total else { return (["HTTP/1.1 416 No"], []) }
      let head = [
        "HTTP/1.1 206 OK", "Content-Range: bytes \(first)-\(announced - 1)/\(announced)",
        "ETag: \(tag)",
      ]
      return (head, Array(picture[first...]))
    }
  }

  @Test func `whatever the server does, a picture is one of its pictures`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    var server = NaiveServer(generator: SeededGenerator(seed: seed ^ 1))
    server.change()
    var partial: PartialBody?
    var counts = (whole: 0, continued: 0, refused: 0, stopped: 0)
    for step in 0..<20_000 {
      if Int.random(in: 0..<8, using: &generator) == 0 { server.change() }
      let isHonest = Int.random(in: 0..<4, using: &generator) != 0
      let hadCount = partial?.count
      let wasCurrent = partial?.validator == server.etag
      let (head, body) = server.answer(partial, isHonest: isHonest)
      let stop =
        Bool.random(using: &generator) ? Int.random(in: 0...body.count, using: &generator) : nil
      let ending = receive(
        head, body, resuming: partial, stop: stop,
        piece: Int.random(in: 1...200, using: &generator))
      partial = ending.partial
      switch ending.result {
      case .success(let response):
        #expect(response.body.bytes == server.picture, "seed \(seed), step \(step)")
        if head[0].contains("206") { counts.continued += 1 } else { counts.whole += 1 }
      case .failure: counts.refused += 1
      case nil: counts.stopped += 1
      }
      if isHonest, stop == nil, hadCount == nil || wasCurrent {
        #expect((try? ending.result?.get()) != nil, "seed \(seed), step \(step)")
      }
    }
    #expect(counts.whole > 1000 && counts.continued > 1000, "seed \(seed)")
    #expect(counts.refused > 100 && counts.stopped > 1000, "seed \(seed)")
  }
}
