import Glibc

/// Shrinks or enlarges a picture whose rows come one after the other; the whole of it is never there.
///
/// A separable Lanczos-3 filter (``ResamplingWeights``) on colours multiplied by alpha, so that
/// invisible colours do not bleed into visible ones. Numbers are fixed-point with 16 bits, 6 of them
/// after the point: exact for a constant picture, the same on every machine, and twice as fast as
/// floating point. Each row is filtered horizontally when it comes, and kept that way in a ring of as
/// many rows as the vertical filter reaches over; an output row is made as soon as its last input row is
/// there.
///
/// Not safe to use from two threads at once. Needs ``workingBytes(from:to:)`` besides its result.
struct Resampler: ~Copyable {
  /// Two pixels: red of the first and of the second, green of both, blue of both, alpha of both. Also
  /// one pixel of two rows.
  private typealias Pair = SIMD8<Int16>

  private let from: PixelSize
  private let to: PixelSize
  private let isOpaque: Bool
  private let alpha: Rendition.Alpha
  private let horizontal: ResamplingWeights
  private let vertical: ResamplingWeights
  /// The pairs of the last even row, then those of the odd one after it.
  private let rows: UnsafeMutableBufferPointer<Pair>
  /// Rows that were filtered horizontally, two in one: row pair `p` lies at `p % ringRows`.
  private let ring: UnsafeMutableBufferPointer<Pair>
  private let ringRows: Int
  /// The result; the bitmap takes it over.
  private var output: UnsafeMutableRawBufferPointer
  /// Rows that have come.
  private var appended = 0
  /// Output rows that have been made.
  private var made = 0

  /// Pixels of `from`'s become pixels of `to`'s; neither side needs to become smaller.
  ///
  /// - Parameters:
  ///   - extent: how much of `from` the picture takes up, `nil` all of it: a JPEG of 513 rows decoded at
  ///     half its size has 257, of which the picture is 256.5. Without it the result would be squeezed
  ///     by up to a pixel, which costs more than decoding it at half its size does.
  ///   - isOpaque: promises that alpha is 255 everywhere.
  ///   - alpha: what the result's colours are to be.
  init(
    from: PixelSize, extent: (width: Double, height: Double)? = nil, to: PixelSize, isOpaque: Bool,
    alpha: Rendition.Alpha
  ) {
    self.from = from
    self.to = to
    self.isOpaque = isOpaque
    self.alpha = alpha
    horizontal = ResamplingWeights(from: from.width, extent: extent?.width, to: to.width)
    vertical = ResamplingWeights(from: from.height, extent: extent?.height, to: to.height)
    rows = .allocate(capacity: (from.width + 1) / 2 * 2)
    rows.initialize(repeating: Pair())
    // Windows have the same length and begin one after the other.
    ringRows = vertical.pairs
    ring = .allocate(capacity: ringRows * to.width)
    output = Bitmap.allocate(byteCount: to.pixels * 4)
  }

  deinit {
    rows.deallocate()
    ring.deallocate()
    free(output.baseAddress)
  }

  /// Takes the next row: `from.width` pixels, RGBA8, not multiplied by alpha.
  mutating func append(_ row: UnsafePointer<UInt8>) {
    precondition(appended < from.height, "more rows than the picture has")
    let isEven = appended & 1 == 0
    let place = isEven ? 0 : rows.count / 2
    prepare(row, into: UnsafeMutableBufferPointer(rebasing: rows[place...]).baseAddress!)
    appended += 1
    if isEven && appended < from.height { return }
    filterRows()
    let pair = (appended - 1) / 2
    while made < to.height, Int(vertical.starts[made]) + vertical.pairs - 1 <= pair {
      makeRow()
      made += 1
    }
  }

  /// The picture, once all rows have come; fewer are a programming error.
  consuming func finish() -> Bitmap {
    precondition(appended == from.height, "rows are missing")
    let bytes = output
    output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    return Bitmap(to, alpha: alpha, isOpaque: isOpaque, taking: bytes)
  }

  /// The bytes that shrinking needs at most, besides the result; `Int.max` where it is no number.
  static func workingBytes(from: PixelSize, to: PixelSize) -> Int {
    func bytes(_ pairs: Int, _ count: Int, _ each: Int) -> Int {
      let (product, overflows) = pairs.multipliedReportingOverflow(by: count)
      let (result, overflowsToo) = product.multipliedReportingOverflow(by: each)
      return overflows || overflowsToo ? .max : result
    }
    let across = ResamplingWeights.maximumPairs(from: from.width, to: to.width)
    let down = ResamplingWeights.maximumPairs(from: from.height, to: to.height)
    return [
      bytes(from.width + 1, 1, 16), bytes(down, to.width, 16),
      // The weights, those they are made of, and where they lie.
      bytes(across, to.width, 8), bytes(down, to.height, 8), bytes(to.width + to.height, 1, 40),
    ].reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
  }

  // MARK: Filtering

  /// Bits after the point.
  private static var fraction: Int16 { 6 }

  /// Makes pairs of a row's pixels.
  private func prepare(_ row: UnsafePointer<UInt8>, into pairs: UnsafeMutablePointer<Pair>) {
    let bytes = UnsafeRawPointer(row)
    if isOpaque {
      for place in 0..<from.width / 2 {
        pairs[place] = Self.opaquePair(
          bytes.loadUnaligned(fromByteOffset: place &* 8, as: SIMD8<UInt8>.self))
      }
    } else {
      for place in 0..<from.width / 2 {
        pairs[place] = Self.multipliedPair(
          bytes.loadUnaligned(fromByteOffset: place &* 8, as: SIMD8<UInt8>.self))
      }
    }
    guard from.width & 1 == 1 else { return }
    let last = bytes.loadUnaligned(fromByteOffset: (from.width - 1) * 4, as: SIMD4<UInt8>.self)
    // Nothing takes the second pixel of this pair.
    pairs[from.width / 2] = Self.multipliedPair(SIMD8(lowHalf: last, highHalf: last))
  }

  @inline(__always)
  private static func woven(_ pixels: SIMD8<UInt8>) -> SIMD8<UInt8> {
    var woven = SIMD8<UInt8>()
    woven.evenHalf = pixels.lowHalf
    woven.oddHalf = pixels.highHalf
    return woven
  }

  @inline(__always)
  private static func opaquePair(_ pixels: SIMD8<UInt8>) -> Pair {
    Pair(truncatingIfNeeded: woven(pixels)) &<< fraction
  }

  /// Colours times alpha / 255 with ``fraction`` bits after the point, rounded; exact where alpha is 255.
  @inline(__always)
  private static func multipliedPair(_ pixels: SIMD8<UInt8>) -> Pair {
    var factors = SIMD8<UInt16>()
    factors.evenHalf = SIMD4(repeating: UInt16(pixels[3]))
    factors.oddHalf = SIMD4(repeating: UInt16(pixels[7]))
    factors.highHalf.highHalf = SIMD2(repeating: 255)
    let product = SIMD8<UInt16>(truncatingIfNeeded: woven(pixels)) &* factors
    return Pair(truncatingIfNeeded: (product &+ (product &>> 8) &+ 2) &>> 2)
  }

  /// Filters the two rows horizontally, into the ring.
  private func filterRows() {
    let first = rows.baseAddress!  // allocated
    let second = first + rows.count / 2
    let filtered = ring.baseAddress! + (appended - 1) / 2 % ringRows * to.width  // allocated
    let pairs = horizontal.pairs
    let half = SIMD4<Int32>(repeating: Int32(ResamplingWeights.one / 2))
    let upper = SIMD4<UInt32>(repeating: 0xFFFF_0000)
    horizontal.starts.withUnsafeBufferPointer { starts in
      horizontal.weights.withUnsafeBufferPointer { weights in
        var weight = weights.baseAddress!  // there are some
        for place in 0..<to.width {
          let start = Int(starts[place])
          var sum = half
          var sumBelow = half
          for pair in 0..<pairs {
            let factors = Self.factors(weight[pair])
            sum = sum &+ Self.products(first[start &+ pair], factors)
            sumBelow = sumBelow &+ Self.products(second[start &+ pair], factors)
          }
          weight += pairs
          // What is behind the point goes, and the two rows into the halves of one number.
          let above = (SIMD4<UInt32>(truncatingIfNeeded: sum) &<< 2) &>> 16
          let below = (SIMD4<UInt32>(truncatingIfNeeded: sumBelow) &<< 2) & upper
          filtered[place] = unsafeBitCast(above | below, to: Pair.self)
        }
      }
    }
  }

  /// Filters what the ring holds vertically, into the next output row.
  private func makeRow() {
    let target = output.baseAddress! + made * to.width * 4  // allocated
    vertical.weights.withUnsafeBufferPointer { weights in
      let weight = weights.baseAddress! + made * vertical.pairs  // there are some
      var place = 0
      while place + 4 <= to.width {
        store(fourSums(at: place, weight), at: target + place * 4)
        place += 4
      }
      while place < to.width {
        store(sum(at: place, weight), at: target + place * 4)
        place += 1
      }
    }
  }

  /// The weighted sums of one column.
  private func sum(at place: Int, _ weight: UnsafePointer<Int32>) -> SIMD4<Int32> {
    let source = ring.baseAddress! + place  // allocated
    var slot = Int(vertical.starts[made]) % ringRows
    var sum = SIMD4<Int32>(repeating: Self.half)
    for pair in 0..<vertical.pairs {
      sum = sum &+ Self.products(source[slot &* to.width], Self.factors(weight[pair]))
      slot = slot &+ 1 == ringRows ? 0 : slot &+ 1
    }
    return sum
  }

  /// The weighted sums of four columns side by side, which share the factors.
  private func fourSums(at place: Int, _ weight: UnsafePointer<Int32>) -> SIMD16<Int32> {
    let source = ring.baseAddress! + place  // allocated
    var slot = Int(vertical.starts[made]) % ringRows
    var one = SIMD4<Int32>(repeating: Self.half)
    var (two, three, four) = (one, one, one)
    for pair in 0..<vertical.pairs {
      let factors = Self.factors(weight[pair])
      let pixels = source + slot &* to.width
      one = one &+ Self.products(pixels[0], factors)
      two = two &+ Self.products(pixels[1], factors)
      three = three &+ Self.products(pixels[2], factors)
      four = four &+ Self.products(pixels[3], factors)
      slot = slot &+ 1 == ringRows ? 0 : slot &+ 1
    }
    return SIMD16(
      lowHalf: SIMD8(lowHalf: one, highHalf: two), highHalf: SIMD8(lowHalf: three, highHalf: four))
  }

  /// What sums begin with, so that cutting off rounds.
  private static var half: Int32 { 1 << (sumBits - 1) }
  /// Bits of a vertical sum after the point.
  private static var sumBits: Int32 { Int32(ResamplingWeights.bits) + Int32(fraction) }

  /// `values` within a byte. Not compared, since the compiler would do that with one after the other.
  @inline(__always)
  private static func clamped<Values: SIMD<Int32>>(_ values: Values) -> Values {
    let tooLarge = (255 &- values) &>> 31
    return (values | tooLarge) & ~(values &>> 31) & 255
  }

  /// Four pixels.
  private func store(_ sums: SIMD16<Int32>, at target: UnsafeMutableRawPointer) {
    guard isOpaque else {
      store(sums.lowHalf.lowHalf, at: target)
      store(sums.lowHalf.highHalf, at: target + 4)
      store(sums.highHalf.lowHalf, at: target + 8)
      store(sums.highHalf.highHalf, at: target + 12)
      return
    }
    let values = Self.clamped(sums &>> Self.sumBits)
    target.storeBytes(of: SIMD16<UInt8>(truncatingIfNeeded: values), as: SIMD16<UInt8>.self)
  }

  /// One pixel.
  private func store(_ sums: SIMD4<Int32>, at target: UnsafeMutableRawPointer) {
    var values = Self.clamped(sums &>> Self.sumBits)
    let opacity = values[3]
    let overshoots = sums[3] &>> Self.sumBits > 255
    if opacity > 0 && (overshoots || alpha == .straight && opacity < 255) {
      // Of the sums rather than of what they were rounded to: faint pixels would have few colours. Where
      // alpha overshoots, as the filter does beside edges, colours do as well, and must not.
      let exact = sums &- Self.half
      let factor = 255 / Float(exact[3])
      values = Self.clamped(SIMD4<Int32>(SIMD4<Float>(exact) * factor + 0.5))
      values[3] = opacity
    } else {
      // No colour is brighter than its alpha.
      let below = opacity &- values
      values = values &+ below & (below &>> 31)
    }
    target.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: values), as: SIMD4<UInt8>.self)
  }

  /// A pair of weights for each channel.
  @inline(__always)
  private static func factors(_ weights: Int32) -> Pair {
    unsafeBitCast(SIMD4<Int32>(repeating: weights), to: Pair.self)
  }

  /// The channels' sums of products. The compiler makes one instruction of it.
  @inline(__always)
  private static func products(_ pair: Pair, _ factors: Pair) -> SIMD4<Int32> {
    let products =
      SIMD8<Int32>(truncatingIfNeeded: pair) &* SIMD8<Int32>(truncatingIfNeeded: factors)
    return products.evenHalf &+ products.oddHalf
  }
}
