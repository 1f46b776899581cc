import Glibc
import PosterCache

/// How long the command takes to start and end, and to hand out a poster that is cached.
struct StartupSuite: Suite {
  static let name = "startup"
  static let abstract = "starting the command, and a cached poster by it, against other programs"

  /// What a start may take, in seconds.
  private static let budget = 0.020

  private let context: BenchContext
  /// Starts in a round.
  private let starts: Int

  init(_ context: BenchContext) {
    self.context = context
    starts = context.options.isQuick ? 4 : 20
  }

  func run() async throws -> SuiteReport {
    var report = SuiteReport(
      name: Self.name,
      summary: """
        Programs run one after the other, \(starts) times in a round: started by `posix_spawn`, their \
        output thrown away, waited for by `wait4`.
        """)
    guard access(context.options.command, X_OK) == 0 else {
      throw BenchError("there is no postercache at \(context.options.command)")
    }
    report.contests.append(try await starting())
    report.contests.append(try await firstPoster())
    return report
  }

  // MARK: - Contests

  private func starting() async throws -> Contest {
    let ours = "postercache --version"
    var (rivals, absent) = installed([
      ("curl --version", "curl", ["--version"]), ("wget2 --version", "wget2", ["--version"]),
      ("aria2c --version", "aria2c", ["--version"]),
    ])
    // Not whatever stands in front of an interpreter on the search path, such as a script that chooses one.
    let python = "python3 -c pass"
    if let path = context.options.peers.find(.python) {
      rivals.append((python, Command(path, ["-c", "pass"])))
    } else {
      absent.append(Absentee(name: python, reason: "not installed"))
    }
    let results = try await context.rounds(15, contest: "start").run(
      [contestant(ours, .ours, Command(context.options.command, ["--version"]))]
        + rivals.map { contestant($0.name, .rival, $0.command) }
        + [contestant("/bin/true", .limit, Command("/bin/true"))])
    let median = Spread(results[0].samples.map { $0.seconds / Double(starts) })?.median ?? 0
    return Contest(
      title: "From start to end",
      conditions: """
        What every call of the command costs before it does anything; \
        \(median <= Self.budget ? "within" : "**beyond**") the budget of 20 ms. The rivals do the least \
        that they can be asked for. `/bin/true` is a process that does nothing.
        """,
      operations: starts, operationName: "start", results: results, absent: absent,
      goals: [
        Contest.Goal(
          text: "no slower to start than curl", against: ["curl --version"], ratio: 1)
      ])
  }

  /// A poster that is there, in the cache or as a file.
  private func firstPoster() async throws -> Contest {
    let posters = try context.corpus.load(host: "demo.test")
    let poster = posters[context.corpus.typical]
    let name = context.corpus.names[context.corpus.typical]
    let directory = try context.disk.makeEmpty("startup-cache")
    let cache = try DiskCache(directory: directory)
    try CacheFiller.insert(posters, into: cache)
    cache.close()
    let address = poster.metadata.address.canonical
    let file = context.corpus.path(name)
    var (rivals, absent) = installed([
      ("curl file://", "curl", ["-q", "--silent", "--fail", "file://\(file)"])
    ])
    let python = "diskcache (Python)"
    if let interpreter = context.options.peers.find(.python) {
      let store = try context.disk.makeEmpty("startup-diskcache")
      let fill = Command(
        interpreter,
        [
          "-c",
          "import sys, diskcache; c = diskcache.Cache(sys.argv[1]); "
            + "[c.set(n, open(sys.argv[2] + n, 'rb').read()) for n in sys.argv[3:]]",
          store, "\(context.corpus.root)/\(PosterCorpus.folder)/",
        ] + context.corpus.names)
      do {
        _ = try fill.run()
        rivals.append(
          (
            python,
            Command(
              interpreter,
              [
                "-c",
                "import sys, diskcache; "
                  + "sys.stdout.buffer.write(diskcache.Cache(sys.argv[1])[sys.argv[2]])",
                store, name,
              ])
          ))
      } catch {
        absent.append(Absentee(name: python, reason: "\(error)"))
      }
    } else {
      absent.append(Absentee(name: python, reason: "not installed"))
    }
    let get = Command(
      context.options.command, ["get", "--quiet", "--cache-dir", directory, address])
    guard try get.output().count == poster.body.count else {
      throw BenchError("the command does not hand out a cached poster")
    }
    let results = try await context.rounds(15, contest: "first poster").run(
      [contestant("postercache get", .ours, get)]
        + rivals.map { contestant($0.name, .rival, $0.command) }
        + [contestant("cat", .limit, Command("/bin/cat", [file]))])
    return Contest(
      title: "A cached poster, from the start of a program to its end",
      conditions: """
        \(context.corpus.names.count) posters are stored; one of \(poster.body.count) bytes is written \
        to the standard output, everything in the page cache. Ours opens the cache, looks into the \
        index, checks the poster and its freshness, and notes the use; so does diskcache, but for \
        checking. curl and `cat` are told where the file is and look up nothing.
        """,
      operations: starts, operationName: "poster", results: results, absent: absent,
      goals: [Contest.Goal(text: "ahead of diskcache", against: [python], ratio: 1)])
  }

  // MARK: - Programs

  /// Those of `programs` that are installed, by the names the tables call them, and those that are not.
  private func installed(
    _ programs: [(name: String, program: String, arguments: [String])]
  ) -> (there: [(name: String, command: Command)], absent: [Absentee]) {
    var there: [(name: String, command: Command)] = []
    var absent: [Absentee] = []
    for (name, program, arguments) in programs {
      if let path = Command.find(program) {
        there.append((name, Command(path, arguments)))
      } else {
        absent.append(Absentee(name: name, reason: "not installed"))
      }
    }
    return (there, absent)
  }

  private func contestant(
    _ name: String, _ role: Contest.Role, _ command: Command
  ) -> Contestant {
    Contestant(name: name, role: role) {
      var total = Sample(seconds: 0, processorSeconds: 0)
      for _ in 0..<starts {
        let sample = try command.run()
        total.seconds += sample.seconds
        total.processorSeconds += sample.processorSeconds
      }
      return total
    }
  }
}
