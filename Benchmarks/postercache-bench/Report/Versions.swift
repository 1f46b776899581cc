import CCurl
import CLMDB
import CPNG
import CWebP
import CXXHash
import PosterCache

/// Which programs and libraries take part in a run.
enum Versions {
  /// By name; those of programs that are missing say so.
  static func all(disk: WorkDirectory, _ options: BenchOptions) -> [String: String] {
    var versions = [
      "postercache": postercacheVersion,
      "libcurl": String(cString: curl_version()),
      "LMDB": String(cString: mdb_version(nil, nil, nil)),
      "xxHash": "\(XXH_versionNumber())",
      "disk": disk.fileSystem,
    ]
    versions["Swift"] =
      Command.find("swift").flatMap { Command($0, ["--version"]).firstLine() } ?? "not installed"
    for name in ["curl", "wget2", "aria2c", "xargs", "strace", "valgrind"] {
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
