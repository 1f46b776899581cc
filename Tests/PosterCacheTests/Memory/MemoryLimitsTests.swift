import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MemoryLimitsTests {
  @Test(arguments: [
    (0, 16, 32), (256, 16, 32), (512, 16, 32), (1024, 16, 64), (2048, 32, 128), (4096, 64, 256),
    (8192, 128, 512), (16_384, 256, 1024), (24_576, 256, 1024), (1_048_576, 256, 1024),
  ])
  func `limits are shares of memory, in MiB`(memory: Int, posters: Int, bitmaps: Int) {
    let limits = MemoryLimits(memoryBytes: memory << 20)
    #expect(limits.posters.bytes == posters << 20)
    #expect(limits.bitmaps.bytes == bitmaps << 20)
  }

  @Test(
    arguments: [
      // No groups, and groups without limits.
      ("", [:], 1000),
      ("0::/\n", [:], 1000),
      ("0::/\n", ["/sys/fs/cgroup/memory.max": "max\n"], 1000),
      // Version 2: the group itself, one above it, a container that sees only its own part.
      ("0::/a/b\n", ["/sys/fs/cgroup/a/b/memory.max": "600\n"], 600),
      (
        "0::/a/b\n",
        ["/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "500\n"], 500
      ),
      ("0::/a/b\n", ["/sys/fs/cgroup/memory.max": "400\n"], 400),
      ("0::/a\n", ["/sys/fs/cgroup/a/memory.max": "5000\n"], 1000),
      // Version 1, where no limit is a very large one, and both.
      ("4:memory:/x\n0::/\n", ["/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "300\n"], 300),
      (
        "4:cpu,memory:/\n",
        ["/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"], 1000
      ),
      (
        "3:memory:/\n0::/u\n",
        [
          "/sys/fs/cgroup/memory/memory.limit_in_bytes": "700\n",
          "/sys/fs/cgroup/u/memory.max": "200\n",
        ], 200
      ),
      // Another controller, and nonsense.
      ("5:cpu:/a\n", ["/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "100\n"], 1000),
      ("memory\n", ["/sys/fs/cgroup/memory.max": "100\n"], 1000),
      ("0::/\n", ["/sys/fs/cgroup/memory.max": "-1\n"], 1000),
    ] as [(String, [String: String], Int)])
  func `memory is what the control groups leave of it`(
    groups: String, files: [String: String], expected: Int
  ) {
    #expect(
      MemoryLimits.usableBytes(physical: 1000, groups: groups, read: { files[$0] }) == expected)
  }

  @Test func `this machine has limits`() {
    let limits = MemoryLimits.standard
    #expect(((16 << 20)...(256 << 20)).contains(limits.posters.bytes))
    #expect(((32 << 20)...(1 << 30)).contains(limits.bitmaps.bytes))
  }
}
