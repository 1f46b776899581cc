/// A page of JSON Feed 1.0 or 1.1 (jsonfeed.org/version/1.1), read leniently: whatever one item looks like,
/// the rest of the page counts.
///
/// An item's picture is its `image`, else its `banner_image`; attachments are not looked at. Its creator is
/// its `authors` (1.1) or `author` (1.0), else the feed's own.
struct JSONFeedPage: Sendable, Hashable {
  /// The page's items in order.
  var entries: [FeedPageBuilder.Entry]
  /// `next_url` as it stands there, if there is one.
  var next: String?

  /// Whether a document whose `version` is this is one.
  static func isVersion(_ version: String) -> Bool {
    ["https://", "http://", "https://www.", "http://www."].contains { prefix in
      let name = prefix + "jsonfeed.org/version/1"
      return version == name || version.hasPrefix(name + ".") || version == name + "/"
    }
  }

  /// Reads the members of the document; `nil` if it has no list of items.
  init?(_ fields: LenientFields) {
    guard let items = fields.elements("items", of: Item.self) else { return nil }
    let creator = Self.creator(fields)
    entries = items.map { item in
      switch item?.entry {
      case nil: .fault("no JSON object")
      case .fault(let reason): .fault(reason)
      case .item(var item):
        {
          item.creator = item.creator ?? creator
          return .item(item)
        }()
      }
    }
    next = fields.text("next_url")
  }

  /// The names of `authors`, else that of `author`, if there are any.
  private static func creator(_ fields: LenientFields) -> String? {
    let authors = fields.elements("authors", of: NamedObject.self) ?? []
    let names = authors.compactMap { $0?.name }
    guard names.isEmpty else { return names.joined(separator: ", ") }
    return fields.value("author", as: NamedObject.self)?.name
  }

  private struct Item: Decodable {
    let entry: FeedPageBuilder.Entry

    init(from decoder: any Decoder) {
      guard let fields = LenientFields(decoder) else {
        entry = .fault("no JSON object")
        return
      }
      var item = FeedItem(
        id: fields.identifier("id"), kind: .unknown(""), title: fields.text("title"), artwork: nil)
      item.creator = JSONFeedPage.creator(fields)
      var flaw: String?
      for name in ["image", "banner_image"] where item.artwork == nil {
        guard let text = fields.text(name)?.withoutSurroundingWhitespace, !text.isEmpty else {
          continue
        }
        do throws(PosterError) {
          item.artwork = .address(try PosterAddress(String(text)))
        } catch {
          flaw = flaw ?? "its \(name) is \(ServerWords.oneLine(error.message, longest: 240))"
        }
      }
      // One picture that can be had is enough.
      entry = if item.artwork == nil, let flaw { .fault(flaw) } else { .item(item) }
    }
  }
}

/// A JSON object of which only the `name` matters; decodes from anything.
struct NamedObject: Decodable {
  /// `nil` if there is none, or an empty one.
  let name: String?

  init(from decoder: any Decoder) {
    name = LenientFields(decoder)?.text("name")
  }
}
