import Glibc
import PosterCache

/// What comes over the network.
extension CountedWork {
  /// The names of the two phases; what a transfer takes is the difference.
  static let (few, many) = ("few", "many")

  func transfers(_ phases: inout CountedPhases, _ kind: Kind) async throws {
    let addresses = try TextFile.lines(try value("--list"))
    guard addresses.count >= Self.manyTransfers else { throw BenchError("the list is too short") }
    // What libraries do once, they have done before the first phase.
    try await transfer(&phases, kind, "first", Array(addresses.prefix(Self.connections)))
    for (name, count) in [(Self.few, Self.fewTransfers), (Self.many, Self.manyTransfers)] {
      try await transfer(&phases, kind, name, Array(addresses.prefix(count)))
    }
  }

  private func transfer(
    _ phases: inout CountedPhases, _ kind: Kind, _ name: String, _ addresses: [String]
  ) async throws {
    let authorities = values["--authorities"]
    var fetching = FetchConfiguration()
    fetching.connectionsPerHost = Self.connections
    fetching.certificateAuthoritiesFile = authorities
    switch kind {
    case .fetch:
      let requests = try addresses.map {
        FetchRequest(try PosterAddress($0), priority: .background)
      }
      try phases.measure(name, addresses.count) {
        _ = try ContestantProgram.fetch(requests, fetching)
      }
    case .loop:
      try phases.measure(name, addresses.count) {
        _ = try BareCurlLoop.fetch(
          addresses, connections: Self.connections, authoritiesFile: authorities)
      }
    default:
      let directory = "\(try value("--to"))/\(name)"
      try await phases.measureTasks(name, addresses.count) {
        try await ContestantProgram.warm(addresses, into: directory, fetching)
      }
    }
  }
}
