import FoundationEssentials
import TestSupport
import Testing

/// The rules of the house that a machine can check.
@Suite(.timeLimit(.minutes(1)))
struct TidyTests {
  private let files: [SourceFile]

  /// Read once, not for every test.
  private static let all = Result {
    try SourceFile.all(in: ["Sources", "Tests", "Benchmarks", "Examples"])
  }

  init() throws {
    files = try Self.all.get()
    try #require(files.count > 100)
  }

  /// Each C library has one room; see `docs/dependencies.md`.
  @Test(arguments: [
    ("CLMDB", ["Sources/PosterCache/Disk/", "Benchmarks/"]),
    ("CIndexWalk", ["Sources/PosterCache/Disk/"]),
    (
      "CCurl",
      [
        "Sources/PosterCache/Fetching/", "Benchmarks/", "Tests/PosterCacheTests/Fetching/",
      ]
    ),
    (
      "CXXHash",
      [
        "Sources/PosterCache/Support/", "Sources/PosterCache/Requests/", "Benchmarks/",
        "Sources/PosterServer/Posters/",
      ]
    ),
    (
      "CZlib",
      [
        "Sources/PosterCache/Disk/", "Sources/PosterCache/Fetching/",
        "Tests/PosterCacheTests/Fetching/",
      ]
    ),
    ("CMicrohttpd", ["Sources/PosterServer/HTTP/"]),
    (
      "CTurboJPEG",
      [
        "Sources/PosterServer/Posters/", "Tests/PosterServerTests/",
        "Tests/PosterCacheTests/Decoding/", "Benchmarks/",
      ]
    ),
    ("CCodecs", ["Sources/PosterCache/Decoding/"]),
    (
      "CWebP",
      ["Sources/PosterCache/Decoding/", "Tests/PosterCacheTests/Decoding/", "Benchmarks/"]
    ),
    ("CPNG", ["Sources/PosterServer/Posters/", "Tests/PosterServerTests/", "Benchmarks/"]),
    ("CNettle", ["Sources/postercache/Output/"]),
    ("Foundation", ["Benchmarks/"]),
  ])
  func `a library is imported in its own room only`(module: String, rooms: [String]) {
    let strangers = files.filter { file in
      file.imports.contains(module) && !rooms.contains { file.path.hasPrefix($0) }
    }
    #expect(strangers.map(\.path) == [])
    #expect(files.contains { $0.imports.contains(module) } || module == "Foundation")
  }

  @Test func `requests, posters and support know nothing of the tiers`() {
    let tiers = ["MemoryCache", "DiskCache", "Fetcher", "PosterPipeline", "TMDBFeed"]
    for file in files
    where ["Requests", "Posters", "Support"].contains(where: {
      file.path.hasPrefix("Sources/PosterCache/\($0)/")
    }) {
      for tier in tiers {
        #expect(!file.code.contains(tier), "\(file.path) names \(tier)")
      }
    }
  }

  @Test func `no file is longer than 500 lines`() {
    #expect(files.filter { $0.lines.count > 500 }.map(\.path) == [])
  }

  @Test func `nothing is left over or put off`() {
    let leftovers = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    for file in files {
      for word in leftovers {
        #expect(
          !file.lines.contains { $0.split { !$0.isLetter }.contains(Substring(word)) },
          "\(file.path) holds \(word)")
      }
    }
  }

  @Test func `tests do not sleep`() {
    let sleeps = ["Task.sle" + "ep", "usle" + "ep(", "nanosle" + "ep(", " sle" + "ep("]
    for file in files where file.path.hasPrefix("Tests/") {
      for call in sleeps {
        #expect(!file.code.contains(call), "\(file.path) calls \(call)")
      }
    }
  }

  @Test func `every suite has a time limit`() {
    for file in files where file.path.hasPrefix("Tests/") && file.code.contains("@Test") {
      let suites = file.lines.filter { $0.hasPrefix("@Suite") }
      #expect(!suites.isEmpty, "\(file.path) has tests outside a suite")
      let text = file.code
      #expect(
        text.components(separator: "\n@Suite").dropFirst().allSatisfy {
          $0.prefix(160).contains(".timeLimit")
        }, "\(file.path) has a suite without a time limit")
    }
  }

  /// What the compiler does not check says why it is right, on its line or on one of the two before.
  @Test func `an unchecked claim has its reason beside it`() {
    let claims = ["@unchecked Sendable", "nonisolated(unsafe)", "try!", "unsafeDowncast"]
    for file in files where file.path.hasPrefix("Sources/") {
      for (index, line) in file.lines.enumerated() {
        let code = line.components(separator: "//").first ?? ""
        guard claims.contains(where: { code.contains($0) }) else { continue }
        // Consecutive claims share the reason above the first of them.
        let before = file.lines[max(0, index - 6)..<index]
        #expect(
          line.contains("//") || before.contains { $0.contains("//") },
          "\(file.path):\(index + 1)")
      }
    }
  }

  @Test func `the scripts name every library that the package links`() throws {
    let package = try Checkout.text("Package.swift")
    let scripts = try Checkout.text("scripts/dependencies")
    let names = package.components(separator: "apt: \"").dropFirst().compactMap {
      $0.split(separator: "\"").first
    }
    #expect(names.count >= 6)
    for name in names { #expect(scripts.contains(":\(name)\n"), "\(name)") }
  }
}
