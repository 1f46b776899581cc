import PosterCache
import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(2)))
struct DemoPosterTests {
  @Test func `w342 posters weigh what real ones weigh`() {
    let weights = (0..<500).map { DemoPoster.encode(name: "weight\($0).jpg", size: .w342).count }
      .sorted()
    #expect(weights[0] >= 20_000)
    #expect(weights[499] <= 110_000)
    #expect((36_000...44_000).contains(weights[250]))
    // They are not all alike: the heavy tenth is at least 1.8 times the light one.
    #expect(Double(weights[450]) > 1.8 * Double(weights[50]))
  }

  @Test(arguments: ImageHost.tmdb.sizes(of: .poster))
  func `every size has its width and half as much again in height`(size: PosterSize) throws {
    let width = size.width ?? 1_000
    let jpeg = try DecodedPicture(jpeg: DemoPoster.encode(name: "a.jpg", size: size))
    #expect((jpeg.width, jpeg.height) == (width, (width * 3 + 1) / 2))
    let png = try DecodedPicture(png: DemoPoster.encode(name: "a.png", size: size))
    #expect((png.width, png.height) == (width, (width * 3 + 1) / 2))
    // Two encodings of one scene with different grain.
    #expect(jpeg.difference(to: png) < 24)
  }

  @Test func `each name has a picture of its own, the same every time`() throws {
    let names = (0..<20).map { "picture-\($0)" }
    let bytes = names.map { DemoPoster.encode(name: "\($0).jpg", size: .w92) }
    #expect(Set(bytes).count == names.count)
    #expect(bytes == names.map { DemoPoster.encode(name: "/\($0).jpg", size: .w92) })
    let pictures = try bytes.map { try DecodedPicture(jpeg: $0) }
    for (index, picture) in pictures.enumerated() {
      for other in pictures[..<index] {
        // What lies between two names is more than grain.
        #expect(picture.difference(to: other) > 8)
      }
    }
  }

  @Test func `posters are the same ones on every machine and with every version`() {
    for (name, size, etag) in [
      ("n0.jpg", PosterSize.w92, "1ab3aafd261353cb"), ("P_n0.jpg", .w92, "29dd1899cbd0c177"),
      ("n0.jpg", .w342, "822ae529659e02ba"),
      ("P_n0.jpg", .w342, "78f2e81f9c0bdcdd"),
    ] {
      #expect(StableBytes(DemoPoster.encode(name: name, size: size)).etag == "\"\(etag)\"")
    }
  }

  @Test func `a name is letters, digits, dash and underscore with one of two extensions`() {
    for name in ["a.jpg", "A-b_9.png", "8uO0gUM8aNqYLs1OsTBQiXu0fEv.jpg"] {
      #expect(DemoPoster.isName(name))
    }
    for name in ["", ".jpg", "a", "a.gif", "a.JPG", "a b.jpg", "a/b.jpg", "..jpg", "é.jpg"] {
      #expect(!DemoPoster.isName(name))
    }
  }

  @Test func `grain never overflows the brightest ink`() {
    let brightest = PosterInk(hue: 0, saturation: 0, value: 1).luma
    for tile in GrainTile.all {
      for word in tile.words.prefix(512) {
        for shift in 0..<8 {
          #expect(Int(brightest) + Int(word >> (shift * 8) & 0xFF) <= 255)
        }
      }
    }
  }

  @Test func `pictures asked for again are drawn once, as long as they fit`() {
    let cache = PictureCache(limitBytes: 40_000)
    let frame = PictureFrame(.poster, size: .w92)
    let first = cache.picture(name: "a.jpg", frame: frame)
    #expect(cache.picture(name: "a.jpg", frame: frame).bytes === first.bytes)
    for number in 0..<40 { _ = cache.picture(name: "\(number).jpg", frame: frame) }
    let again = cache.picture(name: "a.jpg", frame: frame)
    #expect(again.bytes !== first.bytes)
    #expect(again.etag == first.etag)
  }
}
