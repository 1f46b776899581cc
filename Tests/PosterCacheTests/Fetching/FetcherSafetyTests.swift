import TestSupport
import Testing

@testable import PosterCache

/// Where transfers go and do not go. Public names are made up: `resolve` says where they lead, as a
/// name server would.
@Suite(.timeLimit(.minutes(1)))
struct FetcherSafetyTests {
  /// A configuration in which `names` lead to loopback, for a server on `port`.
  private func configuration(_ names: [String], port: Int) -> FetchConfiguration {
    var configuration = FetchConfiguration.once
    configuration.resolve = names.map { "\($0):\(port):127.0.0.1" }
    return configuration
  }

  private func outcome(
    _ address: String, _ configuration: FetchConfiguration, kind: FetchRequest.Kind = .picture
  ) throws -> Completions.Outcome {
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    return try fetcher.outcome(of: address, kind: kind)
  }

  @Test func `a public name must not lead to this machine unless that is allowed`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = configuration(["images.example"], port: server.port)
    let address = "http://images.example:\(server.port)/a"
    let refused = try outcome(address, configuration)
    #expect(refused.code == .forbiddenAddress)
    #expect(
      refused.message
        == "images.example is a public name but leads to 127.0.0.1, a private address: \(address)")
    // Not a byte was sent.
    #expect(server.requests.isEmpty)
    configuration.allowsPrivateAddresses = true
    #expect(try outcome(address, configuration).response?.status == 200)
  }

  @Test func `a public name that leads to this machine is not tried again`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = configuration(["images.example"], port: server.port)
    configuration.tries = 3
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: "http://images.example:\(server.port)/a")
    #expect(outcome.code == .forbiddenAddress)
    #expect(fetcher.statistics.transfersStarted == 1)
  }

  @Test(arguments: [
    "127.0.0.1", "localhost", "127.1", "a.localhost", "nas", "nas.local", "demo.test",
  ])
  func `what is private by its own name may be asked for`(host: String) throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    let configuration = configuration(
      ["a.localhost", "nas", "nas.local", "demo.test"], port: server.port)
    #expect(try outcome("http://\(host):\(server.port)/a", configuration).response?.status == 200)
  }

  @Test func `what the configuration connects elsewhere may be asked for`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = configuration(["images.example"], port: server.port)
    for entry in ["images.example:\(server.port)", ":\(server.port)", "images.example:", ":"] {
      configuration.connectTo = ["\(entry):127.0.0.1:\(server.port)"]
      let address = "http://images.example:\(server.port)/a"
      #expect(try outcome(address, configuration).response?.status == 200, "\(entry)")
    }
    configuration.connectTo = ["other.example:\(server.port):127.0.0.1:\(server.port)"]
    let address = "http://images.example:\(server.port)/a"
    #expect(try outcome(address, configuration).code == .forbiddenAddress)
  }

  @Test(arguments: [
    ("localhost", "127.0.0.1", true), ("127.0.0.1", "localhost", true), ("localhost", "nas", true),
    ("localhost", "images.example", true), ("localhost", "[::ffff:127.0.0.1]", true),
  ])
  func `a redirect may stay on this machine`(first: String, second: String, works: Bool) throws {
    let port = Monitor(0)
    let server = ScriptedServer { request in
      guard request.target == "/a" else { return [.response(body: TestPicture.png)] }
      return [.response(302, ["Location: http://\(second):\(port.withLock { $0 })/b"])]
    }
    defer { server.stop() }
    port.withLock { $0 = server.port }
    let configuration = configuration(["nas", "images.example"], port: server.port)
    let outcome = try outcome("http://\(first):\(server.port)/a", configuration)
    #expect(outcome.response?.status == 200, "\(outcome.message)")
  }

  @Test func `a credential does not follow a redirect, nor does a cookie exist`() throws {
    let other = ScriptedServer { request in
      request.target == "/a"
        ? [.response(302, ["Location: /b", "Set-Cookie: id=1; Path=/"])]
        : [.response(body: TestPicture.png)]
    }
    defer { other.stop() }
    let target = "http://other.test:\(other.port)/a"
    let server = ScriptedServer { _ in
      [.response(302, ["Location: \(target)", "Set-Cookie: id=2; Domain=test; Path=/"])]
    }
    defer { server.stop() }
    var configuration = configuration(["other.test"], port: other.port)
    configuration.resolve.append("images.test:\(server.port):127.0.0.1")
    let outcome = try outcome(
      "http://images.test:\(server.port)/a", configuration,
      kind: .page(.bearerToken("eyJ.secret")))
    #expect(outcome.response?.status == 200)
    #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer eyJ.secret"])
    #expect(other.requests.count == 2)
    for request in server.requests + other.requests {
      #expect(request.headers["cookie"] == nil)
    }
    for request in other.requests { #expect(request.headers["authorization"] == nil) }
  }

  @Test func `where IPv6 is dead, IPv4 serves`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = FetchConfiguration.once
    configuration.resolve = ["images.test:\(server.port):[::1],127.0.0.1"]
    let outcome = try outcome("http://images.test:\(server.port)/a", configuration)
    #expect(outcome.response?.status == 200, "\(outcome.message)")
  }

  // MARK: - Proxies

  /// A proxy that answers everything itself, as its own log shows.
  private func proxy() -> ScriptedServer {
    ScriptedServer { request in
      request.target.hasSuffix("/away")
        ? [.response(302, ["Location: http://192.168.1.1/b"])]
        : [.response(body: TestPicture.png)]
    }
  }

  @Test func `a proxy serves pictures and lists, also for public names`() throws {
    let proxy = proxy()
    defer { proxy.stop() }
    var configuration = FetchConfiguration.once
    configuration.proxy = "http://127.0.0.1:\(proxy.port)"
    for kind in [FetchRequest.Kind.picture, .page(nil)] {
      let outcome = try outcome("http://images.example/a", configuration, kind: kind)
      #expect(outcome.response?.body.bytes == TestPicture.png, "\(outcome.message)")
    }
    #expect(
      proxy.requests.map(\.target) == ["http://images.example/a", "http://images.example/a"])
  }

  @Test func `behind a proxy, a redirect must not lead to private addresses either`() throws {
    let proxy = proxy()
    defer { proxy.stop() }
    var configuration = FetchConfiguration.once
    configuration.proxy = "http://127.0.0.1:\(proxy.port)"
    let outcome = try outcome("http://images.example/away", configuration)
    #expect(outcome.code == .forbiddenRedirect)
    #expect(
      outcome.message
        == "redirected to 192.168.1.1, a private address that must not be reached from there: "
        + "http://images.example/away")
    #expect(proxy.requests.count == 1)
  }
}
