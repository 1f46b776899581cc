import PosterServer

/// The letters of ``BitmapFont``, and what else axes and legends are written with.
enum PlotFont {
  /// The seven rows of a character, the leftmost dot in bit 4; small letters as capitals, no rows for what
  /// it has not, which therefore leaves a blank.
  static func rows(of character: Character) -> [UInt8] {
    if let rows = others[character] { return rows }
    return character.uppercased().first.map { BitmapFont.rows(of: $0) } ?? []
  }

  private static let others: [Character: [UInt8]] = [
    "0": [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    "1": [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    "2": [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
    "3": [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    "4": [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    "5": [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    "6": [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    "7": [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    "8": [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    "9": [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    ".": [0, 0, 0, 0, 0, 0b01100, 0b01100],
    ",": [0, 0, 0, 0, 0b01100, 0b00100, 0b01000],
    ":": [0, 0b01100, 0b01100, 0, 0b01100, 0b01100, 0],
    ";": [0, 0b01100, 0b01100, 0, 0b01100, 0b00100, 0b01000],
    "-": [0, 0, 0, 0b11111, 0, 0, 0],
    "_": [0, 0, 0, 0, 0, 0, 0b11111],
    "/": [0, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0],
    "%": [0b11000, 0b11001, 0b00010, 0b00100, 0b01000, 0b10011, 0b00011],
    "(": [0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010],
    ")": [0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000],
  ]
}
