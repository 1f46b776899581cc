/// The directives of `Cache-Control` that decide about reuse by a private cache (RFC 9111, section
/// 5.2.2; RFC 5861; RFC 8246).
///
/// `private` and ``allowsOthers`` mean nothing for what is asked for without a credential; the numbers of
/// `s-maxage`, `proxy-revalidate`, `must-understand` and unknown directives are ignored.
struct CacheDirectives: Hashable {
  var maxAgeSeconds: Int?
  var isNoStore = false
  var isNoCache = false
  /// It must not be used once it has expired, whatever happens.
  var mustRevalidate = false
  /// It will not change while it is fresh.
  var isImmutable = false
  /// It is for whoever asked alone.
  var isPrivate = false
  /// It may be used for others, although who asked had a credential: `public`, `must-revalidate` or
  /// `s-maxage` (RFC 9111, section 3.5).
  var allowsOthers = false
  var staleWhileRevalidateSeconds: Int?
  var staleIfErrorSeconds: Int?

  /// Parses a header value. Of a directive that is there twice the first counts, and an argument that
  /// is no number means 0: of two readings the one that asks the server sooner (section 4.2.1).
  ///
  /// Goes by bytes: one is parsed for each answer, and a string's characters took 7% of all instructions
  /// from the network onto the disk (`docs/benchmarks.md`).
  init(_ value: String) {
    var value = value
    value.withUTF8 { text in
      for directive in Self.directives(of: text) {
        let name = directive.prefix { $0 != UInt8(ascii: "=") }
        take(Self.trimmed(name), argument: directive.dropFirst(name.count + 1))
      }
    }
  }

  private typealias Text = Slice<UnsafeBufferPointer<UInt8>>

  private mutating func take(_ name: Text, argument: Text) {
    switch String(decoding: name, as: UTF8.self).lowercased() {
    case "no-store": isNoStore = true
    // With field names only those would have to be checked again; nobody here keeps them apart.
    case "no-cache": isNoCache = true
    case "must-revalidate":
      mustRevalidate = true
      allowsOthers = true
    case "public", "s-maxage": allowsOthers = true
    case "immutable": isImmutable = true
    // With field names only those are; nobody here keeps them apart.
    case "private": isPrivate = true
    case "max-age" where maxAgeSeconds == nil: maxAgeSeconds = Self.seconds(argument)
    case "stale-while-revalidate" where staleWhileRevalidateSeconds == nil:
      staleWhileRevalidateSeconds = Self.seconds(argument)
    case "stale-if-error" where staleIfErrorSeconds == nil:
      staleIfErrorSeconds = Self.seconds(argument)
    default: break
    }
  }

  /// The number of an argument, perhaps in quotes; 0 if it is none.
  private static func seconds(_ argument: Text) -> Int {
    var digits = trimmed(argument)
    let quote = UInt8(ascii: "\"")
    if digits.count >= 2, digits.first == quote, digits.last == quote {
      digits = digits.dropFirst().dropLast()
    }
    return ResponseHeaders.seconds(String(decoding: digits, as: UTF8.self)) ?? 0
  }

  /// What is between commas outside quotes; between all commas if a quote does not end, so that it hides
  /// nothing.
  private static func directives(of text: UnsafeBufferPointer<UInt8>) -> [Text] {
    var isQuoted = false
    var isEscaped = false
    let parts = text.split { byte in
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      }
      return byte == UInt8(ascii: ",") && !isQuoted
    }
    return isQuoted ? text.split(separator: UInt8(ascii: ",")) : parts
  }

  private static func trimmed(_ text: Text) -> Text {
    var text = text.drop { isBlank($0) }
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  /// A space or a tab: all the white space that a value may have inside (RFC 9110, section 5.6.3).
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
