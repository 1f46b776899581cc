extension Fault {
  /// Parses a fault from text, or returns `nil` if it does not follow the grammar.
  ///
  /// ```
  /// fault  = pattern "=" kind [ "#" count ]     count: only the first requests of each path
  /// kind   = "status:" code *( "," name ":" value )
  ///        / "redirect:" address
  ///        / "html"                             HTML with status 200
  ///        / "drop"                             closed without an answer
  ///        / "truncate:" bytes                  cut short, whole length announced
  ///        / "stall" [ ":" bytes ]              nothing more comes
  ///        / "close" [ ":" bytes ]              ended by the connection's end
  ///        / "chunked" [ ":" bytes ]
  ///        / "header:" name ":" [ value ]       no value: removed
  ///        / "other" [ ":" number ]             another picture and entity tag
  ///        / "shift:" [ "-" ] bytes             a part from another offset
  ///        / "short:" bytes                     a part that is shorter than asked for
  ///        / "unsatisfiable"                    416 for every range
  /// ```
  ///
  /// Examples: `/t/p/w342/a.jpg=status:503#2`, `/t/p/*=truncate:1000`,
  /// `/3/*=status:429,Retry-After:2`, `/t/p/*=header:Cache-Control:no-store`.
  public init?(_ text: String) {
    guard let equals = text.firstIndex(of: "="), text.hasPrefix("/") else { return nil }
    var rest = text[text.index(after: equals)...]
    var occurrences: Int?
    if let mark = rest.lastIndex(of: "#") {
      guard let count = Self.number(rest[rest.index(after: mark)...]), count > 0 else {
        return nil
      }
      occurrences = count
      rest = rest[..<mark]
    }
    guard let kind = Kind(rest) else { return nil }
    self.init(PathPattern(String(text[..<equals])), kind, first: occurrences)
  }

  /// A number of decimal digits only.
  fileprivate static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }
}

extension Fault.Kind {
  fileprivate init?(_ text: Substring) {
    let colon = text.firstIndex(of: ":")
    let value = colon.map { text[text.index(after: $0)...] }
    let bytes = value.flatMap { Fault.number($0) }
    switch text[..<(colon ?? text.endIndex)] {
    case "status":
      guard let value, let kind = Self(status: value) else { return nil }
      self = kind
    case "redirect":
      guard let value, !value.isEmpty else { return nil }
      self = .redirect(to: String(value))
    case "html" where value == nil: self = .wrongType
    case "drop" where value == nil: self = .drop
    case "truncate":
      guard let bytes else { return nil }
      self = .truncate(afterBytes: bytes)
    case "stall" where (value == nil) == (bytes == nil): self = .stall(afterBytes: bytes)
    case "close" where (value == nil) == (bytes == nil):
      self = .closeWithoutLength(afterBytes: bytes)
    case "chunked" where (value == nil) == (bytes == nil): self = .chunked(afterBytes: bytes)
    case "header":
      guard let value, let (name, content) = Self.header(value) else { return nil }
      self = .header(name: name, value: content.isEmpty ? nil : content)
    case "other" where (value == nil) == (bytes == nil): self = .otherPicture(bytes ?? 1)
    case "shift":
      guard let value, let distance = Fault.number(value.drop { $0 == "-" }),
        distance > 0, value.filter({ $0 == "-" }).count <= 1
      else { return nil }
      self = .otherRange(by: value.hasPrefix("-") ? -distance : distance)
    case "short":
      guard let bytes, bytes > 0 else { return nil }
      self = .shortRange(bytes: bytes)
    case "unsatisfiable" where value == nil: self = .unsatisfiableRange
    default: return nil
    }
  }

  private init?(status text: Substring) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let status = Fault.number(parts[0]), (200...599).contains(status) else { return nil }
    var headers: [String: String] = [:]
    for part in parts.dropFirst() {
      guard let (name, value) = Self.header(part), !value.isEmpty else { return nil }
      headers[name] = value
    }
    self = .status(status, headers: headers)
  }

  /// Name and value, the blanks before the value dropped.
  private static func header(_ text: Substring) -> (name: String, value: String)? {
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return nil }
    let value = text[text.index(after: colon)...].drop { $0 == " " }
    return (String(text[..<colon]), String(value))
  }
}
