import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ImageHostConfigurationTests {
  @Test func `base and sizes are the configuration's`() throws {
    let host = try host(
      """
      {"images":{"base_url":"http://i.test/t/p/","secure_base_url":"https://i.test/t/p/",
        "poster_sizes":["w200","w400","original"],"backdrop_sizes":["w600"],
        "profile_sizes":["w45","h632"],"logo_sizes":["w1"],"still_sizes":["w2"]},
       "change_keys":["adult"]}
      """)
    #expect(host.base.canonical == "https://i.test/t/p/")
    #expect(host.sizes(of: .poster).map(\.rawValue) == ["w200", "w400", "original"])
    #expect(host.sizes(of: .backdrop).map(\.rawValue) == ["w600"])
    #expect(host.sizes(of: .profile).map(\.rawValue) == ["w45", "h632"])
    #expect(host.size(.w342, of: .poster).rawValue == "w400")
  }

  @Test(arguments: [
    (#""base_url":"http://i.test/p""#, "http://i.test/p"),
    (#""secure_base_url":null,"base_url":"http://i.test/""#, "http://i.test/"),
    (#""secure_base_url":7,"base_url":"http://i.test/""#, "http://i.test/"),
    (#""secure_base_url":"","base_url":"http://i.test/""#, "http://i.test/"),
    (#""secure_base_url":"ftp://i.test/","base_url":"http://i.test/""#, "http://i.test/"),
    (#""secure_base_url":"https://i.test/","base_url":{}"#, "https://i.test/"),
    (#""secure_base_url":"file:///etc/","base_url":"javascript:alert(1)""#, nil),
    (#""base_url":"https://user:5ec2e7@i.test/""#, nil),
    (#""base_url":null"#, nil), (#""poster_sizes":["w92"]"#, nil),
  ])
  func `the secure base comes first, and one of them must be an address`(
    fields: String, expected: String?
  ) throws {
    let text = #"{"images":{\#(fields)}}"#
    if let expected {
      #expect(try host(text) == ImageHost(PosterAddress(expected)))
    } else {
      let error = #expect(throws: PosterError.self) { try host(text) }
      #expect(error?.code == .malformedPage)
      #expect(error?.description.contains("5ec2e7") == false)
    }
  }

  @Test(arguments: [
    (
      #"["w92","w92","h50","x7","W342","original","w","w0","w9999999",null,7,{},["w5"],"original"]"#,
      ["w92", "h50", "original"]
    ),
    (#"["w2000"]"#, ["w2000"]),
    ("[]", nil), ("null", nil), (#""w92""#, nil), ("{}", nil), (#"["none"]"#, nil), ("[null]", nil),
  ])
  func `what is no size is left out, and a kind without any has TMDB's`(
    written: String, expected: [String]?
  ) throws {
    for (kind, key) in [
      (ImageKind.poster, "poster_sizes"), (.backdrop, "backdrop_sizes"),
      (.profile, "profile_sizes"),
    ] {
      let host = try host(#"{"images":{"base_url":"http://i.test/","\#(key)":\#(written)}}"#)
      let builtIn = ImageHost.tmdb.sizes(of: kind).map(\.rawValue)
      #expect(host.sizes(of: kind).map(\.rawValue) == expected ?? builtIn)
      for other in ImageKind.allCases where other != kind {
        #expect(host.sizes(of: other) == ImageHost.tmdb.sizes(of: other))
      }
    }
  }

  @Test(arguments: [
    "", "null", "7", "[]", "{}", "<html>", #"{"images":null}"#, #"{"images":[]}"#,
    #"{"images":{"base_url":"http://i.test/""#, #"{"page":1,"results":[]}"#,
    #"{"base_url":"http://i.test/"}"#,
  ])
  func `what is no configuration is malformed`(text: String) {
    let error = #expect(throws: PosterError.self) { try host(text) }
    #expect(error?.code == .malformedPage)
  }

  @Test func `nesting without end is malformed, not a crash`() {
    let text = String(repeating: #"{"images":"#, count: 100_000)
    #expect(throws: PosterError.self) { try host(text) }
  }

  @Test(arguments: [
    (
      401, #"{"status_code":7,"status_message":"Bad \#(Self.key)."}"#, PosterError.Code.unauthorized
    ),
    (200, #"{"status_code":3,"status_message":"Authentication failed."}"#, .unauthorized),
    (404, #"{"status_code":34,"status_message":"Not found."}"#, .status(404)),
    (429, "", .status(429)), (503, "<html>", .status(503)), (200, "<html>", .malformedPage),
    (200, #"{"status_code":25}"#, .status(429)),
    // A configuration under another status is none.
    (500, #"{"images":{"base_url":"http://i.test/"}}"#, .status(500)),
  ])
  func `a refusal of the configuration is told as such`(
    status: Int, body: String, code: PosterError.Code
  ) async throws {
    let error = await #expect(throws: PosterError.self) {
      _ = try await ImageHost.loaded(credential: .apiKey(Self.key)) { _ throws(PosterError) in
        PageResponse(status: status, body: PosterBody(copying: body.utf8))
      }
    }
    #expect(error?.code == code)
    #expect(error?.message.contains("configuration") == true || code == .malformedPage)
    #expect(error?.message.contains("list") == false)
    #expect(error?.description.contains(Self.key) == false)
  }

  @Test func `what is no configuration is asked for once more, past every cache`() async throws {
    let asked = Monitor<[PageRequest]>([])
    let host = try await ImageHost.loaded(credential: nil) { request throws(PosterError) in
      let isFirst = asked.withLock { requests in
        requests.append(request)
        return requests.count == 1
      }
      let text =
        isFirst ? #"{"images":{}}"# : #"{"images":{"base_url":"http://h.test/t/p/"}}"#
      return PageResponse(status: 200, body: PosterBody(copying: text.utf8))
    }
    #expect(try host == ImageHost(PosterAddress("http://h.test/t/p/")))
    let requests = asked.withLock { $0 }
    #expect(requests.map(\.mode) == [nil, .refresh])
    #expect(requests.map(\.leastLifetimeSeconds) == [259_200, 259_200])
  }

  @Test func `the configuration is asked for once in three days, below the API's path`()
    async throws
  {
    let asked = Monitor<[PageRequest]>([])
    let host = try await ImageHost.loaded(
      api: PosterAddress("http://h.test/3/"), credential: .bearerToken("eyJ")
    ) { request throws(PosterError) in
      asked.withLock { $0.append(request) }
      return PageResponse(
        status: 200,
        body: PosterBody(copying: #"{"images":{"base_url":"http://h.test/t/p/"}}"#.utf8))
    }
    #expect(try host == ImageHost(PosterAddress("http://h.test/t/p/")))
    let requests = asked.withLock { $0 }
    #expect(requests.map(\.address.canonical) == ["http://h.test/3/configuration"])
    #expect(requests.map(\.credential) == [.bearerToken("eyJ")])
    #expect(requests.map(\.leastLifetimeSeconds) == [259_200])
    let error = await #expect(throws: PosterError.self) {
      _ = try await ImageHost.loaded(credential: nil) { _ throws(PosterError) in
        throw PosterError(.timedOut, "too slow")
      }
    }
    #expect(error?.code == .timedOut)
  }

  private static let key = "0123456789abcdef0123456789abcdef"

  private func host(_ text: String) throws(PosterError) -> ImageHost {
    try ImageHost(tmdbConfiguration: PosterBody(copying: text.utf8))
  }
}
