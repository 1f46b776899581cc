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

  /// Uses as much memory as a run will once, before anything is measured.
  ///
  /// A virtual machine may get its memory from the host page by page, when it first uses it, which
  /// made whoever came first six times as slow as everybody after. Takes at most two thirds of what is
  /// available, and gives it back.
  static func useMemoryOnce(_ wanted: Int) {
    let available =
      value(of: "MemAvailable", in: "/proc/meminfo", separator: ":")
      .flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    let bytes = min(wanted, available * 1024 / 3 * 2)
    guard bytes > 0 else { return }
    let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory, memory != MAP_FAILED else { return }
    defer { munmap(memory, bytes) }
    for offset in stride(from: 0, to: bytes, by: 4096) {
      memory.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
    }
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
