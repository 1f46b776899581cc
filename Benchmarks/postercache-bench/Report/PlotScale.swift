import Glibc

/// An axis from zero to a round number, in equal steps.
struct PlotScale: Equatable {
  /// Where the axis ends.
  let maximum: Double
  /// The numbers at its marks, zero and the end among them.
  let marks: [Double]

  /// An axis that reaches `most`, or ends exactly there.
  init(upTo most: Double, endsThere: Bool = false) {
    guard most > 1e-12, most < 1e15 else {
      maximum = 1
      marks = [0, 1]
      return
    }
    // Three to six steps of 1, 2 or 5 times a power of ten.
    let rough = most / 6
    let power = pow(10, floor(log10(rough)))
    let step = ([1, 2, 5, 10].first { $0 * power >= rough * 0.999 } ?? 10) * power
    let count =
      endsThere ? Int((most / step + 1e-9).rounded(.down)) : Int((most / step - 1e-9).rounded(.up))
    var marks = (0...max(count, 1)).map { Double($0) * step }
    if endsThere {
      marks = marks.filter { $0 <= most * (1 + 1e-9) }
      maximum = most
    } else {
      maximum = marks.last ?? most
    }
    self.marks = marks
  }
}
