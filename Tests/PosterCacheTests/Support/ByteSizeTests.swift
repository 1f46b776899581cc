import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ByteSizeTests {
  @Test(arguments: [
    ("0", 0), ("4096", 4096), ("512M", 536_870_912), ("2G", 2_147_483_648), ("1k", 1024),
    ("3KiB", 3072), ("1tb", 1_099_511_627_776),
  ])
  func `sizes are read with binary suffixes`(text: String, bytes: Int) {
    #expect(ByteSize(text)?.bytes == bytes)
  }

  @Test(arguments: ["", "M", "-1", "1.5G", "12X", "1 G", "99999999999G", "9223372036854775808"])
  func `what is no size is refused`(text: String) {
    #expect(ByteSize(text) == nil)
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (40_448, "39.5 KiB"),
    (1 << 20, "1.0 MiB"), ((1 << 20) - 1, "1.0 MiB"), (1 << 30, "1.0 GiB"), (3 << 40, "3.0 TiB"),
  ])
  func `sizes are written with one decimal`(bytes: Int, text: String) {
    #expect(ByteSize(bytes: bytes).description == text)
  }
}
