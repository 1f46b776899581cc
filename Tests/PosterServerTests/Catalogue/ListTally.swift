import FoundationEssentials
import Testing

@testable import PosterServer

/// What pages of a list hold, counted as a client counts.
struct ListTally: Hashable {
  var entries = 0
  /// Entries that are no objects.
  var faults = 0
  var repeats = 0
  /// Entries without a poster, or as people without a picture.
  var absent = 0
  var posters: Set<Substring> = []
  var backdrops: Set<Substring> = []
  var people: Set<Substring> = []
  /// What people are known for, by kind and identifier, and its posters.
  var known: [String] = []
  var knownPosters: Set<Substring> = []
  var mediaTypes: Set<String?> = []

  private var seen: Set<String> = []

  /// Counts the first `pages` pages.
  init(
    _ site: DemoSite, _ path: String, _ parameters: [String: String] = [:], pages: Int = 1
  ) throws {
    for page in 1...pages {
      let parameters = parameters.merging(["page": String(page)]) { $1 }
      let answer = site.answer(to: path, parameters)
      try #require(answer.status == 200)
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      let content = try decoder.decode(Page.self, from: Data(answer.body.bytes))
      #expect(content.page == page)
      for entry in try #require(content.results ?? content.items) { count(entry) }
    }
  }

  private mutating func count(_ entry: Entry?) {
    entries += 1
    guard let entry else {
      faults += 1
      return
    }
    mediaTypes.insert(entry.mediaType)
    guard seen.insert(entry.name).inserted else {
      repeats += 1
      return
    }
    let isPerson = entry.knownForDepartment != nil
    let poster = Self.file(isPerson ? entry.profilePath : entry.posterPath)
    if let poster {
      if isPerson { people.insert(poster) } else { posters.insert(poster) }
    } else {
      absent += 1
    }
    if let backdrop = Self.file(entry.backdropPath) { backdrops.insert(backdrop) }
    for title in entry.knownFor ?? [] {
      known.append(title.name)
      if let poster = Self.file(title.posterPath) { knownPosters.insert(poster) }
    }
  }

  /// The file that a path names, if it names one.
  private static func file(_ path: String?) -> Substring? {
    guard let path, path != "null" else { return nil }
    let file = path.drop { $0 == "/" }
    return file.isEmpty ? nil : file
  }

  private struct Page: Decodable {
    let page: Int
    let results: [Entry?]?
    let items: [Entry?]?
  }

  private struct Entry: Decodable {
    let id: Int
    let mediaType: String?
    let posterPath: String?
    let profilePath: String?
    let backdropPath: String?
    let knownForDepartment: String?
    let knownFor: [Entry]?

    var name: String { "\(mediaType ?? "") \(id)" }
  }

  /// Entries, faults, repeats, absent posters, posters, backdrops, people.
  var numbers: [Int] {
    [entries, faults, repeats, absent, posters.count, backdrops.count, people.count]
  }
}
