import CCurl
import CLMDB
import CPNG
import CWebP
import CXXHash
import FoundationEssentials
import Glibc
import PosterCache

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
      try await run(options)
    } catch {
      Console.error("postercache-bench: \(error)")
      exit((error as? BenchError)?.status ?? 1)
    }
  }

  private static func run(_ options: BenchOptions) async throws {
    let disk = try WorkDirectory(in: options.diskDirectory)
    defer { disk.remove() }
    let memory = try? WorkDirectory(in: "/dev/shm")  // a machine without it has one target less
    defer { memory?.remove() }
    let posterCount = options.suites.contains { $0.needsPosters } ? options.posterCount : 0
    let corpus = try PosterCorpus(
      root: try options.postersDirectory ?? disk.makeEmpty("posters"), count: posterCount,
      progress: BenchContext.progress)
    let context = BenchContext(options: options, corpus: corpus, disk: disk, memory: memory)
    var report = Report(
      arguments: Array(CommandLine.arguments.dropFirst()),
      machine: Machine(versions: versions(disk, options)), isQuick: options.isQuick)
    for suite in options.suites {
      report.suites.append(try await suite.init(context).run())
    }
    Console.output(MarkdownReport(report).text)
    if let file = options.jsonFile {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try TextFile.write(try encoder.encode(report), to: file)
    }
  }

  private static func versions(
    _ disk: WorkDirectory, _ options: BenchOptions
  ) -> [String: String] {
    var versions = [
      "postercache": postercacheVersion,
      "libcurl": String(cString: curl_version()),
      "LMDB": String(cString: mdb_version(nil, nil, nil)),
      "xxHash": "\(XXH_versionNumber())",
      "disk": disk.fileSystem,
    ]
    for name in ["curl", "wget2", "aria2c"] {
      versions[name] =
        Command.find(name).flatMap { Command($0, ["--version"]).firstLine() } ?? "not installed"
    }
    versions["nginx"] =
      Command.find("nginx").flatMap { Command($0, ["-v"]).firstLine() } ?? "not installed"
    let programs: [(name: String, command: Command?)] = [
      ("diskcache", options.peers.python(.pythonStores, ["--version"])),
      ("aiohttp", options.peers.python(.pythonWarm, ["--version"])),
      ("SQLite", options.peers.find(.stores).map { Command($0, ["--version"]) }),
      ("Pillow", options.peers.python(.thumbnails, ["--version"])),
      ("libvips", options.peers.find(.vips).map { Command($0, ["--version"]) }),
    ]
    for (name, command) in programs {
      versions[name] = command?.firstLine() ?? "not installed"
    }
    versions["libpng"] = PNG_LIBPNG_VER_STRING
    let webp = WebPGetDecoderVersion()
    versions["libwebp"] = "\(webp >> 16).\(webp >> 8 & 255).\(webp & 255)"
    return versions
  }
}
