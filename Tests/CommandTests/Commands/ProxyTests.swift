import PosterCache
import TestSupport
import Testing

/// Proxies that the environment names, as the command finds them.
@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
  /// The smallest PNG that passes as one.
  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    + [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]

  private func get(
    _ address: String, _ environment: [String: String], _ flags: [String] = []
  ) async -> PosterCacheBinary.Result {
    let directory = TemporaryDirectory()
    return await PosterCacheBinary.run(
      ["get", address, "--retries", "0", "--cache-dir", "\(directory.path)/cache"] + flags,
      environment: environment)
  }

  @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
  func `the environment's proxy is asked`(variable: String) async {
    let proxy = ScriptedServer { _ in [.response(body: Self.png)] }
    defer { proxy.stop() }
    let result = await get(
      "http://images.example/a.png", [variable: "http://127.0.0.1:\(proxy.port)"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.standardOutput == Self.png)
    #expect(proxy.requests.map(\.target) == ["http://images.example/a.png"])
  }

  @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy"])
  func `for https it is asked for a tunnel`(variable: String) async {
    let proxy = ScriptedServer { _ in [.response(403)] }
    defer { proxy.stop() }
    let result = await get(
      "https://images.example/a.png", [variable: "http://127.0.0.1:\(proxy.port)"])
    #expect(result.status == 4, "\(result.errors)")
    #expect(proxy.requests.first?.target == "images.example:443")
  }

  @Test(arguments: [true, false])
  func `no_proxy makes exceptions, also from the flag`(isFlag: Bool) async {
    let proxy = ScriptedServer { _ in [.response(body: Self.png)] }
    defer { proxy.stop() }
    let server = ScriptedServer { _ in [.response(body: Self.png)] }
    defer { server.stop() }
    let address = "http://127.0.0.1:\(proxy.port)"
    let result = await get(
      server.address("/a.png"),
      ["no_proxy": "other.example,127.0.0.0/8"].merging(isFlag ? [:] : ["http_proxy": address]) {
        $1
      }, isFlag ? ["--proxy", address] : [])
    #expect(result.status == 0, "\(result.errors)")
    #expect(server.requests.map(\.target) == ["/a.png"])
    #expect(proxy.requests.isEmpty)
  }

  @Test func `lists go through the proxy as well`() async {
    let proxy = ScriptedServer { _ in
      [.response(200, ["Content-Type: application/json"], body: Array("{\"results\":[]}".utf8))]
    }
    defer { proxy.stop() }
    let directory = TemporaryDirectory()
    _ = await PosterCacheBinary.run(
      [
        "warm", "--list", "trending", "--api", "http://api.example/3", "--retries", "0",
        "--images", "http://images.example/t/p/",
        "--cache-dir", "\(directory.path)/cache",
      ],
      environment: [
        "http_proxy": "http://127.0.0.1:\(proxy.port)",
        "TMDB_API_KEY": "5ec2e75ec2e75ec2e75ec2e75ec2e700",
      ])
    #expect(proxy.requests.first?.target.hasPrefix("http://api.example/3/trending/") == true)
  }
}
