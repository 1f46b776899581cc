// swift-tools-version: 6.2
import PackageDescription

/// A C library that comes from the system, found through `pkg-config`.
func system(_ name: String, pkgConfig: String, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
  name: "postercache",
  products: [
    .library(name: "PosterCache", targets: ["PosterCache"]),
    .library(name: "PosterServer", targets: ["PosterServer"]),
    .executable(name: "postercache", targets: ["postercache"]),
    .executable(name: "postercache-bench", targets: ["postercache-bench"]),
    // Never linked with: programs have it loaded before their other libraries (LD_PRELOAD).
    .library(name: "Counting", type: .dynamic, targets: ["Counting"]),
  ],
  targets: [
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    system("CLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev"),
    system("CXXHash", pkgConfig: "libxxhash", apt: "libxxhash-dev"),
    system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    system("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev"),
    system("CJPEG", pkgConfig: "libjpeg", apt: "libjpeg-dev"),
    system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev"),
    system("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
    // Comes with libmicrohttpd-dev on Debian and Ubuntu.
    system("CNettle", pkgConfig: "nettle", apt: "nettle-dev"),
    .target(name: "CLinux"),
    .target(name: "CIndexWalk", dependencies: ["CLMDB"]),
    .target(name: "CCodecs", dependencies: ["CJPEG", "CPNG"]),
    .target(
      name: "PosterCache",
      dependencies: [
        "CCurl", "CZlib", "CLMDB", "CXXHash", "CLinux", "CIndexWalk", "CCodecs", "CWebP",
      ]),
    .target(
      name: "PosterServer",
      dependencies: ["PosterCache", "CMicrohttpd", "CTurboJPEG", "CPNG", "CXXHash", "CLinux"]),
    // Scrolls as somebody made them, replayed in real or virtual time.
    .target(name: "ScrollReplay", dependencies: ["PosterCache"]),
    .executableTarget(
      name: "postercache",
      dependencies: ["PosterCache", "PosterServer", "ScrollReplay", "CLinux", "CNettle"]),
    .executableTarget(
      name: "postercache-bench",
      dependencies: [
        "PosterCache", "PosterServer", "ScrollReplay", "CCurl", "CLMDB", "CXXHash", "CLinux",
        "CTurboJPEG", "CPNG", "CWebP",
      ],
      path: "Benchmarks/postercache-bench"),
    // Stands in front of malloc and its kind: nothing may depend on it, and it must not bring a Swift
    // runtime into the programs it is loaded into.
    .target(
      name: "Counting", path: "Benchmarks/Counting",
      linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-stdlib"])]),
    .target(name: "TestSupport", dependencies: ["PosterCache"], path: "Tests/TestSupport"),
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    // A process for tests to kill.
    .executableTarget(
      name: "disk-torture", dependencies: ["PosterCache", "TestSupport"],
      path: "Tests/DiskTorture"),
    .testTarget(
      name: "PosterCacheTests",
      dependencies: [
        "PosterCache", "PosterServer", "postercache", "disk-torture", "TestSupport", "CTestSupport",
        "CLinux", "CCurl", "CZlib", "CWebP", "CTurboJPEG",
      ]),
    .testTarget(
      name: "PosterServerTests",
      dependencies: ["PosterCache", "PosterServer", "TestSupport", "CTurboJPEG", "CPNG"]),
    .testTarget(
      name: "CommandTests",
      dependencies: ["PosterCache", "PosterServer", "ScrollReplay", "postercache", "TestSupport"]),
    .testTarget(
      name: "ScrollReplayTests",
      dependencies: ["PosterCache", "ScrollReplay", "TestSupport"]),
    .testTarget(
      name: "BenchTests", dependencies: ["postercache-bench", "TestSupport"]),
    // Finds libCounting.so beside the benchmark, whose programs are what it counts.
    .testTarget(
      name: "CountTests", dependencies: ["PosterCache", "postercache-bench", "TestSupport"]),
    .testTarget(name: "TidyTests", dependencies: ["TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

// The sanitizers run the tests of the libraries: building the others would only keep them waiting.
if Context.environment["POSTERCACHE_LIBRARIES_ONLY"] != nil {
  let others = [
    "postercache-bench", "BenchTests", "CommandTests", "Counting", "CountTests",
    "ScrollReplayTests", "TidyTests",
  ]
  package.targets.removeAll { others.contains($0.name) }
  package.products.removeAll { others.contains($0.name) }
}
