import Glibc
import PosterCache

/// Decoding and shrinking, one picture after the other on one thread.
struct DecodeSuite: Suite {
  static let name = "decode"
  static let abstract =
    "pixels of JPEG, PNG and WebP, whole and shrunk, against bare libraries, Pillow, vips"

  /// The width that posters are shrunk to in the contest.
  static let width = 154
  /// The widths at which the quality is looked at.
  private var widths: [Int] {
    context.options.isQuick ? [Self.width] : [40, 92, Self.width, 185, 300]
  }

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let directory = try context.disk.makeEmpty("decode")
    let corpus = try PictureCorpus(
      directory: context.options.inCorpus("posters"), workDirectory: directory,
      each: context.options.isQuick ? 8 : nil)
    let rivals = Rivals(context.options)
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(corpus.paths.count) \(corpus.origin), \(corpus.count500) of them 500 pixels wide, from memory into memory, one after \
        the other on one thread. Ours allocates each bitmap and calculates the average colour, too; the \
        bare libraries decode into one buffer over and over.
        """)
    report.contests.append(try await whole("JPEG", corpus.bodies) { try $0.decodeJPEG($1) })
    report.contests.append(try await whole("PNG", try corpus.pngs()) { try $0.decodePNG($1) })
    report.contests.append(try await whole("WebP", try corpus.webps()) { try $0.decodeWebP($1) })
    report.contests.append(try await shrinking(corpus, rivals, directory))
    report.contests.append(try await files(corpus, directory))
    report.tables.append(try counts(corpus))
    report.tables.append(try differences(corpus, rivals, directory))
    return report
  }

  // MARK: Whole pictures

  private func whole(
    _ kind: String, _ bodies: [PosterBody],
    _ bareDecode: @escaping (BareDecoders, [UInt8]) throws -> Void
  ) async throws -> Contest {
    let decoder = ImageDecoder()
    let bare = try bareDecoders(bodies)
    let pixels = try bodies.map { try decoder.header(of: $0).size.pixels * 4 }
    let arrays = bodies.map { body in body.withUnsafeBytes { Array($0) } }
    let library = ["JPEG": "libjpeg-turbo", "PNG": "libpng", "WebP": "libwebp"][kind] ?? kind
    let limit = "bare \(library)"
    let contestants = [
      contestant("ImageDecoder", .ours) {
        for body in bodies { _ = try decoder.decode(body) }
      },
      contestant(limit, .limit) {
        for bytes in arrays { try bareDecode(bare, bytes) }
      },
      contestant("memcpy of the pixels", .limit) {
        for count in pixels { bare.copyPixels(count) }
      },
    ]
    let title = "\(kind), whole"
    return Contest(
      title: title, conditions: "RGBA8.", operations: bodies.count, operationName: "picture",
      results: try await context.rounds(11, quick: 3, contest: title).run(contestants), absent: [],
      goals: [
        Contest.Goal(text: "within 1.1 of \(limit)", against: [limit], ratio: 1 / 1.1)
      ])
  }

  /// Decoders with room for each of `bodies`.
  func bareDecoders(_ bodies: [PosterBody]) throws -> BareDecoders {
    let decoder = ImageDecoder()
    return try BareDecoders(
      capacity: try bodies.map { try decoder.header(of: $0).size.pixels * 4 }.max() ?? 0)
  }

  private func contestant(
    _ name: String, _ role: Contest.Role, _ work: @escaping () throws -> Void
  ) -> Contestant {
    Contestant(name: name, role: role) {
      let stopwatch = Stopwatch()
      try work()
      return stopwatch.sample()
    }
  }

  // MARK: Shrinking

  /// The programs to compare with, as far as they are there.
  private struct Rivals {
    /// Each one's name, and how to start it with a list of files.
    var programs: [(name: String, command: (String) -> Command)] = []
    var absent: [Absentee] = []

    init(_ options: BenchOptions) {
      let kinds = [("draft", "Pillow, draft and thumbnail"), ("thumbnail", "Pillow, thumbnail")]
      for (kind, name) in kinds {
        if options.peers.hasPillow, let program = options.peers.python(.thumbnails, [kind]) {
          programs.append((name, { Command(program.program, program.arguments + [$0]) }))
        } else {
          absent.append(Absentee(name: name, reason: "not installed"))
        }
      }
      if let vips = options.peers.find(.vips) {
        programs.append(("libvips, vips_thumbnail_buffer", { Command(vips, [$0]) }))
      } else {
        absent.append(
          Absentee(name: "libvips, vips_thumbnail_buffer", reason: "not installed"))
      }
    }
  }

  static func rendition(width: Int) -> Rendition {
    Rendition(.fitting(PixelSize(width: width, height: PixelSize.maximumSide)))
  }

  private func shrinking(
    _ corpus: PictureCorpus, _ rivals: Rivals, _ directory: String
  ) async throws -> Contest {
    let list = "\(directory)/list-500"
    try TextFile.write(
      corpus.paths.prefix(corpus.count500).joined(separator: "\n") + "\n", to: list)
    let bodies = corpus.bodies.prefix(corpus.count500)
    let decoder = ImageDecoder()
    let rendition = Self.rendition(width: Self.width)
    var contestants = [
      contestant("ImageDecoder", .ours) {
        for body in bodies { _ = try decoder.decode(body, as: rendition) }
      }
    ]
    for rival in rivals.programs {
      let program = try AnsweringProgram(rival.command(list), name: rival.name)
      contestants.append(
        Contestant(name: rival.name, role: .rival) {
          try program.measure("shrink \(Self.width)")
        })
    }
    let bare = try bareDecoders(Array(bodies))
    let arrays = bodies.map { body in body.withUnsafeBytes { Array($0) } }
    contestants.append(
      contestant("bare libjpeg-turbo at half the size, not shrunk", .limit) {
        for bytes in arrays { try bare.decodeJPEG(bytes, isHalved: true) }
      })
    let title = "JPEG, 500 pixels wide to \(Self.width)"
    return Contest(
      title: title,
      conditions: """
        The rivals are programs of their own that time their own loops; libvips with one thread and \
        without its cache of operations. The limit is decoding at the fraction that ours decodes at, which no \
        filter follows.
        """,
      operations: bodies.count, operationName: "picture",
      results: try await context.rounds(11, quick: 3, contest: title).run(contestants),
      absent: rivals.absent,
      goals: [
        Contest.Goal(
          text: "faster than Pillow and libvips", against: rivals.programs.map(\.name), ratio: 1)
      ])
  }

  // MARK: Quality

  private func differences(
    _ corpus: PictureCorpus, _ rivals: Rivals, _ directory: String
  ) throws -> FigureTable {
    let list = "\(directory)/list"
    try TextFile.write(corpus.paths.joined(separator: "\n") + "\n", to: list)
    let programs = try rivals.programs.map {
      (name: $0.name, program: try AnsweringProgram($0.command(list), name: $0.name))
    }
    // Any of Pillow's two compares.
    let judge = programs.first { $0.name.hasPrefix("Pillow") }?.program
    var rows: [FigureTable.Row] = []
    var worst: Double?
    for width in widths {
      var values: [Double?] = []
      let file = "\(directory)/shrunk"
      if let judge {
        BenchContext.progress("how good \(width) pixels are")
        try write(corpus.bodies, width: width, to: file)
        let ours = try judge.ask("difference \(file)")
        worst = max(worst ?? 0, ours.1)
        values = [ours.0, ours.1]
        for program in programs {
          _ = try program.program.ask("write \(width) \(file)")
          let theirs = try judge.ask("difference \(file)")
          values += [theirs.0, theirs.1]
        }
      }
      rows.append(FigureTable.Row(name: "to \(width) pixels wide", values: values))
    }
    let names = ["ImageDecoder"] + programs.map(\.name)
    return FigureTable(
      title: "How far from the best reduction",
      conditions: """
        The mean difference from Pillow's `resize(…, LANCZOS)` of the whole picture, in levels of 256: \
        of all \(corpus.paths.count) pictures, and of the worst one.
        """,
      columns: names.flatMap { [$0, "its worst picture"] }, rows: rows, absent: rivals.absent,
      demands: [
        FigureTable.Demand(
          text: "ours differ by at most 2 levels, the worst picture too", value: worst, bound: 2)
      ])
  }

  /// Writes what the library makes of the pictures, as `thumbnails.py` reads it.
  private func write(_ bodies: [PosterBody], width: Int, to path: String) throws {
    var bytes: [UInt8] = []
    for body in bodies {
      let bitmap = try ImageDecoder().decode(body, as: Self.rendition(width: width)).bitmap
      for side in [bitmap.size.width, bitmap.size.height] {
        withUnsafeBytes(of: UInt32(side)) { bytes += $0 }
      }
      bitmap.withUnsafeBytes { bytes += $0 }
    }
    try TextFile.write(bytes, to: path)
  }
}
