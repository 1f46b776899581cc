import Glibc

/// Decides where the lines of a list begin and end, from bytes that come in pieces of any size.
///
/// Lines end with LF, CRLF or a CR by itself; the last one may end with nothing. Dropped are a byte order
/// mark at a line's beginning (lists may have been put together), white space around a line, empty lines
/// and those that begin with `#`. Of a line never more than ``longestLine`` bytes are held.
struct LineSplitter: Sendable {
  /// A line that says something.
  struct Line: Sendable, Hashable {
    enum Content: Sendable, Hashable {
      case text(String)
      /// Longer than ``longestLine``.
      case overlong
      /// Bytes that are no UTF-8.
      case notText
    }

    /// From 1, every line counting.
    var number: Int
    var content: Content
  }

  /// Bytes that a line has at most, without the white space around it.
  static let longestLine = PosterAddress.maximumLength

  /// Bytes that are looked at before they are taken: searching a whole piece for each of many short lines
  /// would take time by the square.
  private static let window = 4096
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The beginning of the line that has not ended yet.
  private var held: [UInt8] = []
  /// Whether bytes that count had to be left out of it.
  private var isOverlong = false
  /// Whether the last byte was a CR, so that a LF belongs to it.
  private var isAfterReturn = false
  private var lineCount = 0

  /// The next line that ends in `bytes`; `nil` when they are used up.
  ///
  /// - Parameter position: where to go on in `bytes`; is moved behind what has been looked at.
  mutating func nextLine(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Line? {
    while position < bytes.count {
      if isAfterReturn {
        isAfterReturn = false
        if bytes[position] == UInt8(ascii: "\n") {
          position += 1
          continue
        }
      }
      let end = min(position + Self.window, bytes.count)
      let rest = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
      guard let length = Self.lineLength(rest) else {
        hold(rest)
        position = end
        continue
      }
      hold(UnsafeRawBufferPointer(rebasing: rest[..<length]))
      isAfterReturn = rest[length] == UInt8(ascii: "\r")
      position += length + 1
      if let line = endLine() { return line }
    }
    return nil
  }

  /// The last line, if it did not end, when nothing more comes.
  mutating func finish() -> Line? {
    held.isEmpty ? nil : endLine()
  }

  /// Bytes that are held of a line that has not ended.
  var heldBytes: Int { held.count }

  // MARK: - Private

  /// How many bytes precede the first that ends a line.
  private static func lineLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
    // Not empty, so that it has an address.
    let start = bytes.baseAddress!
    func offset(of byte: UInt8, in count: Int) -> Int? {
      memchr(start, CInt(byte), count).map { UnsafeRawPointer($0) - start }
    }
    let feed = offset(of: UInt8(ascii: "\n"), in: bytes.count)
    return offset(of: UInt8(ascii: "\r"), in: feed ?? bytes.count) ?? feed
  }

  private mutating func hold(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    // What precedes a line does not count, however much it is: white space, a mark, white space.
    while held.count <= Self.mark.count, Self.mark.starts(with: held) {
      if held.isEmpty || held.count == Self.mark.count { rest = rest.drop(while: Self.isSpace) }
      guard let first = rest.first, held.count < Self.mark.count, first == Self.mark[held.count]
      else { break }
      held.append(first)
      rest = rest.dropFirst()
    }
    let room = Self.longestLine + Self.mark.count - held.count
    held += rest.prefix(room)
    // What follows it does not count either.
    if !isOverlong { isOverlong = !rest.dropFirst(room).allSatisfy(Self.isSpace) }
  }

  /// What the line says that ends here, if anything.
  private mutating func endLine() -> Line? {
    lineCount += 1
    defer {
      held.removeAll(keepingCapacity: true)
      isOverlong = false
    }
    var text = held[...]
    if text.starts(with: Self.mark) { text = text.dropFirst(Self.mark.count) }
    text = text.drop(while: Self.isSpace)
    while let last = text.last, Self.isSpace(last) { text.removeLast() }
    guard let first = text.first, first != UInt8(ascii: "#") else { return nil }
    guard !isOverlong, text.count <= Self.longestLine else {
      return Line(number: lineCount, content: .overlong)
    }
    let content = String(validating: text, as: UTF8.self).map { Line.Content.text($0) }
    return Line(number: lineCount, content: content ?? .notText)
  }

  /// White space that ends no line.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0B || byte == 0x0C
  }
}
