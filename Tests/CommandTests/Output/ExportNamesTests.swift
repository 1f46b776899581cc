import TestSupport
import Testing

@testable import PosterCache
@testable import postercache

@Suite(.timeLimit(.minutes(2)))
struct ExportNamesTests {
  @Test(
    arguments: [
      ("http://h.test/t/p/w342/abc.jpg", .jpeg, "abc.jpg"),
      ("http://h.test/abc.JPG", .jpeg, "abc.JPG"), ("http://h.test/abc.Jpeg", .jpeg, "abc.Jpeg"),
      ("http://h.test/abc.png", .png, "abc.png"), ("http://h.test/abc.webp", .webp, "abc.webp"),
      // What it is decides, not what it is called.
      ("http://h.test/abc.png", .jpeg, "abc.png.jpg"),
      ("http://h.test/abc.jpg", .webp, "abc.jpg.webp"),
      ("http://h.test/abc", .png, "abc.png"), ("http://h.test/jpg", .jpeg, "jpg.jpg"),
      ("http://h.test/abc.", .jpeg, "abc..jpg"), ("http://h.test/a.b.jpg", .jpeg, "a.b.jpg"),
      // A query is no part of the path.
      ("http://h.test/abc.jpg?w=1", .jpeg, "abc.jpg"), ("http://h.test/x?f=/y.jpg", .jpeg, "x.jpg"),
      // No name at all, and names that mean something to the file system or the shell's user.
      ("http://h.test/", .jpeg, "_.jpg"), ("http://h.test/a/", .png, "_.png"),
      ("http://h.test/.jpg", .jpeg, "_.jpg"), ("http://h.test/.hidden", .png, "_.hidden.png"),
      ("http://h.test/..x", .png, "_..x.png"), ("http://h.test/...", .jpeg, "_....jpg"),
      ("http://h.test/a/..%2F..%2Fetc%2Fpasswd", .jpeg, "_..%2F..%2Fetc%2Fpasswd.jpg"),
      ("http://h.test/%2e%2e%2f", .jpeg, "_..%2F.jpg"),
      ("http://h.test/a%00.jpg", .jpeg, "a%00.jpg"),
      ("http://h.test/a b\\c.jpg", .jpeg, "a%20b%5Cc.jpg"),
      ("http://h.test/포스터.jpg", .jpeg, "%ED%8F%AC%EC%8A%A4%ED%84%B0.jpg"),
      ("http://h.test/-rf", .jpeg, "-rf.jpg"),
    ] as [(String, ImageType, String)])
  func `a name is the last component, made harmless`(
    address: String, type: ImageType, expected: String
  ) throws {
    #expect(ExportName(try PosterAddress(address), type).text == expected)
  }

  @Test(
    arguments: [
      ("", "_.jpg"), (".", "_..jpg"), ("..", "_...jpg"), ("../x", "_..%2Fx.jpg"), ("/", "%2F.jpg"),
      ("a\u{0}b", "a%00b.jpg"), ("a\nb\u{7F}.jpg", "a%0Ab%7F.jpg"), ("é.jpg", "%C3%A9.jpg"),
    ])
  func `what no address can hold is harmless, too`(component: String, expected: String) {
    #expect(ExportName(component: component, .jpeg).text == expected)
  }

  @Test func `a name has at most 255 bytes, and keeps its extension`() {
    let long = String(repeating: "x", count: 300)
    func name(_ component: String) -> ExportName { ExportName(component: component, .jpeg) }
    #expect(name("\(long).jpeg").text == String(long.prefix(250)) + ".jpeg")
    #expect(name(long).text == String(long.prefix(251)) + ".jpg")
    #expect(name(String(long.prefix(251)) + ".jpg").text == String(long.prefix(251)) + ".jpg")
    let marked = name("\(long).jpg").text(markedWith: "0123456789abcdef")
    #expect(marked == String(long.prefix(234)) + "-0123456789abcdef.jpg")
    #expect(marked.utf8.count == 255)
    #expect(name("abc.jpg").text(markedWith: "0123") == "abc-0123.jpg")
  }

  @Test func `all that would get one name are marked with their keys, the others are not`() throws {
    let pictures = try [
      "http://h.test/w92/abc.jpg", "http://h.test/w342/abc.jpg", "http://other.test/abc.jpg",
      "http://h.test/only.jpg", "http://h.test/a?v=1", "http://h.test/a?v=2",
    ].map { try picture($0) }
    let marks = pictures.map { $0.key.description.prefix(16) }
    #expect(
      ExportNames(pictures).texts == [
        "abc-\(marks[0]).jpg", "abc-\(marks[1]).jpg", "abc-\(marks[2]).jpg", "only.jpg",
        "a-\(marks[4]).jpg", "a-\(marks[5]).jpg",
      ])
    #expect(ExportNames([pictures[0], pictures[3]]).texts == ["abc.jpg", "only.jpg"])
    #expect(ExportNames([]).texts == [])
  }

  @Test func `a name that imitates another's mark takes nothing from it`() throws {
    let victims = try ["http://h.test/w92/abc.jpg", "http://h.test/w342/abc.jpg"].map {
      try picture($0)
    }
    let mark = victims[0].key.description.prefix(16)
    let imitation = try picture("http://evil.test/abc-\(mark).jpg")
    let innocent = try picture("http://h.test/abc-0123456789abcdef.jpg")
    let names = ExportNames(victims + [imitation, innocent]).texts
    #expect(names[0] == "abc-\(mark).jpg")
    #expect(names[2] == "abc-\(mark)-\(imitation.key.description.prefix(16)).jpg")
    #expect(names[3] == "abc-0123456789abcdef.jpg")
    #expect(Set(names).count == 4)
  }

  @Test func `equal marks become whole keys`() throws {
    var (first, second) = try (picture("http://a.test/abc.jpg"), picture("http://b.test/abc.jpg"))
    first.key = CacheKey(high: 7, low: 1)
    second.key = CacheKey(high: 7, low: 2)
    #expect(
      ExportNames([first, second]).texts == [
        "abc-00000000000000070000000000000001.jpg", "abc-00000000000000070000000000000002.jpg",
      ])
  }

  @Test func `hostile names stay in their directory, each its own, in any order`() throws {
    var generator = SeededGenerator()
    let pieces = [
      "a", "b", ".", "..", "%2F", "%00", "%2e", "-", "_", ".jpg", ".JPEG", ".png", "é", " ", "\\",
      "0123456789abcdef", "0123456789ABCDEF", String(repeating: "y", count: 240), "?q=1", ";", "*",
    ]
    for round in 0..<300 {
      let context = "seed \(generator.seed), round \(round)"
      var pictures: [ExportNames.Picture] = []
      // Few different halves of keys, so that marks collide and are imitated.
      let halves = [0x0123_4567_89ab_cdef, 1, 2, UInt64.random(in: 0 ... .max, using: &generator)]
      for number in 0..<Int.random(in: 1...60, using: &generator) {
        var component = ""
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
          component += pieces.randomElement(using: &generator) ?? ""
        }
        if Bool.random(using: &generator), let half = halves.randomElement(using: &generator) {
          component += "-\(CacheKey(high: half, low: 0).description.prefix(16)).jpg"
        }
        pictures.append(
          ExportNames.Picture(
            key: CacheKey(
              high: halves.randomElement(using: &generator) ?? 0, low: UInt64(number)),
            address: try PosterAddress("http://h.test/p/\(component)"),
            type: ImageType.allCases.randomElement(using: &generator) ?? .jpeg))
      }
      let names = ExportNames(pictures).texts
      for (picture, name) in zip(pictures, names) {
        #expect(isHarmless(name), "\(name), \(context)")
        let kinds = picture.type == .jpeg ? ["jpg", "jpeg"] : [picture.type.rawValue]
        let given = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        #expect(kinds.contains(given), "\(name), \(context)")
      }
      #expect(Set(names).count == names.count, "\(context)")
      // Whoever is alone with a plain name that is nobody's mark keeps it.
      for (picture, name) in zip(pictures, names) {
        let plain = ExportName(picture.address, picture.type)
        let isAlone =
          pictures.count { ExportName($0.address, $0.type).text == plain.text } == 1
        if isAlone, !plain.stem.contains("-") { #expect(name == plain.text, "\(context)") }
        if !isAlone { #expect(name != plain.text, "\(context)") }
      }
      let order = Array(pictures.indices).shuffled(using: &generator)
      let shuffled = ExportNames(order.map { pictures[$0] }).texts
      #expect(shuffled == order.map { names[$0] }, "\(context)")
    }
  }

  @Test func `a size is looked for in the path only`() throws {
    let address = try PosterAddress("http://w92/t/p/w342/abc.jpg?w=/w500/")
    #expect(address.hasPathComponent("w342") && address.hasPathComponent("t"))
    #expect(!address.hasPathComponent("w92") && !address.hasPathComponent("w500"))
    #expect(!address.hasPathComponent("w34"))
  }

  private func picture(_ text: String) throws -> ExportNames.Picture {
    let address = try PosterAddress(text)
    return ExportNames.Picture(key: CacheKey(address), address: address, type: .jpeg)
  }

  /// Whether `name` is one component that is no hidden file.
  private func isHarmless(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
  }
}
