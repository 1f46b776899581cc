import Glibc
import PosterCache

/// The contests beside the main one: against those who are too slow for a long list, and with everything
/// there already.
extension WarmSuite {
  /// Whoever takes milliseconds for each poster gets fewer of them.
  func fewPosters(into target: WorkDirectory, from server: WebServer) async throws -> Contest {
    let list = try list(context.options.isQuick ? 25 : 100, into: target, from: server)
    let ours = Contestant(name: "PosterPipeline, a program of its own", role: .ours) {
      let directory = try target.makeEmpty("warm")
      WorkDirectory.settle()
      let sample = try Self.program(list, into: directory).run()
      try list.check(cacheIn: directory)
      return sample
    }
    let (rivals, absent) = try list.peers(context.options.peers).contestants(
      [.curl, .xargs, .urlSession, .foundation])
    let title = "Warm a short list onto \(target.fileSystem)"
    return Contest(
      title: title,
      conditions: """
        \(list.names.count) posters only, because `xargs` starts a curl for each and Foundation's `URLCache` \
        copies each body byte by byte. `URLSession` stores files, or fills a `URLCache` of 1 GiB on the disk \
        and an `NSCache` of 64 MiB in memory; on Linux it has not put these answers into its cache by itself, \
        so its program does.
        """,
      operations: 1, operationName: "list",
      results: try await context.rounds(5, quick: 2, contest: title).run([ours] + rivals),
      absent: absent, goals: [])
  }

  /// The same list once more, with everything stored already.
  func rerun(in target: WorkDirectory, from server: WebServer) async throws -> Contest {
    let list = try list(count, into: target, from: server)
    let directory = try target.makeNew("rerun-ours")
    _ = try Self.program(list, into: directory).run()
    var contestants = [
      Contestant(name: "PosterPipeline, a program of its own", role: .ours) {
        WorkDirectory.settle()
        let sample = try Self.program(list, into: directory).run()
        try list.check(cacheIn: directory)
        return sample
      }
    ]
    if access(context.options.command, X_OK) == 0 {
      let directory = try target.makeNew("rerun-command")
      _ = try command(server, cacheDirectory: directory).run()
      contestants.append(
        Contestant(name: "postercache warm, list pages kept", role: .ours) {
          WorkDirectory.settle()
          let sample = try command(server, cacheDirectory: directory).run()
          try list.check(cacheIn: directory)
          return sample
        })
    }
    let peers = list.peers(context.options.peers)
    var absent: [Absentee] = []
    for (peer, name) in [
      (Peers.Program.curl, "curl --parallel --time-cond"), (.wget2, "wget2 --timestamping"),
      (.aria2c, "aria2c --conditional-get"), (.aiohttp, "aiohttp, diskcache (Python)"),
    ] {
      guard !isTooSlow(peer, on: target) else {
        absent.append(Self.tooSlow(name))
        continue
      }
      let directory = try target.makeNew("rerun-\(peer.rawValue)")
      guard let command = try peers.command(peer, into: directory, isRerun: true) else {
        absent.append(Absentee(name: name, reason: "not installed"))
        continue
      }
      _ = try command.run()
      try peers.check(directory, peer)
      contestants.append(
        Contestant(name: name, role: .rival) {
          // Its file of options is shared.
          guard let command = try peers.command(peer, into: directory, isRerun: true) else {
            throw BenchError("\(name) is no longer installed")
          }
          WorkDirectory.settle()
          let sample = try command.run()
          try peers.check(directory, peer)
          return sample
        })
    }
    contestants.append(looking(list, in: target))
    let title = "Warm again, on \(target.fileSystem)"
    return Contest(
      title: title,
      conditions: """
        Everything is stored already and the server says that it is fresh for a year. We trust that: the \
        index is asked for each poster and the server for nothing, nor for the list pages, which are kept as \
        well. diskcache's program does not ask the server either, but knows nothing of freshness. The other \
        rivals cannot know it: they ask the server about each poster and are told (304) that it has not changed. \
        The limit is a `stat` of each file that the server has, in a running program.
        """,
      operations: 1, operationName: "list",
      results: try await context.rounds(9, quick: 3, contest: title).run(contestants),
      absent: absent, goals: [])
  }

  private func looking(_ list: List, in target: WorkDirectory) -> Contestant {
    let paths = list.names.map { context.corpus.path($0) }
    return Contestant(name: "a `stat` for each", role: .limit) {
      let stopwatch = Stopwatch()
      var bytes = 0
      for path in paths {
        var status = stat()
        guard stat(path, &status) == 0 else { throw BenchError(call: "stat", path) }
        bytes += Int(status.st_size)
      }
      let sample = stopwatch.sample()
      guard bytes == list.bytes else { throw BenchError("\(bytes) bytes are there") }
      return sample
    }
  }
}
