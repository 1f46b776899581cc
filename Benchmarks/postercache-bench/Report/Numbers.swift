/// Numbers as reports show them.
enum Numbers {
  /// `value` with about three digits: `0.30`, `12.5`, `1,047`.
  static func text(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    let decimals = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 0.01 ? 2 : 4
    let scale = [1, 10, 100, 1000, 10000][decimals]
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    let whole = sign + grouped(scaled / scale)
    guard decimals > 0, scaled > 0 else { return whole }
    let digits = String(scaled % scale)
    return "\(whole).\(String(repeating: "0", count: decimals - digits.count))\(digits)"
  }

  /// A count as it is: `12`, and with decimals only where it has some.
  static func exact(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? grouped(Int(value)) : text(value)
  }

  /// `value` with its spread in brackets, where it has one.
  static func text(_ figure: Figure) -> String {
    guard let low = figure.low, let high = figure.high else { return exact(figure.value) }
    return "\(text(figure.value)) (\(text(low))-\(text(high)))"
  }

  /// Thousands apart: `1,234,567`.
  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + text
  }
}
