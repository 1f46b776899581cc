/// A JSON value that is written with its members in the order given, which `JSONEncoder` does not
/// promise: the demo origin's answers are the same byte for byte every time.
enum JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  case null
  case bool(Bool)
  case integer(Int)
  /// A number with this many thousandths.
  case thousandths(Int)
  case string(String)
  case array([JSONText])
  case object([(String, JSONText)])

  init(stringLiteral text: String) { self = .string(text) }
  init(integerLiteral number: Int) { self = .integer(number) }
  init(booleanLiteral value: Bool) { self = .bool(value) }

  /// The value as compact JSON (RFC 8259), other characters than ASCII as they are.
  var text: String {
    var text = ""
    append(to: &text)
    return text
  }

  private func append(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let number): text += String(number)
    case .thousandths(let number):
      let decimals = String(number % 1_000 + 1_000).dropFirst()
      text += "\(number / 1_000).\(decimals)"
    case .string(let string): Self.append(string, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.append(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.append(member.0, to: &text)
        text += ":"
        member.1.append(to: &text)
      }
      text += "}"
    }
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{0}"..<"\u{20}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
