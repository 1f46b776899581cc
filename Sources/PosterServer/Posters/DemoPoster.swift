import CPNG
import PosterCache

/// The drawn posters of the demo origin: a distinct picture for each name, the same wherever and
/// whenever it is drawn.
///
/// A poster is a landscape of simple shapes with a title and film grain. The grain gives it the
/// weight of a real one: as a w342 JPEG 20-110 KB, about 40 KB in the median.
///
/// The first letters of a name tell what it is the name of: `B_` a backdrop, `P_` a person, all others a
/// poster.
public enum DemoPoster {
  /// Draws and encodes the poster called `name`, or the backdrop or the person's picture.
  ///
  /// Pure: the same arguments give the same bytes. Any thread; takes a few milliseconds at w342.
  ///
  /// - Parameters:
  ///   - name: a file name such as `8uO0gUM8aNqYLs1OsTBQiXu0fEv.jpg`; leading slashes do not count.
  ///     With the extension `.png` the picture is a PNG, otherwise a JPEG. A JPEG and a PNG with the
  ///     same stem show the same scene.
  ///   - size: the width; ``PosterSize/original`` is 1,000 pixels wide here. The height is half as
  ///     much again, rounded up; that of a backdrop nine sixteenths, ``PosterSize/original`` being
  ///     1,600 pixels wide.
  public static func encode(name: String, size: PosterSize) -> [UInt8] {
    let file = name.drop { $0 == "/" }
    return encode(name: file, frame: PictureFrame(kind(ofName: file), size: size))
  }

  /// What the picture called `name` shows.
  public static func kind(ofName name: some StringProtocol) -> ImageKind {
    if name.hasPrefix(DemoTitles.backdropPrefix) { return .backdrop }
    return name.hasPrefix(DemoTitles.personPrefix) ? .profile : .poster
  }

  /// Draws and encodes the picture called `name` for `frame`.
  static func encode(name: some StringProtocol, frame: PictureFrame) -> [UInt8] {
    let stem = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name[...])
    let canvas = PosterCanvas(frame)
    var scene = PosterScene(stem: stem, caption: DemoTitles.caption(for: stem), frame: frame)
    scene.draw(on: canvas)
    var random = SeededRandom("grain " + stem)
    // A cubed uniform number has the long tail towards heavy files that real posters have.
    let share = random.number(in: 0...1)
    let quality = 80 + random.below(12)
    if name.hasSuffix(".png") {
      canvas.addGrain(strength: 1, random: &random)
      return png(canvas)
    }
    let strength = 6 + Int((share * share * share * 14).rounded())
    canvas.addGrain(strength: strength, random: &random)
    return canvas.jpeg(quality: quality)
  }

  /// Whether the demo origin has a poster called `name`, a file name without a slash: letters,
  /// digits, `-` and `_`, then `.jpg` or `.png`.
  public static func isName(_ name: some StringProtocol) -> Bool {
    guard name.hasSuffix(".jpg") || name.hasSuffix(".png") else { return false }
    let stem = name.dropLast(4)
    return !stem.isEmpty
      && stem.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// The width in pixels of a poster of `size`.
  public static func width(of size: PosterSize) -> Int {
    PictureFrame(.poster, size: size).width
  }

  private static func png(_ canvas: borrowing PosterCanvas) -> [UInt8] {
    let pixels = canvas.pixels()
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    image.width = png_uint_32(canvas.width)
    image.height = png_uint_32(canvas.height)
    image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
    image.flags = png_uint_32(PNG_IMAGE_FLAG_FAST)
    // What deflate makes of incompressible pixels is a little longer than they are.
    let capacity = pixels.count + pixels.count / 64 + 65_536
    return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      count = capacity
      let status = png_image_write_to_memory(
        &image, buffer.baseAddress, &count, 0, pixels, 0, nil)
      precondition(status != 0, "libpng refused to write \(canvas.width) x \(canvas.height)")
    }
  }
}
