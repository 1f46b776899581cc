import FoundationEssentials

@testable import PosterCache

/// What libFuzzer calls with each input: a list of addresses or a JSON document. Its last byte says what it
/// is taken for.
///
/// Whatever the input, there are items with addresses that can do no harm, or reasons of one line why not;
/// all else traps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: bytes, count: count)
  guard let choice = input.last else { return 0 }
  let content = Array(input.dropLast())
  switch choice % 5 {
  case 0: splitLines(content, at: Int(choice) * content.count / 255)
  case 1:
    read { () throws(PosterError) in
      try DocumentPage(json: PosterBody(copying: content), name: "the input").entries
    }
  default:
    let list = SpotifyList.allCases[Int(choice) % 5 - 2]
    read { () throws(PosterError) in
      try SpotifyPage(list, json: PosterBody(copying: content)).entries
    }
    if let body = SpotifyErrorBody(json: PosterBody(copying: content)) {
      check(
        SpotifyErrorBody.error(
          status: 400, body: body, credential: .bearerToken("secret"), list: list, isSeeded: false
        ).message)
    }
  }
  return 0
}

/// A list is the same in one piece and in two.
private func splitLines(_ content: [UInt8], at middle: Int) {
  let whole = lines([content])
  precondition(whole == lines([Array(content[..<middle]), Array(content[middle...])]), "\(middle)")
  for line in whole {
    do throws(PosterError) {
      if let entry = try URLListEntry(line.content) { check(entry.artwork) }
    } catch {
      precondition(error.code == .invalidAddress, "\(error)")
      check(ServerWords.oneLine(error.message, longest: 240))
    }
  }
}

private func lines(_ pieces: [[UInt8]]) -> [LineSplitter.Line] {
  var splitter = LineSplitter()
  var lines: [LineSplitter.Line] = []
  for piece in pieces {
    piece.withUnsafeBytes { bytes in
      var position = 0
      while let line = splitter.nextLine(in: bytes, at: &position) { lines.append(line) }
      precondition(position == bytes.count, "\(position) of \(bytes.count)")
    }
  }
  if let line = splitter.finish() { lines.append(line) }
  return lines
}

private func read(_ entries: () throws(PosterError) -> [FeedPageBuilder.Entry]) {
  do throws(PosterError) {
    for entry in try entries() {
      switch entry {
      case .fault(let reason): check(reason)
      case .item(let item): if let artwork = item.artwork { check(artwork) }
      }
    }
  } catch {
    precondition(error.code == .malformedPage, "\(error)")
    check(error.message)
  }
}

/// Nothing in an address ends a header or leaves the place that it is for.
private func check(_ artwork: Artwork) {
  guard let address = artwork.request()?.address.canonical else { fatalError("\(artwork)") }
  precondition(address.utf8.allSatisfy { (0x21...0x7E).contains($0) }, address)
  precondition(address.hasPrefix("http://") || address.hasPrefix("https://"), address)
  // Host, path and query.
  let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
  let path = parts[3].prefix { $0 != "?" }.split(separator: "/")
  precondition(!path.contains(".."), address)
  if case .path = artwork {
    precondition(address.hasPrefix("https://image.tmdb.org/t/p/w342/"), address)
  }
}

/// One line of limited length without control characters.
private func check(_ message: String) {
  precondition(message.unicodeScalars.count < 600, message)
  precondition(
    message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, message)
}
