/// A JSON value whose objects keep the order in which their members were given, which `JSONEncoder` does
/// not promise: the order is part of the command's contract, and the demo origin's answers are the same
/// byte for byte every time.
package enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number with this many thousandths, written with three decimals.
  case thousandths(Int)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  /// A string, or null where there is none.
  package static func string(orNull text: String?) -> JSON {
    text.map(JSON.string) ?? .null
  }

  /// The value on one line (RFC 8259), other characters than ASCII as they are.
  package var text: String {
    var text = ""
    append(to: &text)
    return text
  }

  package static func == (left: JSON, right: JSON) -> Bool { left.text == right.text }

  private func append(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .thousandths(let value):
      let digits = String(value.magnitude)
      let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      text += (value < 0 ? "-" : "") + "\(padded.dropLast(3)).\(padded.suffix(3))"
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
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int) { self = .integer(number) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}
