import Glibc

/// The host of an address in its one form.
enum HostName {
  /// The host that stands as `bytes` in an address (RFC 3986, section 3.2.2).
  ///
  /// Names are folded to lower case, escapes in them undone, and labels with other characters than
  /// ASCII written as IDNA does (RFC 5891, section 4.4), so that neither resolver nor certificate
  /// check depends on what curl was built with. Names are taken in composed form (NFC), as keyboards
  /// write them. IPv6 addresses come out as RFC 5952 writes them.
  ///
  /// - Throws: for what can be no host.
  static func canonical(_ bytes: Substring.UTF8View) throws(AddressParser.Flaw) -> String {
    guard !bytes.isEmpty else { throw AddressParser.Flaw(reason: "no host") }
    guard
      let host = bytes.first == UInt8(ascii: "[")
        ? addressInBrackets(Substring(bytes)) : name(Substring(bytes))
    else { throw AddressParser.Flaw(reason: "its host is no name or address") }
    return host
  }

  /// An IPv6 address; a zone (RFC 6874) names an interface of this machine and keeps its case.
  private static func addressInBrackets(_ text: Substring) -> String? {
    guard text.utf8.last == UInt8(ascii: "]"), text.utf8.count > 2 else { return nil }
    let parts = text.dropFirst().dropLast().split(
      separator: "%25", maxSplits: 1, omittingEmptySubsequences: false)
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(parts[0]), &address) == 1 else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
    let canonical = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard parts.count == 2 else { return "[\(canonical)]" }
    let zone = parts[1].utf8
    guard !zone.isEmpty, zone.allSatisfy(PercentEncoding.isUnreserved) else { return nil }
    return "[\(canonical)%25\(parts[1])]"
  }

  private static func name(_ text: Substring) -> String? {
    guard let bytes = PercentEncoding.decoded(text.utf8),
      let name = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let labels = name.lowercased().unicodeScalars.split(
      omittingEmptySubsequences: false, whereSeparator: isFullStop)
    var canonical: [String] = []
    for label in labels {
      guard label.allSatisfy(isAllowed) else { return nil }
      if label.allSatisfy(\.isASCII) {
        canonical.append(String(label))
      } else {
        guard let encoded = Punycode.encode(label) else { return nil }
        canonical.append("xn--" + encoded)
      }
    }
    let host = canonical.joined(separator: ".")
    return host.isEmpty ? nil : host
  }

  /// The full stop and those of East Asian scripts (RFC 3490, section 3.1).
  private static func isFullStop(_ scalar: Unicode.Scalar) -> Bool {
    [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
  }

  /// Of ASCII what names are made of; of the rest nothing that cannot be seen.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return PercentEncoding.isUnreserved(UInt8(scalar.value)) }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator, .spaceSeparator:
      return false
    default: return true
    }
  }
}
