/// A colour without alpha, such as the average of a poster's.
public struct PosterColor: Sendable, Hashable {
  /// sRGB, 0 to 255.
  public let red, green, blue: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }
}

extension PosterColor: CustomStringConvertible {
  /// `#rrggbb`.
  public var description: String {
    let digits = Array("0123456789abcdef")
    return "#"
      + String([red, green, blue].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
