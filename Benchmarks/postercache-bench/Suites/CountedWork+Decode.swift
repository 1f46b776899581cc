import PosterCache

/// Pixels of pictures: ours, and the bare libraries.
extension CountedWork {
  /// The pictures' kinds, as their files end.
  static let decodeKinds = ["jpg", "png", "webp"]
  static let decodeNames = ["ImageDecoder", "bare library"]

  func decode(_ phases: inout CountedPhases) throws {
    let directory = try value("--pictures")
    let decoder = ImageDecoder()
    let bare = try BareDecoders(capacity: 4 << 20)
    for kind in Self.decodeKinds {
      let pictures = try (0..<Self.pictures).map { try TextFile.read("\(directory)/\($0).\(kind)") }
      let bodies = pictures.map { PosterBody(copying: $0) }
      func ours() throws {
        for body in bodies { _ = try decoder.decode(body) }
      }
      func theirs() throws {
        for bytes in pictures {
          switch kind {
          case "jpg": try bare.decodeJPEG(bytes)
          case "png": try bare.decodePNG(bytes)
          default: try bare.decodeWebP(bytes)
          }
        }
      }
      try ours()
      try phases.measure(Self.phase(kind, Self.decodeNames[0]), pictures.count, ours)
      try theirs()
      try phases.measure(Self.phase(kind, Self.decodeNames[1]), pictures.count, theirs)
    }
  }

  /// Pictures of each kind, called `0.jpg` and so on.
  static let pictures = 3
}
