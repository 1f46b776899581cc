import PosterCache

extension DecodeSuite {
  /// The programs that people call to make small pictures: files in, files out.
  func files(_ corpus: PictureCorpus, _ directory: String) async throws -> Contest {
    let pictures = Array(corpus.paths.prefix(corpus.count500))
    let list = "\(directory)/list-files"
    try TextFile.write(pictures.joined(separator: "\n") + "\n", to: list)
    let width = "\(Self.width)"
    let place = context.memory ?? context.disk
    // The sum of the last round's files.
    var sizes: [String: Int] = [:]
    func contestant(
      _ name: String, _ role: Contest.Role, _ command: @escaping (String) -> Command
    ) -> Contestant {
      Contestant(name: name, role: role) {
        let output = try place.makeEmpty("thumbnails")
        let sample = try command(output).run()
        let (files, bytes) = WorkDirectory.contents(of: output)
        guard files == pictures.count else { throw BenchError("\(name) wrote \(files) files") }
        sizes[name] = bytes
        return sample
      }
    }
    var contestants = [
      contestant("ImageDecoder, a program of its own", .ours) { output in
        ContestantProgram.command(
          "thumbnails", [("--list", list), ("--to", output), ("--width", width)])
      }
    ]
    var absent: [Absentee] = []
    if let program = Command.find("vipsthumbnail") {
      contestants.append(
        contestant("vipsthumbnail", .rival) { output in
          Command(
            program,
            [
              "--vips-concurrency=1", "--size", "\(width)x", "--output",
              "\(output)/%s.png[compression=6,filter=all,strip]",
            ] + pictures)
        })
    } else {
      absent.append(Absentee(name: "vipsthumbnail", reason: "not installed"))
    }
    if context.options.peers.hasPillow,
      let program = context.options.peers.python(.thumbnails, ["files", list])
    {
      contestants.append(
        contestant("Pillow, draft and thumbnail", .rival) { output in
          Command(program.program, program.arguments + [output, width, "6"])
        })
    } else {
      absent.append(Absentee(name: "Pillow, draft and thumbnail", reason: "not installed"))
    }
    let bare = try bareDecoders(corpus.bodies)
    contestants.append(
      Contestant(name: "bare libjpeg-turbo at half the size, no PNG", role: .limit) {
        let stopwatch = Stopwatch()
        for path in pictures { try bare.decodeJPEG(try TextFile.read(path), isHalved: true) }
        return stopwatch.sample()
      })
    let title = "JPEG files, 500 pixels wide, to PNG files of \(width)"
    let results = try await context.rounds(9, quick: 2, contest: title).run(contestants)
    let bytes = results.compactMap { result in
      sizes[result.name].map { "\(result.name) \(ByteSize(bytes: $0))" }
    }
    return Contest(
      title: title,
      conditions: """
        \(pictures.count) pictures by one program, measured from its start to its end, into a directory on \
        \(place.fileSystem). PNG with zlib's level 6 and filters chosen row by row, without metadata; \
        Pillow has an encoder of its own. The files come to: \
        \(bytes.joined(separator: ", ")). libvips with one thread, which is quicker here than its default \
        of one for each core. The limit, in a running program, reads and decodes the files and writes nothing.
        """,
      operations: pictures.count, operationName: "picture", results: results, absent: absent,
      goals: [
        Contest.Goal(
          text: "faster than vipsthumbnail and Pillow",
          against: results.filter { $0.role == .rival }.map(\.name), ratio: 1)
      ])
  }
}
