import PosterCache

/// A policy as people name it: `adaptive`, `fixed:12`, `screens:2.5,1.5` or `none`.
package enum PolicyName: Sendable, Hashable {
  /// The library's own.
  case adaptive
  /// One that looks a fixed distance ahead.
  case lookAhead(LookAhead)

  /// - Throws: ``PosterError/Code/invalidConfiguration`` if `text` names none, or numbers that make no
  ///   sense: 0 to 1,000 items, 0 to 20 screens.
  package init(_ text: String) throws(PosterError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts[0], parts.count) {
    case ("adaptive", 1): self = .adaptive
    case ("none", 1): self = .lookAhead(.none)
    case ("fixed", 2):
      guard let count = Int(parts[1]), (0...1000).contains(count) else {
        throw Self.unknown(text, "fixed takes 0 to 1000 items, such as fixed:12")
      }
      self = .lookAhead(.items(count))
    case ("screens", 2):
      let numbers = parts[1].split(separator: ",", omittingEmptySubsequences: false).map {
        Double($0) ?? .nan
      }
      guard numbers.count == 2, numbers.allSatisfy((0...20).contains) else {
        throw Self.unknown(text, "screens takes two numbers from 0 to 20, such as screens:2.5,1.5")
      }
      self = .lookAhead(.screens(lead: numbers[0], trail: numbers[1]))
    default:
      throw Self.unknown(text, "there are adaptive, fixed:N, screens:AHEAD,BEHIND and none")
    }
  }

  private static func unknown(_ text: String, _ hint: String) -> PosterError {
    PosterError(.invalidConfiguration, "not a policy: \(text.prefix(40)); \(hint)")
  }

  /// The policy.
  ///
  /// - Parameters:
  ///   - slots: of those that look a fixed distance ahead: how many transfers at once; `nil` for as many
  ///     as keep the link busy.
  ///   - configuration: of the library's own.
  package func policy(
    slots: Int? = nil,
    configuration: VisibleWindow.Configuration = VisibleWindow.Configuration()
  ) -> any ScrollPolicy {
    switch self {
    case .adaptive: AdaptivePolicy(configuration)
    case .lookAhead(let lookAhead): LookAheadPolicy(lookAhead, slots: slots)
    }
  }
}

extension PolicyName: CustomStringConvertible {
  /// As people write it.
  package var description: String {
    switch self {
    case .adaptive: "adaptive"
    case .lookAhead(.none): "none"
    case .lookAhead(.items(let count)): "fixed:\(count)"
    case .lookAhead(.screens(let lead, let trail)): "screens:\(Self.text(lead)),\(Self.text(trail))"
    }
  }

  private static func text(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }
}
