import Glibc

/// The benchmark: `postercache-bench [suite ...]`.
@main
enum Bench {
  static func main() async {
    // Everything is on this machine: nobody is to go through a proxy that the environment names, or to have a
    // credential but ours.
    let proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
    for name in proxies + proxies.map({ $0.uppercased() }) + ["TMDB_TOKEN"] { unsetenv(name) }
    // Who reads the output may go away; what was measured is still to be kept.
    signal(SIGPIPE, SIG_IGN)
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == ContestantProgram.word {
        return try await ContestantProgram(arguments: arguments.dropFirst()).run()
      }
      if arguments.first == CacheProbe.word { return try CacheProbe.main(arguments[...]) }
      guard let options = try BenchOptions(arguments) else {
        return Console.output(BenchOptions.help)
      }
      try await BenchRun(options, arguments: arguments).run()
    } catch {
      Console.error("postercache-bench: \(error)")
      exit((error as? BenchError)?.status ?? 1)
    }
  }
}
