extension Bitmap {
  /// The average of the pixels' colours, each counted as much as its alpha, rounded to the nearest.
  ///
  /// Whether colours are multiplied by alpha makes no difference. Black where every pixel is transparent:
  /// there is no colour to be seen.
  var averageColor: PosterColor {
    let (red, green, blue, weight) = withUnsafeBytes { bytes in
      var sums: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
      let rowBytes = bytesPerRow
      for row in 0..<size.height {
        let pixels = UnsafeRawBufferPointer(rebasing: bytes[row * rowBytes..<(row + 1) * rowBytes])
        let sum = isOpaque || alpha == .premultiplied ? Self.sum(pixels) : Self.weighted(pixels)
        sums = (sums.0 + sum.0, sums.1 + sum.1, sums.2 + sum.2, sums.3 + sum.3)
      }
      return sums
    }
    guard weight > 0 else { return PosterColor(red: 0, green: 0, blue: 0) }
    // Sums of straight colours were multiplied by alpha, of 255 at most; the others are a 255th of that.
    let factor: UInt64 = isOpaque || alpha == .premultiplied ? 255 : 1
    func average(_ sum: UInt64) -> UInt8 {
      UInt8(min((sum * factor + weight / 2) / weight, 255))
    }
    return PosterColor(red: average(red), green: average(green), blue: average(blue))
  }

  private typealias Sums = (UInt64, UInt64, UInt64, UInt64)

  /// The sums of each channel: of four pixels at once, in numbers of 16 bits as long as those suffice.
  private static func sum(_ pixels: UnsafeRawBufferPointer) -> Sums {
    var total: Sums = (0, 0, 0, 0)
    let whole = pixels.count & ~15
    var place = 0
    while place < whole {
      // 257 bytes' sum is the most that fits into 16 bits.
      let end = min(place &+ 256 &* 16, whole)
      var even = SIMD8<UInt16>()
      var odd = SIMD8<UInt16>()
      while place < end {
        let bytes = pixels.loadUnaligned(fromByteOffset: place, as: SIMD8<UInt16>.self)
        even = even &+ (bytes & 0xFF)
        odd = odd &+ (bytes &>> 8)
        place &+= 16
      }
      total.0 += sum(even.evenHalf)
      total.1 += sum(odd.evenHalf)
      total.2 += sum(even.oddHalf)
      total.3 += sum(odd.oddHalf)
    }
    while place < pixels.count {
      total.0 += UInt64(pixels[place])
      total.1 += UInt64(pixels[place + 1])
      total.2 += UInt64(pixels[place + 2])
      total.3 += UInt64(pixels[place + 3])
      place += 4
    }
    return total
  }

  private static func sum(_ numbers: SIMD4<UInt16>) -> UInt64 {
    UInt64(SIMD4<UInt32>(truncatingIfNeeded: numbers).wrappedSum())
  }

  /// The sums of each colour times alpha, and of alpha.
  private static func weighted(_ pixels: UnsafeRawBufferPointer) -> Sums {
    var sums = SIMD4<UInt32>()
    var total: Sums = (0, 0, 0, 0)
    for place in 0..<pixels.count / 4 {
      let pixel = pixels.load(fromByteOffset: place &* 4, as: SIMD4<UInt8>.self)
      var factors = SIMD4<UInt32>(repeating: UInt32(pixel[3]))
      factors[3] = 1
      sums = sums &+ SIMD4<UInt32>(truncatingIfNeeded: pixel) &* factors
      // 2^16 pixels' products are the most that fit into 32 bits.
      if place & 0xFFFF == 0xFFFF { flush() }
    }
    flush()
    return total

    func flush() {
      total.0 += UInt64(sums[0])
      total.1 += UInt64(sums[1])
      total.2 += UInt64(sums[2])
      total.3 += UInt64(sums[3])
      sums = .zero
    }
  }
}
