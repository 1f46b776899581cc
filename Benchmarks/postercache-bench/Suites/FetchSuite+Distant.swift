import PosterCache

/// The same behind a slow link, where connections and not processors decide.
extension FetchSuite {
  private static let megabits = 50.0
  private static let milliseconds = 50
  private static let posters = 60
  private static let distantConnections = [2, 4, 8, 16, 32]

  /// A plot, and the contests that are its points.
  func distant() async throws -> (contests: [Contest], plot: Plot) {
    let names = Array(context.corpus.names.prefix(Self.posters))
    let bytes = context.corpus.sizes.prefix(Self.posters).reduce(0, +)
    let server = try DistantServer(
      names, megabits: Self.megabits, milliseconds: Self.milliseconds, context)
    defer { server.stop() }
    let addresses = names.map { "\(server.base)/\(PosterCorpus.folder)/\($0)" }
    let list = "\(context.disk.path)/distant-addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    var contests: [Contest] = []
    for connections in Self.distantConnections {
      contests.append(
        try await contest(addresses, list, connections: connections, bytes: bytes, server))
    }
    return (
      contests,
      Self.plot(
        id: "fetch-connections-link",
        title: "Throughput by connections, \(Self.linkTitle), HTTP/1.1", horizontal: "connections",
        bytes: bytes, Self.distantConnections, contests)
    )
  }

  private static var linkTitle: String { "\(Int(megabits)) Mbit/s, \(milliseconds) ms" }

  private func contest(
    _ addresses: [String], _ list: String, connections: Int, bytes: Int, _ server: DistantServer
  ) async throws -> Contest {
    let values = [
      ("--list", list), ("--connections", "\(connections)"), ("--bytes", "\(bytes)"),
    ]
    func contestant(_ name: String, _ role: Contest.Role, _ command: Command) -> Contestant {
      Contestant(name: name, role: role) { try server.atClient(command).run() }
    }
    var contestants = [contestant(Self.ours, .ours, ContestantProgram.command("fetch", values))]
    var absent: [Absentee] = []
    if let curl = try curl(addresses, connections: connections, authorities: nil) {
      contestants.append(contestant(Self.curlName, .rival, curl))
    } else {
      absent.append(Absentee(name: Self.curlName, reason: "not installed"))
    }
    contestants.append(
      contestant(Self.bareName, .limit, ContestantProgram.command("loop", values)))
    let limit = "the link's limit, calculated"
    contestants.append(
      Contestant(name: limit, role: .limit) {
        Sample(
          seconds: 2 * server.roundTripSeconds + server.seconds(forBytes: bytes),
          processorSeconds: 0)
      })
    let title = "\(Self.linkTitle), \(connections) connections"
    return Contest(
      title: title,
      conditions: """
        \(addresses.count) posters (\(ByteSize(bytes: bytes))), each contestant a program of its own. \
        \(server.description) The limit is a round trip for connecting, one for the first answer, and \
        the bodies in full packets.
        """,
      operations: 1, operationName: "list",
      results: try await context.rounds(5, contest: title).run(contestants), absent: absent,
      goals: [
        Contest.Goal(text: "ahead of curl", against: [Self.curlName], ratio: 1)
      ])
  }
}
