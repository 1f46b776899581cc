import Glibc

/// How far an address reaches: what lies nearer than the whole Internet must not be reached by way of
/// strangers.
enum AddressClass: Hashable {
  /// Reachable from everywhere, or nowhere special.
  case global
  /// This machine, the unspecified address included, which Linux connects to it.
  case loopback
  /// This link only; cloud machines find their secrets there.
  case linkLocal
  /// A private network: RFC 1918, carrier-grade NAT (RFC 6598), unique local IPv6 addresses.
  case localNetwork
  /// No single machine: multicast, broadcast, reserved.
  case unusable

  /// The class of an IPv4 address in host byte order (IANA's special-purpose address registry).
  ///
  /// 198.18.0.0/15 counts as global: it is for benchmarks, and tunnels on one's own machine answer
  /// names with it.
  init(ipv4 address: UInt32) {
    func isIn(_ network: UInt32, _ bits: UInt32) -> Bool { (address ^ network) >> (32 - bits) == 0 }
    if address == 0 || isIn(0x7F00_0000, 8) {
      self = .loopback
    } else if isIn(0xA9FE_0000, 16) {
      self = .linkLocal
    } else if isIn(0x0A00_0000, 8) || isIn(0xAC10_0000, 12) || isIn(0xC0A8_0000, 16)
      || isIn(0x6440_0000, 10)
    {
      self = .localNetwork
    } else if isIn(0, 8) || isIn(0xC000_0000, 24) || address >= 0xE000_0000 {
      self = .unusable
    } else {
      self = .global
    }
  }

  /// The class of an IPv6 address. One that stands for an IPv4 address, as translation and tunnels use
  /// them, has that one's class.
  init(ipv6 bytes: [UInt8]) {
    precondition(bytes.count == 16, "an IPv6 address of \(bytes.count) bytes")
    func word(_ index: Int) -> UInt32 {
      bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let words = (word(0), word(1), word(2), word(3))
    switch words {
    case (0, 0, 0, 0), (0, 0, 0, 1): self = .loopback
    // Mapped, compatible and translated IPv4 (RFC 4291, section 2.5.5; RFC 2765, section 2.1).
    case (0, 0, 0, let address), (0, 0, 0xFFFF, let address), (0, 0, 0xFFFF_0000, let address):
      self.init(ipv4: address)
    // NAT64 (RFC 6052, section 2.1; RFC 8215 leaves its own prefix to the network's owner).
    case (0x0064_FF9B, 0, 0, let address): self.init(ipv4: address)
    case (0x0064_FF9B, 0x0001_0000...0x0001_FFFF, _, _): self = .localNetwork
    // 6to4 (RFC 3056, section 2).
    case (0x2002_0000...0x2002_FFFF, _, _, _):
      self.init(ipv4: words.0 << 16 | words.1 >> 16)
    // Teredo: the client's address, inverted (RFC 4380, section 4).
    case (0x2001_0000, _, _, let address): self.init(ipv4: ~address)
    case (0xFE80_0000...0xFEBF_FFFF, _, _, _): self = .linkLocal
    case (0xFEC0_0000...0xFEFF_FFFF, _, _, _), (0xFC00_0000...0xFDFF_FFFF, _, _, _):
      self = .localNetwork
    case (0xFF00_0000..., _, _, _): self = .unusable
    default: self = .global
    }
  }

  /// The class of an address as text, `nil` if it is none. IPv4 in any form that `inet_aton` takes,
  /// as curl does: `127.1`, `0x7f000001`; IPv6 with or without brackets and zone.
  init?(literal text: some StringProtocol) {
    var ipv4 = in_addr()
    if text.utf8.first.map({ (0x30...0x39).contains($0) }) == true,
      inet_aton(String(text), &ipv4) != 0
    {
      self.init(ipv4: UInt32(bigEndian: ipv4.s_addr))
      return
    }
    guard text.utf8.contains(UInt8(ascii: ":")) else { return nil }
    let bare = text.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" }
    var ipv6 = in6_addr()
    guard inet_pton(AF_INET6, String(bare), &ipv6) == 1 else { return nil }
    self.init(ipv6: withUnsafeBytes(of: ipv6) { Array($0) })
  }

  /// The class that `host` has by its own looks, before anybody resolves it: that of an address, or
  /// a private one for names that only one's own network gives: RFC 6761 (`localhost`, `test`),
  /// RFC 6762 (`local`), RFC 8375 (`home.arpa`), `internal`, `lan`, and names without a dot.
  ///
  /// A host in other characters than ASCII, which only a redirect can name, is unusable: curl may make
  /// anything of it, an address in full-width digits included.
  init(host: String) {
    let name = (host.hasSuffix(".") ? host.dropLast() : Substring(host)).lowercased()
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
      self = .unusable
      return
    }
    if let literal = AddressClass(literal: name) {
      self = literal
      return
    }
    let isPrivate =
      !name.utf8.contains(UInt8(ascii: "."))
      || [".local", ".lan", ".home.arpa", ".internal", ".test"].contains { name.hasSuffix($0) }
    if name == "localhost" || name.hasSuffix(".localhost") {
      self = .loopback
    } else {
      self = isPrivate ? .localNetwork : .global
    }
  }
}
