import PosterCache
import PosterServer

/// A server of the posters behind a slow link: nginx at the far end of a ``ShapedLink``, or the demo
/// origin with its own shaping where no link can be made.
struct DistantServer {
  /// Scheme, host and port; HTTP/1.1.
  let base: String
  /// The same over TLS with HTTP/2, where that can be had.
  let secureBase: String?
  /// The authority to be trusted for ``secureBase``.
  let authoritiesFile: String?
  /// How the link is made, as a sentence.
  let description: String
  /// In bits a second.
  let bitsPerSecond: Double
  let roundTripSeconds: Double

  private let kind: Kind

  private enum Kind {
    case link(ShapedLink, WebServer)
    case origin(DemoOrigin)
  }

  /// Starts a server of `names`.
  init(
    _ names: [String], megabits: Double, milliseconds: Int, _ context: BenchContext
  ) throws {
    bitsPerSecond = megabits * 1e6
    roundTripSeconds = Double(milliseconds) / 1e3
    let reason: String
    switch (context.options.peers.find(.link), Command.find("nginx")) {
    case (nil, _): reason = "Benchmarks/peers/install has not built what makes one"
    case (_, nil): reason = "nginx is not installed"
    case (let program?, let nginx?):
      do {
        let link = try ShapedLink(program, megabits: megabits, milliseconds: milliseconds)
        let server: WebServer
        do {
          server = try WebServer(
            nginx, root: context.corpus.root, names: names,
            directory: try context.disk.makeNew("nginx"), link: link)
        } catch {
          link.remove()
          throw error
        }
        base = server.base
        secureBase = server.secureBase
        authoritiesFile = server.authoritiesFile
        description = """
          An nginx at the far end of a link of \(Int(megabits)) Mbit/s with a round trip of \
          \(milliseconds) ms: two network namespaces, a relay that delays, a token bucket with a \
          queue of 200 ms, and the kernel's TCP (cubic, nothing remembered between connections).
          """
        kind = .link(link, server)
        return
      } catch {
        reason = "\(error)"
      }
    }
    var configuration = DemoOrigin.Configuration()
    configuration.latencyMilliseconds = milliseconds
    configuration.bytesPerSecond = Int(megabits * 125_000)
    configuration.requiresCredential = false
    let origin = try DemoOrigin(configuration)
    base = "http://127.0.0.1:\(origin.port)"
    secureBase = nil
    authoritiesFile = nil
    description = """
      **No link could be made here (\(reason))**, so this is the demo origin, which shares \
      \(Int(megabits)) Mbit/s among its answers, delays each by \(milliseconds) ms and the first of \
      each connection by twice that. There is no slow start and no TLS.
      """
    kind = .origin(origin)
  }

  /// Ends the server and the link.
  func stop() {
    switch kind {
    case .link(let link, let server):
      server.stop()
      link.remove()
    case .origin(let origin): origin.shutdown()
    }
  }

  /// `command`, to be run where the server is far away.
  func atClient(_ command: Command) -> Command {
    if case .link(let link, _) = kind { link.atClient(command) } else { command }
  }

  /// The sum of the bodies of `names`: the demo origin draws its own.
  func bytes(of names: [String], _ corpus: PosterCorpus) -> Int {
    switch kind {
    case .link: corpus.sizes.prefix(names.count).reduce(0, +)
    case .origin: names.reduce(0) { $0 + DemoPoster.encode(name: $1, size: .w342).count }
    }
  }

  /// How long `bytes` take once the link is busy: in packets as full as they can be (1,500 bytes, of
  /// which 52 are the headers of IP and TCP) unless the origin shapes, which counts bodies only.
  func seconds(forBytes bytes: Int) -> Double {
    let overhead = if case .link = kind { 1500.0 / 1448 } else { 1.0 }
    return Double(bytes) * 8 * overhead / bitsPerSecond
  }
}
