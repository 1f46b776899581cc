import Testing

@testable import PosterCache

/// Which addresses and names are private.
@Suite(.timeLimit(.minutes(1)))
struct AddressClassTests {
  @Test(arguments: [
    ("8.8.8.8", AddressClass.global), ("1.1.1.1", .global), ("172.15.255.255", .global),
    ("172.32.0.0", .global), ("192.167.1.1", .global), ("192.169.0.0", .global),
    ("100.63.255.255", .global), ("100.128.0.0", .global), ("198.18.0.1", .global),
    ("203.0.113.9", .global), ("11.0.0.0", .global), ("9.255.255.255", .global),
    ("169.253.1.1", .global), ("126.255.255.255", .global), ("128.0.0.1", .global),
    ("223.255.255.255", .global), ("127.0.0.1", .loopback), ("127.255.255.255", .loopback),
    ("0.0.0.0", .loopback), ("0.0.0.1", .unusable), ("10.0.0.0", .localNetwork),
    ("10.255.255.255", .localNetwork), ("172.16.0.1", .localNetwork),
    ("172.31.255.255", .localNetwork), ("192.168.0.1", .localNetwork),
    ("192.168.255.255", .localNetwork), ("100.64.0.1", .localNetwork),
    ("100.127.255.255", .localNetwork), ("169.254.169.254", .linkLocal),
    ("192.0.0.8", .unusable), ("224.0.0.1", .unusable), ("239.255.255.255", .unusable),
    ("240.0.0.1", .unusable), ("255.255.255.255", .unusable),
  ])
  func `an IPv4 address has the class of its network`(text: String, expected: AddressClass) {
    #expect(AddressClass(literal: text) == expected)
    #expect(AddressClass(host: text) == expected)
    // As IPv6 writes it: mapped, compatible, translated, NAT64.
    for prefix in ["::ffff:", "::ffff:0:", "64:ff9b::"] {
      #expect(AddressClass(literal: prefix + text) == expected, "\(prefix)")
      #expect(AddressClass(literal: "[\(prefix)\(text)]") == expected, "\(prefix)")
    }
  }

  @Test(arguments: [
    ("2606:4700::1111", AddressClass.global), ("2a00:1450:4001::5e", .global), ("::", .loopback),
    ("::1", .loopback), ("::127.0.0.1", .loopback), ("::10.1.2.3", .localNetwork),
    ("fe80::1", .linkLocal), ("fe80::1%eth0", .linkLocal), ("febf::1", .linkLocal),
    ("fec0::1", .localNetwork), ("fc00::1", .localNetwork), ("fdff::1", .localNetwork),
    ("fbff::1", .global), ("fe00::1", .global), ("ff02::1", .unusable),
    ("ff0e::1", .unusable), ("64:ff9b:1::a00:1", .localNetwork), ("64:ff9b:2::a00:1", .global),
    ("2002:0a00:0001::1", .localNetwork), ("2002:7f00:0001::", .loopback),
    ("2002:0808:0808::", .global), ("2001:0:4136:e378:8000:63bf:f5ff:fffe", .localNetwork),
    ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", .global), ("2001:db8::1", .global),
  ])
  func `an IPv6 address has its own class or that of what it stands for`(
    text: String, expected: AddressClass
  ) {
    #expect(AddressClass(literal: text) == expected)
    #expect(AddressClass(host: "[\(text)]") == expected)
  }

  @Test(arguments: [
    ("image.tmdb.org", AddressClass.global), ("localhost.example.com", .global),
    ("local", .localNetwork), ("example.org.", .global), ("notlocal.example", .global),
    ("mylan.org", .global), ("internal.example.com", .global), ("1.2.3.4.example.com", .global),
    ("localhost", .loopback), ("localhost.", .loopback), ("LocalHost", .loopback),
    ("a.b.localhost", .loopback), ("nas", .localNetwork), ("nas.local", .localNetwork),
    ("Router.LAN", .localNetwork), ("x.home.arpa", .localNetwork), ("db.internal.", .localNetwork),
    ("demo.test", .localNetwork), ("images.test.org", .global),
  ])
  func `a name is private if only one's own network gives it`(name: String, expected: AddressClass)
  {
    #expect(AddressClass(literal: name) == nil)
    #expect(AddressClass(host: name) == expected)
  }

  @Test(arguments: ["127.1", "0x7f.1", "2130706433", "0x7f000001", "0177.0.0.1"])
  func `an IPv4 address is known in every form that curl takes`(text: String) {
    #expect(AddressClass(host: text) == .loopback)
    #expect(AddressClass(host: text + ".") == .loopback)
  }

  @Test(arguments: ["\u{FF11}27.0.0.1", "b\u{FC}cher.example", "127\u{3002}0.0.1"])
  func `a host that curl would still have to translate is not to be relied on`(host: String) {
    #expect(AddressClass(host: host) == .unusable)
  }
}

/// Where a transfer may go, hop by hop.
@Suite(.timeLimit(.minutes(1)))
struct HopRuleTests {
  typealias Hop = HopRule.Hop

  /// What the rule says of `hops`, each a redirect of the one before.
  private func verdicts(_ hops: [Hop]) -> [Bool] {
    var rule = HopRule()
    return hops.enumerated().map { index, hop in
      if index > 0 { rule.redirectWasReceived() }
      return rule.mayGo(to: hop)
    }
  }

  private static let classes: [AddressClass] = [
    .global, .loopback, .linkLocal, .localNetwork, .unusable,
  ]

  @Test func `a public name leads to public addresses only, a private one anywhere`() {
    for connected in Self.classes {
      #expect(verdicts([Hop(named: .global, connected: connected)]) == [connected == .global])
      #expect(verdicts([Hop(named: .global, connected: connected, isOverridden: true)]) == [true])
      for named in Self.classes where named != .global {
        #expect(verdicts([Hop(named: named, connected: connected)]) == [true])
      }
    }
  }

  @Test func `a redirect leads to public addresses or to the same kind of private ones`() {
    for first in Self.classes {
      for second in Self.classes {
        for named in Self.classes {
          let hops = [Hop(named: first, connected: first), Hop(named: named, connected: second)]
          let isAllowed = second == .global || second == first
          #expect(verdicts(hops) == [true, isAllowed], "\(first) \(second) \(named)")
        }
      }
    }
  }

  @Test func `once in public, there is no way back`() {
    let home = Hop(named: .localNetwork, connected: .localNetwork)
    let away = Hop(named: .global, connected: .global)
    #expect(verdicts([home, home, away, away, home]) == [true, true, true, true, false])
  }

  @Test func `behind a proxy, names decide`() {
    #expect(verdicts([Hop(named: .global)]) == [true])
    #expect(verdicts([Hop(named: .loopback)]) == [true])
    #expect(verdicts([Hop(named: .global), Hop(named: .localNetwork)]) == [true, false])
    #expect(verdicts([Hop(named: .localNetwork), Hop(named: .localNetwork)]) == [true, true])
  }

  @Test func `a request that is sent again is judged as the first time`() {
    var rule = HopRule()
    let hop = Hop(named: .global, connected: .loopback)
    let verdicts = [rule.mayGo(to: hop), rule.mayGo(to: hop)]
    #expect(verdicts == [false, false])
    #expect(!rule.isRedirected)
  }
}

/// Which transfers have a proxy.
@Suite(.timeLimit(.minutes(1)))
struct ProxyRuleTests {
  private func rule(_ proxy: String? = nil, _ environment: [String: String] = [:]) -> ProxyRule {
    ProxyRule(proxy: proxy) { environment[$0] }
  }

  @Test func `the environment names a proxy for each scheme`() {
    let http = rule(nil, ["http_proxy": "p:1"])
    #expect(http.isNeeded)
    #expect(http.hasProxy(host: "a.example", isSecure: false))
    #expect(!http.hasProxy(host: "a.example", isSecure: true))
    // A web server sets it from a request's header.
    #expect(!rule(nil, ["HTTP_PROXY": "p:1"]).isNeeded)
    for name in ["https_proxy", "HTTPS_PROXY"] {
      let https = rule(nil, [name: "p:1"])
      #expect(https.hasProxy(host: "a.example", isSecure: true))
      #expect(!https.hasProxy(host: "a.example", isSecure: false))
    }
    for name in ["all_proxy", "ALL_PROXY"] {
      let all = rule(nil, [name: "p:1"])
      #expect(all.hasProxy(host: "a.example", isSecure: true))
      #expect(all.hasProxy(host: "a.example", isSecure: false))
    }
    #expect(!rule().isNeeded)
    #expect(!rule("", ["all_proxy": "p:1"]).isNeeded)
    // curl takes an empty variable for none.
    #expect(
      rule(nil, ["http_proxy": "", "all_proxy": "p:1"]).hasProxy(host: "a", isSecure: false))
    #expect(rule("p:1", ["no_proxy": "", "NO_PROXY": "a"]).exceptions == "a")
  }

  @Test(arguments: [
    ("example.com", "example.com", false), ("www.example.com", "example.com", false),
    ("www.example.com", ".example.com", false), ("example.com", ".example.com.", false),
    ("EXAMPLE.com.", "example.COM", false), ("nonexample.com", "example.com", true),
    ("example.com", "www.example.com", true), ("example.com", "*", false),
    ("example.com", "*.example.com", true), ("b.test", "a.test, b.test", false),
    ("b.test", "a.test b.test", false), ("c.test", "a.test,b.test,", true),
    ("10.1.2.3", "10.1.2.3", false), ("10.1.2.3", "10.0.0.0/8", false),
    ("11.1.2.3", "10.0.0.0/8", true), ("10.1.2.3", "10.1.2.128/25", true),
    ("10.1.2.200", "10.1.2.128/25", false), ("10.1.2.3", "2.3", true),
    ("10.1.2.3", "10.0.0.0/33", true), ("[fd00::1]", "fd00::/16", false),
    ("[fd00::1]", "fd00::1", false), ("[fd00::1]", "fe00::/16", true), ("a.test", "", true),
  ])
  func `no_proxy makes exceptions, from a configured proxy as well`(
    host: String, list: String, hasProxy: Bool
  ) {
    for name in ["no_proxy", "NO_PROXY"] {
      let rule = rule("p:1", [name: list])
      #expect(rule.hasProxy(host: host, isSecure: false) == hasProxy)
    }
  }
}
