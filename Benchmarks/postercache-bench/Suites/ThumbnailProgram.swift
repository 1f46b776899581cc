import PosterCache

/// Work of the decode suite as a program of its own:
/// `postercache-bench contestant thumbnails --list FILE --to DIR --width N` makes a PNG in DIR, N pixels
/// wide, of each picture that FILE names, one after the other on one thread.
struct ThumbnailProgram {
  private let values: [String: String]

  init(_ values: [String: String]) {
    self.values = values
  }

  func run() throws {
    guard let list = values["--list"], let directory = values["--to"],
      let width = values["--width"].flatMap({ Int($0) })
    else { throw BenchError("thumbnails need --list, --to and --width") }
    let decoder = ImageDecoder()
    let rendition = DecodeSuite.rendition(width: width)
    for path in try TextFile.lines(list) {
      let body = PosterBody(copying: try TextFile.read(path))
      let name = path.split(separator: "/").last?.split(separator: ".").first ?? "picture"
      try TextFile.write(
        try decoder.decode(body, as: rendition).bitmap.png(), to: "\(directory)/\(name).png")
    }
  }
}
