import FoundationEssentials
import Glibc

/// How many bytes the memory tier keeps unless told otherwise: a share of the machine's memory, or of what
/// the process' control group may use, if that is less.
public struct MemoryLimits: Sendable, Hashable {
  /// For encoded posters: a 64th, at least 16 MiB and at most 256 MiB.
  public let posters: ByteSize
  /// For bitmaps: a 16th, at least 32 MiB and at most 1 GiB.
  public let bitmaps: ByteSize

  /// The limits where there are `memoryBytes` to be shared.
  public init(memoryBytes: Int) {
    posters = ByteSize(bytes: min(max(memoryBytes / 64, 16 << 20), 256 << 20))
    bitmaps = ByteSize(bytes: min(max(memoryBytes / 16, 32 << 20), 1 << 30))
  }

  /// The limits for this process, found out once.
  public static let standard = MemoryLimits(
    memoryBytes: usableBytes(
      physical: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)),
      groups: read("/proc/self/cgroup") ?? "", read: read))

  /// The least of the machine's memory and the limits of the control groups that a process is in.
  ///
  /// Each group and all above it may have a limit. Where a container shows only its own part of the tree, the
  /// path leads nowhere, and the part's root has the limit.
  ///
  /// - Parameters:
  ///   - physical: the machine's memory in bytes.
  ///   - groups: what `/proc/self/cgroup` holds (`cgroups(7)`).
  ///   - read: the text of a file, `nil` if it cannot be read.
  static func usableBytes(physical: Int, groups: String, read: (String) -> String?) -> Int {
    var least = physical
    for line in groups.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let (root, name): (String, String)
      if fields[1].isEmpty {
        (root, name) = ("/sys/fs/cgroup", "memory.max")
      } else if fields[1].split(separator: ",").contains("memory") {
        (root, name) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      } else {
        continue
      }
      var folders = fields[2].split(separator: "/")
      while true {
        let path = ([root] + folders.map(String.init) + [name]).joined(separator: "/")
        // "max" and the like are no limit.
        if let limit = read(path)?.split(separator: "\n").first.flatMap({ Int($0) }), limit > 0 {
          least = min(least, limit)
        }
        if folders.popLast() == nil { break }
      }
    }
    return least
  }

  private static func read(_ path: String) -> String? {
    // A file that is not there or not for us is no limit.
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
