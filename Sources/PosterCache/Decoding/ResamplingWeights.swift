import Glibc

/// What each output position of one dimension takes from which input positions: Lanczos-3, its support
/// scaled with the reduction.
///
/// The window of output `x` is centred at `(x + 0.5) * scale` and reaches `3 * max(scale, 1)` to either
/// side, cut off at the edges; its weights add up to exactly ``one``, so that a constant stays what it
/// is. The definition is Pillow's (`Image.LANCZOS`, `src/libImaging/Resample.c`).
///
/// Input positions go in pairs, since processors multiply 16-bit numbers in pairs (`pmaddwd`): pair `p`
/// is positions `2 * p` and `2 * p + 1`. All windows are ``pairs`` long.
struct ResamplingWeights {
  /// How many pairs a window takes.
  let pairs: Int
  /// The first pair of each window, never before that of the window before; a window ends within the
  /// input.
  let starts: [Int32]
  /// The weights of each window in turn, a pair's in one number: the first position's in the lower half.
  let weights: [Int32]

  /// The sum of a window's weights, as a power of two. 14: then a weight of 1 and what Lanczos adds to
  /// it at the edges fits into 16 bits with a sign.
  static let bits = 14
  /// The sum of a window's weights.
  static let one = 1 << bits

  /// How many output positions there are.
  var count: Int { starts.count }

  /// Weights for making `output` positions of `input`; both are at least 1.
  ///
  /// - Parameter extent: how much of the input the picture takes up, more than `input - 1`; `nil` all
  ///   of it.
  init(from input: Int, extent: Double? = nil, to output: Int) {
    let scale = (extent ?? Double(input)) / Double(output)
    let stretch = max(scale, 1)
    let support = 3 * stretch
    var windows: [(first: Int, weights: Range<Int>)] = []
    windows.reserveCapacity(output)
    var singles: [Int16] = []
    singles.reserveCapacity(min(Int(2 * support) + 2, input) * output)
    var values: [Double] = []
    for place in 0..<output {
      let center = (Double(place) + 0.5) * scale
      let first = max(Int(center - support + 0.5), 0)
      let end = min(Int(center + support + 0.5), input)
      values.removeAll(keepingCapacity: true)
      var sum = 0.0
      for position in first..<max(end, first + 1) {
        let value = Self.lanczos((Double(position) + 0.5 - center) / stretch)
        values.append(value)
        sum += value
      }
      let begin = singles.count
      Self.appendRounded(values, sum: sum, to: &singles)
      // Most windows begin and end with weights too small to count.
      let kept = singles[begin...]
      let lower = kept.firstIndex { $0 != 0 } ?? begin
      let upper = kept.lastIndex { $0 != 0 } ?? begin
      windows.append((first + lower - begin, lower..<upper + 1))
    }
    let inputPairs = (input + 1) / 2
    // A window whose centre lies on a position of an enlargement has lost more at its beginning than the
    // one after it, and must begin before that nevertheless.
    var firstPairs = windows.map { $0.first / 2 }
    for place in firstPairs.indices.dropLast().reversed() {
      firstPairs[place] = min(firstPairs[place], firstPairs[place + 1])
    }
    pairs =
      zip(firstPairs, windows).lazy
      .map { ($1.first + $1.weights.count - 1) / 2 - $0 + 1 }.max() ?? 1
    starts = firstPairs.map { [pairs] in Int32(min($0, inputPairs - pairs)) }
    weights = [Int32](unsafeUninitializedCapacity: output * pairs) {
      [pairs, starts] buffer, count in
      buffer.initialize(repeating: 0)
      for (place, window) in windows.enumerated() {
        var position = window.first - 2 * Int(starts[place])
        for weight in singles[window.weights] {
          let bits = Int32(truncatingIfNeeded: UInt16(bitPattern: weight))
          buffer[place * pairs + position / 2] |= position & 1 == 0 ? bits : bits << 16
          position += 1
        }
      }
      count = output * pairs
    }
  }

  /// The most pairs that a window may take, known without making the weights.
  static func maximumPairs(from input: Int, to output: Int) -> Int {
    let support = 3 * max(Double(input) / Double(output), 1)
    return min(Int(support) + 2, (input + 1) / 2)
  }

  /// Rounds the running sum rather than each weight: so the whole is exact, even where there are so many
  /// positions that most of the weights are 0.
  private static func appendRounded(_ values: [Double], sum: Double, to singles: inout [Int16]) {
    let factor = Double(one) / sum
    var running = 0.0
    var given = 0
    for value in values {
      running += value * factor
      // Rounds as `rounded()` does, which would be a call for each weight; running sums are above -one.
      let rounded = Int(running + Double(one) + 0.5) - one
      singles.append(Int16(rounded - given))
      given = rounded
    }
    // The running sum ends within rounding of `one`.
    singles[singles.count - 1] += Int16(one - given)
  }

  /// `sinc(x) * sinc(x / 3)` from -3 to 3, 0 elsewhere: between the lines of ``table``.
  private static func lanczos(_ x: Double) -> Double {
    let position = x.magnitude * Double(linesPerUnit)
    let line = Int(position)
    guard line < 3 * linesPerUnit else { return 0 }
    return table.withUnsafeBufferPointer { table in
      table[line] + (table[line + 1] - table[line]) * (position - Double(line))
    }
  }

  private static let linesPerUnit = 512

  /// The filter from 0 to 3. Two sines for each weight would take as long as the rest of the shrinking;
  /// between these lines it is at most 2e-6 off, a thirtieth of a weight's last bit.
  private static let table: [Double] = (0...3 * linesPerUnit).map { line in
    let x = Double(line) / Double(linesPerUnit) * .pi
    return line == 0 ? 1 : sin(x) / x * sin(x / 3) / (x / 3)
  }
}
