import PosterCache
import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct DemoFeedsTests {
  private static let site = DemoSite(authority: "127.0.0.1:1", requiresCredential: true)
  private static let base = "http://demo.test/t/p/w342/"

  @Test func `the mixed feed has 60 entries with 26 pictures and nine that are none`() throws {
    let entries = try #require(try Self.site.tree(of: "/feeds/mixed.json")["data"]).elements
    #expect(entries.count == 60)
    let known = ["CONTENT_WITH_TITLE", "IMAGE_ONLY", "TITLE_ONLY"]
    func isAddress(_ text: String) -> Bool {
      text.hasPrefix(Self.base) || text.hasPrefix("/") && !text.contains("..")
    }
    var faults: [Int] = []
    var absent: [Int] = []
    var pictures: Set<String> = []
    for (place, entry) in entries.enumerated() where place != 51 {
      let type = entry["type"]?.text ?? ""
      let image = entry["imageURL"]?.text ?? ""
      if !known.contains(type) || type == "IMAGE_ONLY" && image.isEmpty
        || type != "IMAGE_ONLY" && entry["title"]?.text == nil
        || !image.isEmpty && !isAddress(image)
      {
        faults.append(place)
      } else if image.isEmpty {
        absent.append(place)
      } else {
        pictures.insert(image)
      }
    }
    #expect(faults == [10, 13, 19, 25, 28, 31, 33, 36, 39])
    #expect(absent.filter { $0 % 3 != 2 } == [6, 24, 42, 48] && absent.count == 24)
    #expect(pictures.count == 26)
    #expect(pictures.count { $0.hasPrefix("/") } == 2)
    #expect(entries[51] == entries[45])
    #expect(entries[10]["type"] == .text("VIDEO_ONLY") && entries[25] == .null)
  }

  @Test func `the JSON Feed has three pages with 29 pictures`() throws {
    var items: [AnswerTree] = []
    var page: String? = "1"
    while let number = page {
      let feed = try Self.site.tree(of: "/feeds/feed.json", ["page": number])
      #expect(feed["version"] == .text("https://jsonfeed.org/version/1.1"))
      #expect(feed["items"]?.elements.count == 12)
      items += feed["items"]?.elements ?? []
      page = feed["next_url"]?.text.map { next in
        #expect(next.hasPrefix("http://demo.test/feeds/feed.json?page="))
        return String(next.suffix(1))
      }
    }
    #expect(items.count == 36 && items[24] == items[23] && items[14] == .null)
    func pictures(_ places: Range<Int>) -> Int {
      places.count { place in
        ["image", "banner_image"].contains { name in
          place != 24 && items[place][name]?.text?.hasPrefix("http://demo.test/t/p/") == true
        }
      }
    }
    #expect(pictures(0..<36) == 29 && pictures(0..<12) == 10)
    #expect(items[22]["image"] == .text("file:///etc/passwd") && items[9]["image"] == .text(""))
    for place in [7, 19, 31] {
      #expect(items[place]["image"] == nil && items[place]["banner_image"] == nil)
    }
    #expect(items[2]["id"] == .number(2))
    for page in ["0", "4", "x"] {
      #expect(Self.site.answer(to: "/feeds/feed.json", ["page": page]).status == 404)
    }
  }

  @Test func `the list of addresses has 40 pictures in 50 lines`() throws {
    let text = try Self.site.text(of: "/feeds/urls.txt")
    #expect(text.hasPrefix("\u{FEFF}#") && !text.hasSuffix("\n"))
    #expect(text.contains("\r\n") && text.split(separator: "\n").count > 30)
    // A carriage return and a line feed are one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    #expect(lines.count == 50)
    var pictures: Set<Substring> = []
    var bad: [Int] = []
    for (index, line) in lines.enumerated() where index > 0 {
      let isPath = line.hasPrefix("/") && line.hasSuffix(".jpg") && !line.hasPrefix("//")
      if isPath || line.hasPrefix(Self.base) {
        #expect(DemoPoster.isName(line.split(separator: "/").last ?? ""))
        #expect(pictures.insert(line).inserted != (index == 31))
      } else if !line.hasPrefix("#"), line.contains(where: { $0 != " " }) {
        bad.append(index + 1)
      }
    }
    #expect(bad == DemoFeeds.badLines)
    #expect(pictures.count == 40 && pictures.count { $0.hasPrefix("/") } == 10)
  }

  @Test func `feeds want no credential and have validators`() {
    for (path, type) in [
      ("mixed.json", "application/json;charset=utf-8"), ("feed.json", "application/feed+json"),
      ("urls.txt", "text/plain; charset=utf-8"),
    ] {
      let answer = Self.site.answer(to: "/feeds/\(path)", headers: [:])
      #expect(answer.status == 200 && answer.header("Content-Type") == type)
      #expect(answer.header("Cache-Control") == "public, max-age=300")
      #expect(answer.header("ETag")?.hasPrefix("W/\"") == true)
      // Whoever names no host gets the server's own.
      let text = String(decoding: answer.body.bytes, as: UTF8.self)
      #expect(text.contains("http://127.0.0.1:1/t/p/w342/"))
    }
  }
}
