import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache
@testable import postercache

/// Pictures that others made, with the pixels that other decoders make of them.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Corpus.isAvailable))
struct CorpusDecodingTests {
  @Test func `PngSuite gives the right pixels, and its damaged files an error`() throws {
    var (valid, damaged) = (0, 0)
    for answer in try answers("png") {
      let bytes = try Corpus.bytes("png/\(answer["file"])")
      if answer["verdict"] == "ok" {
        let image = try decoded(bytes)
        #expect(image.bitmap.size.description == "\(answer["width"])x\(answer["height"])")
        #expect(
          image.bitmap.withUnsafeBytes(sha256) == answer["rgba8_trunc_sha256"],
          "\(answer["file"])")
        #expect(image.isComplete)
        valid += 1
      } else {
        let code = failure(bytes)
        #expect(code == .damagedImage || code == .notAnImage, "\(answer["file"])")
        damaged += 1
      }
    }
    #expect(valid == 161)
    #expect(damaged == 14)
  }

  @Test func `eight codings of one picture give identical pixels`() throws {
    let names = [
      "base", "baseline_opt", "progressive", "arithmetic", "arithmetic_progressive",
      "restart_2rows", "restart_every_mcu", "trailing_zeros",
    ]
    let pictures = try names.map { try decoded(Corpus.bytes("jpeg/generated/\($0).jpg")) }
    for (name, picture) in zip(names, pictures) {
      #expect(picture.bitmap.size == PixelSize(width: 342, height: 513))
      #expect(picture.bitmap.isOpaque)
      let isSame = picture.bitmap.bytes == pictures[0].bitmap.bytes
      #expect(isSame, "\(name)")
    }
  }

  @Test func `JPEGs have the pixels that Pillow gives`() throws {
    var count = 0
    for answer in try answers("jpeg")
    where answer["pil"] == "ok" && ["RGB", "L"].contains(answer["mode"]) {
      let image = try decoded(Corpus.bytes("jpeg/\(answer["file"])"))
      #expect(
        image.bitmap.size.description == "\(answer["display_w"])x\(answer["display_h"])",
        "\(answer["file"])")
      guard (Int(answer["orient"]) ?? 1) <= 1 else { continue }
      #expect(
        rgb(image.bitmap).withUnsafeBytes(sha256).prefix(16) == answer["rgb_sha256_pil"],
        "\(answer["file"])")
      count += 1
    }
    #expect(count >= 20)
  }

  @Test func `all orientations come out upright and alike`() throws {
    let pictures = try (0...8).map {
      try decoded(Corpus.bytes("jpeg/exif-orientation/Portrait_\($0).jpg"))
    }
    for (orientation, picture) in pictures.enumerated() {
      #expect(picture.bitmap.size == PixelSize(width: 1200, height: 1800))
      #expect(picture.fullSize == PixelSize(width: 1200, height: 1800))
      // Each was compressed anew, so that they differ by what compression does.
      #expect(picture.bitmap.difference(to: pictures[1].bitmap) < 3, "\(orientation)")
    }
  }

  @Test(arguments: ["jpg-cmyk-1", "jpg-cmyk-2", "rgb", "ycck"])
  func `inks look as in the reference`(name: String) throws {
    let picture = try decoded(Corpus.bytes("jpeg/image-rs-reftest/\(name).jpg"))
    let reference = try decoded(Corpus.bytes("jpeg/image-rs-reftest/\(name).png"))
    let difference = picture.bitmap.difference(to: reference.bitmap)
    #expect(difference <= 3, "\(difference)")
  }

  @Test func `truncated JPEGs fail, or come incomplete where that is allowed`() throws {
    let names = [
      "truncated_50", "truncated_90", "truncated_progressive_50", "truncated_progressive_90",
      "truncated_2000bytes",
    ]
    let whole = try decoded(Corpus.bytes("jpeg/generated/base.jpg"))
    for name in names {
      let bytes = try Corpus.bytes("jpeg/generated/\(name).jpg")
      #expect(failure(bytes) == .damagedImage, "\(name)")
      let image = try decoded(bytes, allowingIncomplete: true)
      #expect(!image.isComplete, "\(name)")
      #expect(image.bitmap.size == whole.bitmap.size, "\(name)")
      if name.hasSuffix("90") {
        #expect(image.bitmap.difference(to: whole.bitmap) < 12, "\(name)")
      }
    }
  }

  @Test func `a JPEG that lacks nothing but its end marker is whole`() throws {
    let image = try decoded(Corpus.bytes("jpeg/generated/no_eoi.jpg"))
    #expect(image.isComplete)
    let whole = try decoded(Corpus.bytes("jpeg/generated/base.jpg"))
    let isSame = image.bitmap.bytes == whole.bitmap.bytes
    #expect(isSame)
  }

  @Test func `the first bytes decide, and not the name`() throws {
    for (name, type) in [
      ("jpeg_named.png", ImageType.jpeg), ("png_named.jpg", .png),
      ("webp_named.jpg", .webp),
    ] {
      let image = try decoded(Corpus.bytes("jpeg/generated/\(name)"))
      #expect(image.type == type)
    }
    for name in ["empty.jpg", "html_named.jpg"] {
      #expect(try failure(Corpus.bytes("jpeg/generated/\(name)")) == .notAnImage)
    }
    #expect(
      try failure(Corpus.bytes("jpeg/libjpeg-turbo/monkey12.jpg")) == .unsupportedImage)
  }

  @Test func `WebPs have the pixels that Pillow gives`() throws {
    let list = try answers("webp")
    for answer in list {
      let image = try decoded(Corpus.bytes("webp/\(answer["file"])"))
      #expect(image.bitmap.size.description == "\(answer["w"])x\(answer["h"])")
      #expect(
        image.bitmap.withUnsafeBytes(sha256).prefix(16) == answer["rgba_sha256_pil"],
        "\(answer["file"])")
    }
    #expect(list.count >= 10)
  }

  @Test(arguments: [
    ("lossless_vec_1_0", "grid"), ("lossless_vec_1_7", "grid"), ("lossless_vec_2_3", "peak"),
  ])
  func `lossless WebPs equal their PNGs`(name: String, reference: String) throws {
    let folder = "webp/libwebp-test-data"
    let image = try decoded(Corpus.bytes("\(folder)/\(name).webp"))
    let expected = try decoded(Corpus.bytes("\(folder)/\(reference).png"))
    let isSame = image.bitmap.bytes == expected.bitmap.bytes
    #expect(isSame)
  }

  /// Without alpha.
  private func rgb(_ bitmap: Bitmap) -> [UInt8] {
    var rgb: [UInt8] = []
    rgb.reserveCapacity(bitmap.size.pixels * 3)
    bitmap.withUnsafeBytes { pixels in
      for offset in stride(from: 0, to: pixels.count, by: 4) {
        rgb.append(contentsOf: pixels[offset..<offset + 3])
      }
    }
    return rgb
  }

  /// The lines of a folder's `answers.tsv`.
  private func answers(_ folder: String) throws -> [Answer] {
    let text = String(decoding: try Corpus.bytes("\(folder)/answers.tsv"), as: UTF8.self)
    let lines = text.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    return lines.dropFirst().map { Answer(names: lines[0], values: $0) }
  }

  private struct Answer {
    let names, values: [String]

    /// The column of that name, empty where there is none.
    subscript(name: String) -> String {
      guard let index = names.firstIndex(of: name), index < values.count else { return "" }
      return values[index]
    }
  }
}
