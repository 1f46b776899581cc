import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct LinkTextTests {
  @Test(arguments: [
    ("80ms", 80), ("80", 80), ("0.08s", 80), ("0", 0), ("1s", 1000), ("2.5", 3),
    ("3600s", 3_600_000),
  ])
  func `a latency has a unit, or is in milliseconds`(text: String, milliseconds: Int) {
    #expect(LinkText.milliseconds(text) == milliseconds)
  }

  @Test(arguments: [
    "", "ms", "-1", "80 ms", "80m", "1.2.3", "3601s", "1e3", "nan", "inf", "s", ".", "8٠",
  ])
  func `what is no latency is none`(text: String) {
    #expect(LinkText.milliseconds(text) == nil)
  }

  @Test(arguments: [
    ("20Mbit", 2_500_000), ("20Mbit/s", 2_500_000), ("20mbit/s", 2_500_000),
    ("1.5Gbit", 187_500_000),
    ("64kbit", 8000), ("8bit", 1), ("2MB", 2 << 20), ("2MB/s", 2 << 20), ("2.5MiB/s", 2_621_440),
    ("512KB", 512 << 10), ("100B", 100), ("1TB", 1 << 40),
  ])
  func `a bandwidth with a unit means the same everywhere`(text: String, bytesPerSecond: Int) {
    #expect(LinkText.bytesPerSecond(text, bare: .bits) == bytesPerSecond)
    #expect(LinkText.bytesPerSecond(text, bare: .bytes) == bytesPerSecond)
  }

  @Test(arguments: [
    ("20M", 2_500_000, 20 << 20), ("20M/s", 2_500_000, 20 << 20), ("800", 100, 800),
    ("2.5m", 312_500, 2_621_440), ("1G", 125_000_000, 1 << 30),
  ])
  func `a bandwidth without a unit counts what its command counts`(
    text: String, bits: Int, bytes: Int
  ) {
    #expect(LinkText.bytesPerSecond(text, bare: .bits) == bits)
    #expect(LinkText.bytesPerSecond(text, bare: .bytes) == bytes)
  }

  @Test func `of a link, a small b may mean either and is not guessed`() {
    #expect(LinkText.bytesPerSecond("20Mb", bare: .bits) == nil)
    #expect(LinkText.bytesPerSecond("20mb/s", bare: .bits) == nil)
    #expect(LinkText.bytesPerSecond("20mb", bare: .bytes) == 20 << 20)
  }

  @Test(arguments: [
    "", "0", "0M", "-1", "M", "bit", "20X", "20Mbyte", "20 M", "1e9", "nan", "0.4B", "99999999T",
    "/s",
  ])
  func `what is no bandwidth is none`(text: String) {
    #expect(LinkText.bytesPerSecond(text, bare: .bits) == nil)
    #expect(LinkText.bytesPerSecond(text, bare: .bytes) == nil)
  }

  @Test(arguments: [
    (2_500_000, "20 Mbit/s"), (625_000, "5 Mbit/s"), (8000, "64 kbit/s"),
    (187_500_000, "1.5 Gbit/s"),
    (20 << 20, "167.8 Mbit/s"), (1, "0 kbit/s"),
  ])
  func `a bandwidth is told as links are named`(bytesPerSecond: Int, words: String) {
    #expect(LinkText.words(bytesPerSecond: bytesPerSecond) == words)
  }
}
