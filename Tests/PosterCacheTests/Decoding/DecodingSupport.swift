import Testing

@testable import PosterCache

extension Bitmap {
  /// A copy of the pixels.
  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  /// The pixel in a column and a row: red, green, blue, alpha.
  func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    withUnsafeBytes { Array($0[(y * size.width + x) * 4..<(y * size.width + x) * 4 + 4]) }
  }

  /// The mean difference of red, green and blue to those of a picture of the same size, in steps of 0
  /// to 255.
  func difference(to other: Bitmap) -> Double {
    precondition(size == other.size, "\(size) and \(other.size) cannot be compared")
    let sum = withUnsafeBytes { left in
      other.withUnsafeBytes { right in
        var sum = 0
        for offset in 0..<left.count where offset % 4 != 3 {
          sum += abs(Int(left[offset]) - Int(right[offset]))
        }
        return sum
      }
    }
    return Double(sum) / Double(size.pixels * 3)
  }
}

/// Straight colours at full size.
let asStored = Rendition(.full, alpha: .straight)

/// Decodes `bytes` as they are.
func decoded(
  _ bytes: some Collection<UInt8>, as rendition: Rendition = asStored,
  limits: DecodingLimits = DecodingLimits(), allowingIncomplete: Bool = false
) throws(PosterError) -> PosterImage {
  try ImageDecoder(limits: limits).decode(
    PosterBody(copying: bytes), as: rendition, allowingIncomplete: allowingIncomplete)
}

/// The code that decoding `bytes` fails with, `nil` if it does not fail.
func failure(
  _ bytes: some Collection<UInt8>, as rendition: Rendition = asStored,
  limits: DecodingLimits = DecodingLimits(), allowingIncomplete: Bool = false
) -> PosterError.Code? {
  do throws(PosterError) {
    _ = try decoded(
      bytes, as: rendition, limits: limits, allowingIncomplete: allowingIncomplete)
    return nil
  } catch {
    return error.code
  }
}
