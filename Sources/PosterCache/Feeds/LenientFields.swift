/// The members of a JSON object, of which each may be missing or something else than expected.
struct LenientFields {
  private let container: KeyedDecodingContainer<Name>

  /// The members of what `decoder` stands at; `nil` if that is no object.
  init?(_ decoder: any Decoder) {
    // What is no object is what the caller wants to know.
    guard let container = try? decoder.container(keyedBy: Name.self) else { return nil }
    self.container = container
  }

  /// Whether there is a member of this name that is not null.
  func contains(_ name: String) -> Bool {
    // A member that cannot be looked at is one that is there.
    container.contains(Name(name)) && (try? container.decodeNil(forKey: Name(name))) != true
  }

  /// Whether there is a member of this name that is null.
  func isNull(_ name: String) -> Bool {
    container.contains(Name(name)) && !contains(name)
  }

  /// A member, `nil` if it is missing, null or no such value.
  func value<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    // An error takes far longer to make than to find out that there would be one.
    guard contains(name) else { return nil }
    return try? container.decode(Value.self, forKey: Name(name))
  }

  /// A text that is not empty.
  func text(_ name: String) -> String? {
    value(name, as: String.self).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// An identifier: a text that is not empty, or a whole number.
  func identifier(_ name: String) -> String? {
    text(name) ?? value(name, as: Int.self).map(String.init)
  }

  /// The elements of an array, `nil` where one is null; `nil` if the member is no array.
  func elements<Element: Decodable>(_ name: String, of type: Element.Type = Element.self)
    -> [Element?]?
  {
    value(name, as: LenientArray<Element>.self)?.elements
  }

  /// A name that is known only when it is asked for.
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}

/// An array whose elements may be null; what they decode from must not throw, as a container does not
/// advance past what throws.
struct LenientArray<Element: Decodable>: Decodable {
  var elements: [Element?] = []

  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      elements.append(try list.decodeNil() ? nil : list.decode(Element.self))
    }
  }
}
