import Glibc

/// What the figures were measured on.
struct Machine: Codable, Sendable {
  let processor: String
  let cores: Int
  let memoryBytes: Int
  let kernel: String
  let system: String
  /// Programs and libraries that took part, and their versions.
  let versions: [String: String]

  init(versions: [String: String]) {
    processor = Self.value(of: "model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown"
    cores = sysconf(CInt(_SC_NPROCESSORS_ONLN))
    memoryBytes = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
    kernel =
      (try? TextFile.lines("/proc/sys/kernel/osrelease").first).flatMap { $0 } ?? "unknown"
    system =
      Self.value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=")
      .map { String($0.filter { $0 != "\"" }) } ?? "unknown"
    self.versions = versions
  }

  /// The first value for `key` in a file of keys and values; `nil` where there is no such file.
  private static func value(of key: String, in path: String, separator: Character) -> String? {
    guard let lines = try? TextFile.lines(path) else { return nil }
    for line in lines {
      let parts = line.split(separator: separator, maxSplits: 1)
      guard parts.count == 2, parts[0].filter({ $0 != "\t" }) == key else { continue }
      return String(parts[1].drop { $0 == " " })
    }
    return nil
  }
}
