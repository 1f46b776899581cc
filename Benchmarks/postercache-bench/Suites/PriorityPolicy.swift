import PosterCache

/// How prefetching and visible posters share the connections.
struct PriorityPolicy {
  enum Kind: String {
    /// No prefetching, and one poster or burst after the other, as soon as the last has come.
    case idle
    /// No prefetching, and visible posters as in all other runs: connections are idle between them.
    case nothing
    /// One queue, first come, first served; the width is the number of connections.
    case fifo
    /// Visible posters go first in the queue; the width is the number of connections.
    case ordered
    /// The same, and half of the connections, of which the width is the number, are theirs alone.
    case reserved
    /// Ours: as many prefetches as the link as measured bears; the width is the share of it.
    case adaptive
  }

  let kind: Kind
  /// What it is set to, in words.
  let width: String

  private let number: Double

  init?(_ kind: String, width: String) {
    guard let kind = Kind(rawValue: kind), let number = Double(width) else { return nil }
    self.kind = kind
    self.width = width
    self.number = number
  }

  init(_ kind: Kind, _ number: Double) {
    self.kind = kind
    self.number = number
    width = number == number.rounded() && kind != .adaptive ? "\(Int(number))" : "\(number)"
  }

  /// What the tables call it.
  var title: String {
    switch kind {
    case .idle: "idle link"
    case .nothing: "nothing prefetched"
    case .fifo: "FIFO, \(width) at once"
    case .ordered: "visible first, \(width) at once"
    case .reserved: "half of \(width) reserved"
    case .adaptive: "adaptive, share \(width)"
    }
  }

  /// The fetcher's settings.
  var configuration: FetchConfiguration {
    var configuration = FetchConfiguration()
    if kind != .adaptive, kind != .nothing { configuration.connectionsPerHost = Int(number) }
    configuration.prefetchWindow =
      switch kind {
      case .adaptive: .adaptive(share: number)
      case .reserved: .fixed(Int(number) / 2)
      case .idle, .nothing, .fifo, .ordered: .unlimited
      }
    return configuration
  }

  /// The priority with which visible posters are asked for.
  var visiblePriority: Priority { kind == .fifo ? .prefetch : .visible }
}
