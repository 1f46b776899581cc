import PosterCache
import PosterServer

extension DecodeSuite {
  /// Instructions, allocations and copies of one picture.
  func counts(_ corpus: PictureCorpus) throws -> FigureTable {
    BenchContext.progress("\(Self.name): counting")
    let pictures = try context.disk.makeEmpty("counted-pictures")
    for (kind, bodies) in [
      ("jpg", corpus.bodies), ("png", try corpus.pngs()), ("webp", try corpus.webps()),
    ] {
      for (place, body) in bodies.prefix(CountedWork.pictures).enumerated() {
        try TextFile.write(body.withUnsafeBytes { Array($0) }, to: "\(pictures)/\(place).\(kind)")
      }
    }
    let program = try CountedProgram(
      instruments: [.instructions], directory: try context.disk.makeEmpty("counted-decode")
    ) { _ in CountedWork.arguments(.decode, [("--pictures", pictures)]) }
    return FigureTable(
      title: "Counted",
      conditions: """
        Of one picture, the mean of \(CountedWork.pictures), whole, on one thread. The bare libraries decode \
        into one buffer over and over. Copies are counted from 1 KiB on.
        """,
      columns: CountedWork.decodeNames,
      rows: zip(["JPEG", "PNG", "WebP"], CountedWork.decodeKinds).flatMap { name, kind in
        program.rows(name, CountedWork.decodeNames.map { CountedWork.phase(kind, $0) })
      }, isCounted: true, absent: program.absent)
  }
}
