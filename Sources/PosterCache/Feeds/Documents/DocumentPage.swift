import FoundationEssentials

/// What a JSON document turned out to be: a mixed feed or a page of JSON Feed, told apart by their
/// contents.
///
/// JSON Feed says in `version` that it is one; a mixed feed has its entries in `data`.
struct DocumentPage: Sendable, Hashable {
  /// The document's entries in order.
  var entries: [FeedPageBuilder.Entry]
  /// The address of the page behind this one as the document has it, if there is one.
  var next: String?

  /// - Parameters:
  ///   - json: the document.
  ///   - name: what to call it in a message, such as `the answer`.
  /// - Throws: ``PosterError/Code/malformedPage`` if it is neither; the message says what it is instead.
  init(json: PosterBody, name: String) throws(PosterError) {
    let data = json.data.withoutByteOrderMark
    do {
      self = try JSONDecoder().decode(Document.self, from: data).page
    } catch {
      let came = WhatCame(data).description(
        without: "the data of a mixed feed or the version and items of a JSON Feed", name: name)
      throw PosterError(.malformedPage, "not a feed: \(came)")
    }
  }

  fileprivate init(entries: [FeedPageBuilder.Entry], next: String? = nil) {
    self.entries = entries
    self.next = next
  }
}

private struct Document: Decodable {
  let page: DocumentPage

  init(from decoder: any Decoder) throws {
    let fields = LenientFields(decoder)
    if let fields, let version = fields.text("version"), JSONFeedPage.isVersion(version),
      let feed = JSONFeedPage(fields)
    {
      page = DocumentPage(entries: feed.entries, next: feed.next)
    } else if let items = fields?.elements("data", of: MixedEntry.self) {
      page = DocumentPage(entries: items.map { $0?.entry ?? .fault("no JSON object") })
    } else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "neither of the two"))
    }
  }
}

/// An entry of a mixed feed, or why it is none; decodes from anything.
private struct MixedEntry: Decodable {
  let entry: FeedPageBuilder.Entry

  init(from decoder: any Decoder) {
    do {
      entry = .item(try MixedItem(from: decoder).feedItem)
    } catch DecodingError.dataCorrupted(let context) {
      entry = .fault(context.debugDescription)
    } catch {
      // MixedItem throws nothing else, and an entry must not end the document.
      entry = .fault("no entry of a mixed feed")
    }
  }
}
