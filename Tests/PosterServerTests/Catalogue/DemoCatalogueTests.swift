import PosterCache
import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct DemoCatalogueTests {
  private static func items(
    _ media: DemoCatalogue.Media, _ window: DemoCatalogue.Window = .day, pages: ClosedRange<Int>,
    language: String? = nil
  ) throws -> [ListedItem] {
    try pages.flatMap { page in
      let text = DemoCatalogue.page(page, of: media, window: window, language: language).text
      return try ListedPage(Array(text.utf8)).results
    }
  }

  @Test func `ten pages of everything have 190 distinct pictures among 200 results`() throws {
    let items = try Self.items(.all, pages: 1...10)
    #expect(items.count == 200)
    #expect(Set(items.compactMap(\.file)).count == 190)
    #expect(items.filter { $0.path == .null }.count == 3)
    #expect(items.filter { $0.path == .missing }.count == 2)
    #expect(items.filter { $0.path == .some("") }.count == 1)
    #expect(items.filter { $0.path == .some("null") }.count == 1)
    #expect(items.filter { $0.mediaType == "person" }.count == 3)
    #expect(items.compactMap(\.file).allSatisfy { DemoPoster.isName($0) })
    // Good paths with no slash and with two.
    func path(_ item: ListedItem) -> String {
      if case .some(let text) = item.path { text } else { "" }
    }
    #expect(items.contains { path($0).hasSuffix(".jpg") && !path($0).hasPrefix("/") })
    #expect(items.contains { path($0).hasPrefix("//") })
  }

  @Test func `repeats stand on both sides of a page border, and nowhere else`() throws {
    let items = try Self.items(.all, pages: 1...60)
    var repeats: [Int] = []
    for position in 1..<items.count where items[position] == items[position - 1] {
      repeats.append(position)
    }
    #expect(repeats.prefix(3) == [40, 100, 160])
    #expect(repeats.allSatisfy { $0 % 20 == 0 })
    #expect(Set(items.map { "\($0.mediaType) \($0.id)" }).count == items.count - repeats.count)
    // Some films and series share a number, so that only the pair tells them apart.
    #expect(Set(items.map(\.id)).count < items.count - repeats.count)
  }

  @Test(arguments: [DemoCatalogue.Media.movie, .tv, .person])
  func `a list of one kind holds that kind only`(media: DemoCatalogue.Media) throws {
    let items = try Self.items(media, pages: 1...10)
    #expect(items.allSatisfy { $0.mediaType == media.rawValue })
    #expect(items.contains { $0.path == .null })
    #expect(items.contains { $0.path == .missing })
    #expect(items.contains { $0.path == .some("") })
    #expect(Set(items.compactMap(\.file)).count == 190)
  }

  @Test func `a week is another list that shares titles with a day`() throws {
    let day = try Self.items(.movie, .day, pages: 1...10)
    let week = try Self.items(.movie, .week, pages: 1...10)
    #expect(day != week)
    #expect(!Set(day.map(\.id)).isDisjoint(with: week.map(\.id)))
  }

  private static func related(
    _ relation: DemoCatalogue.Relation, to identifier: Int, of media: DemoCatalogue.Media
  ) throws -> [ListedItem] {
    try (1...3).flatMap { page in
      let answer = DemoCatalogue.relatedPage(
        page, relation, to: identifier, of: media, language: nil)
      return try ListedPage(Array(try #require(answer).text.utf8)).results
    }
  }

  @Test(arguments: [DemoCatalogue.Media.movie, .tv])
  func `related titles are 60 others of the kind, as the trending list has them`(
    media: DemoCatalogue.Media
  ) throws {
    let known = try Self.items(media, pages: 1...60)
    let paths = Dictionary(known.map { ($0.id, $0.path) }, uniquingKeysWith: { first, _ in first })
    for relation in [DemoCatalogue.Relation.similar, .recommendations] {
      let items = try Self.related(relation, to: 1_001, of: media)
      #expect(items.count == 60 && Set(items.map(\.id)).count == 60)
      #expect(!items.map(\.id).contains(1_001))
      #expect(items.filter { $0.path == .null }.count >= 3)
      #expect(items.filter { $0.file != nil }.count >= 50)
      #expect(items.allSatisfy { item in paths[item.id].map { $0 == item.path } ?? true })
      let kind = relation == .recommendations ? media.rawValue : ""
      #expect(items.allSatisfy { $0.mediaType == kind })
      #expect(try items == Self.related(relation, to: 1_001, of: media))
      #expect(try items != Self.related(relation, to: 1_002, of: media))
    }
    #expect(
      try Self.related(.similar, to: 1_001, of: media).map(\.id)
        != Self.related(.recommendations, to: 1_001, of: media).map(\.id))
  }

  @Test func `every film and every series has related titles`() throws {
    func hasPage(_ identifier: Int, _ media: DemoCatalogue.Media) -> Bool {
      DemoCatalogue.relatedPage(1, .similar, to: identifier, of: media, language: nil) != nil
    }
    for identifier in [1, 999, 1_000, 2_240, Int.max] {
      #expect(hasPage(identifier, .movie) && hasPage(identifier, .tv))
    }
    #expect(!hasPage(0, .movie) && !hasPage(-1, .tv) && !hasPage(1_001, .person))
    let text = DemoCatalogue.relatedPage(4, .similar, to: 1_001, of: .tv, language: nil)?.text
    let page = try ListedPage(Array(try #require(text).utf8))
    #expect((page.page, page.totalPages, page.totalResults) == (4, 3, 60))
    #expect(page.results == [])
  }

  @Test func `pages beyond the last are empty`() throws {
    let text = DemoCatalogue.page(61, of: .all, window: .day, language: nil).text
    let page = try ListedPage(Array(text.utf8))
    #expect((page.page, page.totalPages, page.totalResults) == (61, 60, 1_200))
    #expect(page.results == [])
  }

  @Test func `Korean titles have Hangul and the same pictures`() throws {
    let english = try Self.items(.all, pages: 1...3)
    let korean = try Self.items(.all, pages: 1...3, language: "ko-KR")
    #expect(english.map(\.path) == korean.map(\.path))
    func isHangul(_ text: String) -> Bool {
      text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
    }
    #expect(korean.allSatisfy { isHangul($0.title) && $0.overview.map(isHangul) ?? true })
    #expect(!english.contains { isHangul($0.title) })
    #expect(try Self.items(.all, pages: 1...3, language: "fr-FR") == english)
  }

  @Test func `a poster shows its own title`() throws {
    for item in try Self.items(.all, pages: 1...3) {
      guard let file = item.file else { continue }
      #expect(DemoTitles.caption(for: String(file.dropLast(4))) == item.title)
    }
  }

  @Test func `JSON text is escaped, and numbers keep their thousandths`() {
    let value = JSON.object([
      ("a\"b\\", .string("line\n\u{1}\"한국")), ("n", .thousandths(7_005)), ("i", -3),
      ("list", .array([true, .null])),
    ])
    #expect(
      value.text == #"{"a\"b\\":"line\n\u0001\"한국","n":7.005,"i":-3,"list":[true,null]}"#)
  }
}
