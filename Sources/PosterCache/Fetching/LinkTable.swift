/// What has been measured of the ways to hosts, for those who are not on the fetch thread.
///
/// Safe to use from any thread.
final class LinkTable: Sendable {
  /// So many hosts are remembered; more than anybody scrolls through at a time.
  private static let maximumCount = 256

  private let figures = Lock<[HostKey: LinkFigures]>([:])

  /// What is known of the way to the host of `address`.
  subscript(address: PosterAddress) -> LinkFigures? {
    let key = HostKey(address)
    return figures.withLock { $0[key] }
  }

  /// Notes what is known now of the way to the host of `address`.
  func note(_ new: LinkFigures, for address: PosterAddress) {
    let key = HostKey(address)
    figures.withLock { figures in
      if figures.count >= Self.maximumCount, figures[key] == nil { figures.removeAll() }
      figures[key] = new
    }
  }
}
