import PosterCache
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct PictureWeightsTests {
  @Test func `what is stored of a size tells how large others of it are`() throws {
    var weights = PictureWeights()
    func bytes(_ address: String) throws -> Int {
      weights.bytes(of: try PosterAddress(address), wanted: .w342)
    }
    #expect(try bytes("http://i.test/t/p/w342/a.jpg") == 40_000)
    #expect(!weights.isMeasured)
    for (address, bytes) in [
      ("http://i.test/t/p/w92/a.jpg", 3_000), ("http://i.test/t/p/w92/b.jpg", 5_000),
      ("http://other.test/pictures/b.jpg", 90),
    ] { weights.add(try PosterAddress(address), bytes: bytes) }
    #expect(try bytes("http://i.test/t/p/w92/c.jpg?w342/x.jpg") == 4_000)
    #expect(weights.isMeasured)
    // Other hosts than TMDB's name no size: what they have had counts.
    #expect(try bytes("http://other.test/c.jpg") == 90)
    #expect(try bytes("http://third.test/c.jpg") == 40_000)
    #expect(try bytes("http://i.test/t/p/w342/a.jpg") == 40_000)
  }

  @Test(arguments: [
    ("w45", 1_000...1_500), ("w92", 3_500...4_500), ("w185", 12_000...15_000),
    ("w500", 70_000...85_000), ("w780", 150_000...190_000), ("h632", 50_000...65_000),
    ("w1280", 150_000...190_000), ("original", 700_000...1_000_000),
  ])
  func `without any it is what such pictures usually have`(
    name: String, range: ClosedRange<Int>
  ) throws {
    let size = try #require(PosterSize(rawValue: name))
    #expect(range.contains(PictureWeights.usualBytes(of: size)))
  }
}
