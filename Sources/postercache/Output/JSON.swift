/// A JSON value whose objects keep the order in which their keys were written: the order is part of
/// the command's contract.
enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number with three decimals.
  case thousandths(Int)
  case string(String)
  case array([JSON])
  case object([(key: String, value: JSON)])

  /// A string, or null where there is none.
  static func string(orNull text: String?) -> JSON {
    text.map(JSON.string) ?? .null
  }

  /// The value on one line (RFC 8259).
  var text: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .integer(let value): return "\(value)"
    case .thousandths(let value):
      let digits = "\(value.magnitude)"
      let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      return (value < 0 ? "-" : "") + "\(padded.dropLast(3)).\(padded.suffix(3))"
    case .string(let text): return Self.quoted(text)
    case .array(let values): return "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      return "{"
        + members.map { "\(Self.quoted($0.key)):\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  static func == (left: JSON, right: JSON) -> Bool { left.text == right.text }
}
