/// Writes Unicode with the letters of host names (RFC 3492).
enum Punycode {
  // The parameters of section 5.
  private static let base = 36
  private static let smallestThreshold = 1
  private static let largestThreshold = 26
  private static let skew = 38
  private static let damp = 700
  private static let initialBias = 72
  private static let initialCode: UInt32 = 0x80

  /// `label` in Punycode, without `xn--`; `nil` if it is too long for any host name.
  static func encode(_ label: Substring.UnicodeScalarView) -> String? {
    // A label has 63 letters, of which each character takes one at least.
    guard label.count <= 63 else { return nil }
    let basic = label.filter(\.isASCII).map { UInt8($0.value) }
    var output = basic
    if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
    var code = initialCode
    var delta = 0
    var bias = initialBias
    var done = basic.count
    while let next = label.lazy.map(\.value).filter({ $0 >= code }).min() {
      delta += Int(next - code) * (done + 1)
      code = next
      for scalar in label {
        if scalar.value < code { delta += 1 }
        guard scalar.value == code else { continue }
        append(delta, bias: bias, to: &output)
        bias = adapted(delta, count: done + 1, isFirst: done == basic.count)
        delta = 0
        done += 1
      }
      delta += 1
      code += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends `delta` as an integer of variable length (section 6.3).
  private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
    var rest = delta
    var position = base
    while true {
      let threshold = min(max(position - bias, smallestThreshold), largestThreshold)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    output.append(digit(rest))
  }

  /// The bias after `delta` (section 6.1).
  private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var steps = 0
    while delta > (base - smallestThreshold) * largestThreshold / 2 {
      delta /= base - smallestThreshold
      steps += base
    }
    return steps + (base - smallestThreshold + 1) * delta / (delta + skew)
  }

  /// a-z, then 0-9.
  private static func digit(_ value: Int) -> UInt8 {
    value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
  }
}
