import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LineSplitterTests {
  /// What comes of `pieces`, one after the other.
  private func lines(_ pieces: [[UInt8]]) -> [LineSplitter.Line] {
    var splitter = LineSplitter()
    var lines: [LineSplitter.Line] = []
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        var position = 0
        while let line = splitter.nextLine(in: bytes, at: &position) { lines.append(line) }
        precondition(position == bytes.count)
      }
    }
    if let line = splitter.finish() { lines.append(line) }
    return lines
  }

  private func lines(_ text: String) -> [LineSplitter.Line] { lines([Array(text.utf8)]) }

  private func text(_ number: Int, _ text: String) -> LineSplitter.Line {
    LineSplitter.Line(number: number, content: .text(text))
  }

  @Test func `all kinds of line ends, and none`() {
    #expect(
      lines("a\nb\r\nc\rd\n\re\r\r\nf") == [
        text(1, "a"), text(2, "b"), text(3, "c"), text(4, "d"), text(6, "e"), text(8, "f"),
      ])
    #expect(lines("") == [] && lines("\n\r\n \t") == [])
    #expect(lines("a\n") == [text(1, "a")] && lines("a\r") == [text(1, "a")])
  }

  @Test func `byte order marks, white space, empty lines and comments say nothing`() {
    let list =
      "\u{FEFF} \t a b \u{0B}\u{0C}\n# comment\n\n  #another\n\u{FEFF}#third\n\u{FEFF}c#d\n\u{FEFF}"
    #expect(lines(list) == [text(1, "a b"), text(6, "c#d")])
  }

  @Test func `what is no text is told, and null bytes are text`() {
    let found = lines([[0x61, 0xFF, 0x0A], [0x62, 0x00, 0x0A, 0xC3]])
    #expect(
      found == [
        LineSplitter.Line(number: 1, content: .notText), text(2, "b\0"),
        LineSplitter.Line(number: 3, content: .notText),
      ])
  }

  @Test func `a line may be as long as an address, without what surrounds it`() {
    let longest = String(repeating: "x", count: LineSplitter.longestLine)
    let space = String(repeating: " ", count: 100_000)
    for (line, content) in [
      (longest, LineSplitter.Line.Content.text(longest)), (longest + "x", .overlong),
      ("\u{FEFF}" + longest, .text(longest)), ("\u{FEFF}" + longest + "x", .overlong),
      (space + longest + space, .text(longest)), (space + longest + "x" + space, .overlong),
      ("a" + space + "b", .overlong), ("a" + space, .text("a")),
      (String(repeating: "x", count: 1_000_000), .overlong),
    ] {
      for end in ["", "\n", "\r\nb"] {
        let found = lines("\n" + line + end)
        let isRight =
          found.first == LineSplitter.Line(number: 2, content: content)
          && found.dropFirst().elementsEqual(end == "\r\nb" ? [text(3, "b")] : [])
        #expect(isRight, "\(line.utf8.count) bytes, end \(end.utf8.count)")
      }
    }
    #expect(lines("#" + longest + longest + "\nb") == [text(2, "b")])
  }

  @Test func `never more is held than the longest line`() {
    var splitter = LineSplitter()
    let piece = [UInt8](repeating: 0x78, count: 1 << 20)
    for _ in 0..<60 {
      piece.withUnsafeBytes { bytes in
        var position = 0
        precondition(splitter.nextLine(in: bytes, at: &position) == nil)
      }
    }
    #expect(splitter.heldBytes <= LineSplitter.longestLine + 3)
  }

  /// The rules once more, over the whole list at once.
  private func linesOfWhole(_ bytes: [UInt8]) -> [LineSplitter.Line] {
    var lines: [[UInt8]] = [[]]
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x0D:
        lines.append([])
        if index + 1 < bytes.count, bytes[index + 1] == 0x0A { index += 1 }
      case 0x0A: lines.append([])
      default:
        let rest = bytes[index...].prefix { $0 != 0x0A && $0 != 0x0D }
        lines[lines.count - 1] += rest
        index += rest.count - 1
      }
      index += 1
    }
    return zip(1..., lines).compactMap { number, line in
      let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0B || $0 == 0x0C }
      var rest = Array(line.drop(while: isSpace))
      if rest.prefix(3) == [0xEF, 0xBB, 0xBF] { rest = Array(rest[3...].drop(while: isSpace)) }
      while let last = rest.last, isSpace(last) { rest.removeLast() }
      if rest.isEmpty || rest[0] == 0x23 { return nil }
      if rest.count > LineSplitter.longestLine { return .init(number: number, content: .overlong) }
      let text = String(validating: rest, as: UTF8.self)
      return .init(number: number, content: text.map { .text($0) } ?? .notText)
    }
  }

  @Test func `it does not matter where pieces end`() {
    var generator = SeededGenerator()
    let words: [[UInt8]] = [
      [0x0A], [0x0D], [0x0D, 0x0A], [0x20], [0x09], [0x23], [0xEF, 0xBB, 0xBF], [0x61],
      [0xC3, 0xA4],
      [0xFF], [0], Array("http://a.example/b.jpg".utf8), [0x0A, 0x0A],
      [UInt8](repeating: 0x78, count: 5000), [UInt8](repeating: 0x20, count: 5000),
    ]
    for round in 0..<60 {
      let count = Int.random(in: 0...30, using: &generator)
      let list = (0..<count).flatMap { _ in words.randomElement(using: &generator) ?? [] }
      var pieces: [[UInt8]] = []
      var rest = list[...]
      let largest = [1, 3, 40, 10_000].randomElement(using: &generator) ?? 1
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 0...largest, using: &generator))
        pieces.append(Array(piece))
        rest = rest.dropFirst(piece.count)
      }
      let isRight = lines(pieces) == linesOfWhole(list)
      #expect(isRight, "seed \(generator.seed), round \(round)")
    }
  }
}
