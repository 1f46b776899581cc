import CWebP
import Glibc
import PosterCache
import PosterServer

/// The pictures that decoding is measured with: JPEGs of TMDB's sizes, in memory.
///
/// Those of a directory where one is named (the Kodak photographs cut to posters, for example, whose names
/// begin with `w342` or `w500`), else some of the demo origin's.
struct PictureCorpus: Sendable {
  /// The files, in the order in which they are decoded.
  let paths: [String]
  /// Their bytes.
  let bodies: [PosterBody]
  /// How many of them begin with `w500`.
  let count500: Int
  /// What they are, for the report.
  let origin: String

  /// - Parameters:
  ///   - directory: the JPEGs; `nil` draws posters.
  ///   - workDirectory: an empty one, for what is drawn.
  ///   - limit: how many of each size to take at most; `nil` takes all.
  init(
    directory: String?, workDirectory: String, each limit: Int? = nil
  ) throws(BenchError) {
    var paths: [String]
    if let directory {
      paths = try Self.files(in: directory).filter { $0.hasSuffix(".jpg") }.sorted()
        .map { "\(directory)/\($0)" }
      origin = "photographs cut to posters"
    } else {
      paths = []
      for size in [PosterSize.w342, .w500] {
        for number in 0..<20 {
          let name = "picture\(number).jpg"
          let path = "\(workDirectory)/\(size.rawValue)_\(name)"
          try TextFile.write(DemoPoster.encode(name: name, size: size), to: path)
          paths.append(path)
        }
      }
      origin = "posters as the demo origin draws them"
    }
    // Those of 500 pixels first.
    let most = limit ?? paths.count
    let large = Array(paths.filter { Self.name($0).hasPrefix("w500") }.prefix(most))
    paths = large + paths.filter { !Self.name($0).hasPrefix("w500") }.prefix(most)
    guard !large.isEmpty else {
      throw BenchError("no picture in \(directory ?? workDirectory) is called w500*.jpg")
    }
    self.paths = paths
    count500 = large.count
    bodies = try paths.map { (path) throws(BenchError) in
      PosterBody(copying: try TextFile.read(path))
    }
  }

  /// The same pictures as PNGs, written by this library.
  func pngs() throws -> [PosterBody] {
    try bodies.map { PosterBody(copying: try ImageDecoder().decode($0).bitmap.png()) }
  }

  /// The same pictures as lossy WebPs of libwebp's quality 80.
  func webps() throws -> [PosterBody] {
    try bodies.map { body in
      let bitmap = try ImageDecoder().decode(body).bitmap
      return try bitmap.withUnsafeBytes { pixels in
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = WebPEncodeRGBA(
          pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(bitmap.size.width),
          CInt(bitmap.size.height), CInt(bitmap.bytesPerRow), 80, &bytes)
        defer { WebPFree(bytes) }
        guard count > 0 else { throw BenchError("libwebp does not encode a picture") }
        return PosterBody(copying: Array(UnsafeBufferPointer(start: bytes, count: count)))
      }
    }
  }

  private static func name(_ path: String) -> Substring {
    path.split(separator: "/").last ?? ""
  }

  private static func files(in directory: String) throws(BenchError) -> [String] {
    guard let stream = opendir(directory) else { throw BenchError(call: "opendir", directory) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { name in
          name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }
}
