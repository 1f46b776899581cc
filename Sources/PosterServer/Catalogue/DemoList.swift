import PosterCache

/// A list of the demo origin's API.
enum DemoList {
  case trending(DemoCatalogue.Media, DemoCatalogue.Window)
  case related(DemoCatalogue.Relation, media: DemoCatalogue.Media, identifier: Int)

  /// - Parameter parts: the three parts of its path; `nil` if that names none.
  init?(_ parts: [Substring]) {
    if parts[0] == "trending" {
      guard let media = DemoCatalogue.Media(rawValue: String(parts[1])),
        let window = DemoCatalogue.Window(rawValue: String(parts[2]))
      else { return nil }
      self = .trending(media, window)
    } else {
      guard let media = DemoCatalogue.Media(rawValue: String(parts[0])),
        let identifier = Int(parts[1]),
        let relation = DemoCatalogue.Relation(rawValue: String(parts[2]))
      else { return nil }
      self = .related(relation, media: media, identifier: identifier)
    }
  }

  /// A page of it, from 1; `nil` if there is no such title.
  func page(_ page: Int, language: String?) -> JSON? {
    switch self {
    case .trending(let media, let window):
      DemoCatalogue.page(page, of: media, window: window, language: language)
    case .related(let relation, let media, let identifier):
      DemoCatalogue.relatedPage(page, relation, to: identifier, of: media, language: language)
    }
  }
}
