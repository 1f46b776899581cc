// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "warm-three",
  dependencies: [
    // From outside this checkout: .package(url: …, from: "0.1.0")
    .package(name: "postercache", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "warm-three",
      dependencies: [
        .product(name: "PosterCache", package: "postercache"),
        // Only for the demo origin; a program that asks a real one does not need it.
        .product(name: "PosterServer", package: "postercache"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
