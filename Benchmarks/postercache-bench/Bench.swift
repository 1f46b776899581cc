import Glibc

/// The benchmark: `postercache-bench [suite ...]`.
@main
enum Bench {
  static func main() async {
    // Everything is on this machine: nobody is to go through a proxy that the environment names.
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(name) }
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
