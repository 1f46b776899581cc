import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct ResamplerTests {
  @Test(arguments: [
    (64, 96, 20, 30), (64, 96, 63, 95), (61, 33, 7, 4), (40, 60, 40, 20), (17, 9, 51, 27),
    (50, 75, 1, 1), (5, 3, 5, 3), (3, 2, 40, 1), (21, 40, 63, 120), (9, 31, 10, 200),
  ])
  func `an opaque picture comes out as the definition says`(
    _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int
  ) {
    let (from, to) = (
      PixelSize(width: width, height: height), PixelSize(width: newWidth, height: newHeight)
    )
    let pixels = Self.picture(from, alpha: nil)
    let difference = Self.differences(
      Self.resampled(pixels, from, to, isOpaque: true),
      LanczosReference(pixels, from, to: to).pixels)
    // The reference rounds in between and cuts off what overshoots there.
    #expect(difference.mean < 0.4, "\(difference)")
    #expect(difference.largest <= 6, "\(difference)")
  }

  @Test(arguments: [(64, 96, 20, 30), (30, 20, 45, 30), (33, 33, 5, 5)])
  func `a translucent picture is filtered with its colours multiplied by alpha`(
    _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int
  ) {
    let (from, to) = (
      PixelSize(width: width, height: height), PixelSize(width: newWidth, height: newHeight)
    )
    let pixels = Self.picture(from) { x, y in UInt8(20 + 200 * (x + y) / (width + height)) }
    let reference = LanczosReference(pixels, from, to: to).pixels
    let multiplied = Self.resampled(pixels, from, to, isOpaque: false)
    let difference = Self.differences(multiplied, reference)
    #expect(difference.mean < 0.5, "\(difference)")
    #expect(difference.largest <= 6, "\(difference)")
  }

  @Test(arguments: [(64, 96, 20, 30), (30, 20, 45, 30), (33, 33, 5, 5)])
  func `colours fit their alpha, and straight ones are the same colours`(
    _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int
  ) {
    var generator = SeededGenerator(seed: 7)
    let (from, to) = (
      PixelSize(width: width, height: height), PixelSize(width: newWidth, height: newHeight)
    )
    let pixels = Self.picture(from) { x, y in
      // Islands of full and of no opacity, and what is between them.
      [0, 255, .random(in: 0...255, using: &generator)][(x / 6 + y / 6) % 3]
    }
    let multiplied = Self.resampled(pixels, from, to, isOpaque: false)
    for place in stride(from: 0, to: multiplied.count, by: 4) {
      let brightest = multiplied[place..<place + 3].max() ?? 0
      #expect(brightest <= multiplied[place + 3])
    }
    let straight = Self.resampled(pixels, from, to, isOpaque: false, alpha: .straight)
    for place in stride(from: 0, to: straight.count, by: 4) {
      let alpha = Int(straight[place + 3])
      #expect(alpha == Int(multiplied[place + 3]))
      for channel in place..<place + 3 {
        let product = (Int(straight[channel]) * alpha * 2 + 255) / 510
        #expect(abs(product - Int(multiplied[channel])) <= 1)
        if alpha == 0 { #expect(straight[channel] == 0) }
        if alpha == 255 { #expect(straight[channel] == multiplied[channel]) }
      }
    }
  }

  @Test func `a constant picture stays exactly what it is`() {
    var generator = SeededGenerator()
    for _ in 0..<60 {
      let from = PixelSize(
        width: .random(in: 1...90, using: &generator),
        height: .random(in: 1...90, using: &generator))
      let to = PixelSize(
        width: .random(in: 1...90, using: &generator),
        height: .random(in: 1...20, using: &generator))
      let alpha = UInt8.random(in: 4...255, using: &generator)
      let color = (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let comment = "seed \(generator.seed), \(from) to \(to), \(color), alpha \(alpha)"
      let opaque = Self.constant(color + [255], from)
      for isOpaque in [true, false] {
        let result = Self.resampled(opaque, from, to, isOpaque: isOpaque)
        let isSame = result == Self.constant(color + [255], to)
        #expect(isSame, "\(comment)")
      }
      let faint = Self.constant(color + [alpha], from)
      let straight = Self.resampled(faint, from, to, isOpaque: false, alpha: .straight)
      let isSame = straight == Self.constant(color + [alpha], to)
      #expect(isSame, "\(comment)")
      let multiplied = Self.resampled(faint, from, to, isOpaque: false)
      let first = Array(multiplied.prefix(4))
      let isConstant = multiplied == Self.constant(first, to)
      #expect(isConstant, "\(comment)")
      for (channel, value) in color.enumerated() {
        let product = Double(value) * Double(alpha) / 255
        #expect(abs(Double(first[channel]) - product) <= 0.51, "\(comment)")
      }
      #expect(first[3] == alpha, "\(comment)")
    }
  }

  @Test func `colours of transparent pixels do not show`() {
    let from = PixelSize(width: 40, height: 40)
    let pixels = (0..<1600).flatMap { place -> [UInt8] in
      place % 40 < 20 ? [10, 200, 30, 255] : [255, 0, 255, 0]
    }
    let straight = Self.resampled(
      pixels, from, PixelSize(width: 10, height: 10), isOpaque: false, alpha: .straight)
    for place in stride(from: 0, to: straight.count, by: 4) {
      let pixel = Array(straight[place..<place + 4])
      if pixel[3] == 0 {
        #expect(pixel == [0, 0, 0, 0])
      } else {
        #expect(zip(pixel, [10, 200, 30]).allSatisfy { abs(Int($0) - $1) <= 2 }, "\(pixel)")
      }
    }
  }

  @Test(arguments: [
    (1, 30_000, 1, 1), (30_000, 1, 1, 1), (30_000, 1, 30, 1), (1, 1, 100, 100), (1, 1, 1, 1),
    (2, 1, 1000, 1), (1, 3, 1, 1000), (1, 30_000, 1, 29_999),
  ])
  func `the longest and the narrowest pictures come out`(
    _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int
  ) {
    let (from, to) = (
      PixelSize(width: width, height: height), PixelSize(width: newWidth, height: newHeight)
    )
    let result = Self.resampled(
      Self.constant([1, 128, 254, 255], from), from, to, isOpaque: true)
    let isSame = result == Self.constant([1, 128, 254, 255], to)
    #expect(isSame)
  }

  @Test func `a picture that ends within its last pixels is not squeezed`() {
    // 33 columns at half their size are 16.5: the same ramp, in 17 columns of which the last is half.
    let ramp = (0..<17).map { min(Double($0) * 14 + 7, 255) }
    let pixels = ramp.flatMap { value -> [UInt8] in [UInt8(value), 0, 0, 255] }
    let from = PixelSize(width: 17, height: 1)
    var resampler = Resampler(
      from: from, extent: (16.5, 1), to: PixelSize(width: 11, height: 1), isOpaque: true,
      alpha: .premultiplied)
    pixels.withUnsafeBufferPointer { resampler.append($0.baseAddress!) }  // not empty
    let result = resampler.finish().withUnsafeBytes { Array($0) }
    for place in 1..<10 {
      // The output's pixel centres lie at 1.5, 3, … of the input's pixels, which begin at 0.
      let expected = (Double(place) + 0.5) * 1.5 * 14
      #expect(abs(Double(result[place * 4]) - expected) <= 1, "\(place)")
    }
  }

  @Test func `weights add up to one and fit into their bits, in any direction`() {
    var generator = SeededGenerator()
    for _ in 0..<300 {
      let input = Int.random(in: 1...400, using: &generator)
      let output = Int.random(in: 1...400, using: &generator)
      let weights = ResamplingWeights(from: input, to: output)
      let comment = "seed \(generator.seed): \(input) to \(output)"
      #expect(
        weights.pairs <= ResamplingWeights.maximumPairs(from: input, to: output), "\(comment)")
      for place in 0..<output {
        let window = weights.weights[place * weights.pairs..<(place + 1) * weights.pairs]
        let singles = window.flatMap { [Int(Int16(truncatingIfNeeded: $0)), Int($0 >> 16)] }
        #expect(singles.reduce(0, +) == ResamplingWeights.one, "\(comment)")
        // What passes through both filters at most: it must fit into 16 bits with a sign in between.
        #expect(singles.reduce(0) { $0 + max($1, 0) } < 2 * ResamplingWeights.one, "\(comment)")
        let start = Int(weights.starts[place])
        #expect(start >= 0 && start + weights.pairs <= (input + 1) / 2, "\(comment)")
        // Rows that a window has left behind are gone.
        #expect(place == 0 || start >= Int(weights.starts[place - 1]), "\(comment)")
        // An odd row has no last position in its last pair.
        let isPastEnd = input % 2 == 1 && start + weights.pairs == (input + 1) / 2
        if isPastEnd { #expect(singles.last == 0, "\(comment)") }
      }
    }
  }

  @Test func `what shrinking needs is told in advance`() {
    let poster = Resampler.workingBytes(
      from: PixelSize(width: 500, height: 750), to: PixelSize(width: 154, height: 231))
    #expect(poster < 256 << 10)
    let large = Resampler.workingBytes(
      from: PixelSize(width: 8000, height: 8000), to: PixelSize(width: 154, height: 154))
    #expect(large < 2 << 20)
    let longest = PixelSize(width: PixelSize.maximumSide, height: PixelSize.maximumSide)
    #expect(Resampler.workingBytes(from: longest, to: longest) > 1 << 34)
    #expect(
      Resampler.workingBytes(from: longest, to: PixelSize(width: 1 << 30, height: 1)) == .max)
  }

  // MARK: Pictures

  private static func resampled(
    _ pixels: [UInt8], _ from: PixelSize, _ to: PixelSize, isOpaque: Bool,
    alpha: Rendition.Alpha = .premultiplied
  ) -> [UInt8] {
    var resampler = Resampler(from: from, to: to, isOpaque: isOpaque, alpha: alpha)
    pixels.withUnsafeBufferPointer { pixels in
      for row in 0..<from.height {
        resampler.append(pixels.baseAddress! + row * from.width * 4)  // not empty
      }
    }
    return resampler.finish().withUnsafeBytes { Array($0) }
  }

  private static func constant(_ pixel: [UInt8], _ size: PixelSize) -> [UInt8] {
    (0..<size.pixels).flatMap { _ in pixel }
  }

  /// Slopes, edges and grain.
  private static func picture(
    _ size: PixelSize, alpha: ((Int, Int) -> UInt8)?
  ) -> [UInt8] {
    var generator = SeededGenerator(seed: 3)
    return (0..<size.pixels).flatMap { place -> [UInt8] in
      let (y, x) = place.quotientAndRemainder(dividingBy: size.width)
      return [
        UInt8(x * 255 / size.width), (x / 8 + y / 8) % 2 == 0 ? 40 : 200,
        UInt8.random(in: 100...140, using: &generator), alpha?(x, y) ?? 255,
      ]
    }
  }

  private static func picture(
    _ size: PixelSize, alpha: (Int, Int) -> UInt8
  ) -> [UInt8] {
    withoutActuallyEscaping(alpha) { picture(size, alpha: Optional($0)) }
  }

  private static func differences(
    _ first: [UInt8], _ second: [UInt8]
  ) -> (mean: Double, largest: Int) {
    let differences = zip(first, second).map { abs(Int($0) - Int($1)) }
    return (Double(differences.reduce(0, +)) / Double(differences.count), differences.max() ?? 0)
  }
}
