import PosterCache
import PosterServer

/// `demo-origin`: the embedded origin on its own, until a signal ends it.
struct DemoOriginCommand {
  private let session: Session
  private let listener: Settings.DemoListener

  init(_ session: Session, _ listener: Settings.DemoListener) {
    self.session = session
    self.listener = listener
  }

  func run() async throws -> CommandStatus {
    var configuration = DemoOrigin.Configuration()
    configuration.address = listener.host
    configuration.port = listener.port
    configuration.latencyMilliseconds = listener.latencyMilliseconds
    configuration.bytesPerSecond = listener.bytesPerSecond
    configuration.requiresCredential = listener.requiresCredential
    configuration.faults = try listener.faults.map { text throws(PosterError) in
      guard let fault = Fault(text) else {
        throw FlagParser.usage(
          "--fault takes PATTERN=KIND such as /t/p/*=status:503#2, not \(text); kinds are"
            + " status:CODE, redirect:URL, html, drop, truncate:BYTES, stall, close, chunked,"
            + " header:NAME:VALUE, other, shift:BYTES, short:BYTES, unsatisfiable, each with #COUNT for the first requests of a path only"
        )
      }
      return fault
    }
    let origin = try DemoOrigin(configuration)
    defer { origin.shutdown() }
    let addresses = [("api", origin.api.canonical), ("images", origin.images.canonical)]
    // Clients cannot ask for what stands for every address, so that the others do not name it.
    let listening = [("listen", origin.listeningAddress)]
    if session.console.output.isJSON {
      try session.console.result(.object((addresses + listening).map { ($0.0, .string($0.1)) }))
    } else {
      let isNamed = origin.api.canonical.hasPrefix("http://\(origin.listeningAddress)/")
      let lines = addresses + [("try", command(for: origin))] + (isNamed ? [] : listening)
      try session.console.result(lines.map { "\($0.0.padded(to: 7)) \($0.1)\n" }.joined())
    }
    // Nothing is ever sent: this ends when the task is cancelled.
    let (ending, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in ending {}
    continuation.finish()
    return .interrupted
  }

  /// A line for a shell that warms the cache from `origin`.
  private func command(for origin: DemoOrigin) -> String {
    // Any key is accepted; it only has to look like one.
    let key =
      listener.requiresCredential ? "TMDB_API_KEY=\(String(repeating: "0", count: 32)) " : ""
    return
      "\(key)postercache warm --list trending --api \(origin.api.canonical)"
      + " --images \(origin.images.canonical)"
  }
}
