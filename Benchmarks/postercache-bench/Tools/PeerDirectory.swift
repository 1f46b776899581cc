import Glibc

/// Where `Benchmarks/peers/install` puts the rivals' programs that no package has, under fixed names.
struct PeerDirectory: Sendable {
  let path: String

  /// A program or library in it.
  enum Peer: String, CaseIterable {
    /// A Python of its own, with diskcache, aiohttp and Pillow.
    case python = "python/bin/python"
    /// diskcache, aiohttp with diskcache, and Pillow: programs that ``python`` runs.
    case pythonStores = "stores.py"
    case pythonWarm = "warm.py"
    case thumbnails = "thumbnails.py"
    /// Stores as other programs lay them out.
    case stores = "stores"
    /// Foundation's `URLSession`, alone and with its caches.
    case urlSession = "urlsession"
    /// libvips' library call.
    case vips = "vips_thumbnails"
    /// What makes a slow link.
    case link = "link"
  }

  /// The path of `peer`, or `nil` if it is not there.
  func find(_ peer: Peer) -> String? {
    let file = "\(path)/\(peer.rawValue)"
    return access(file, R_OK) == 0 ? file : nil
  }

  /// A command that runs the program `script` of Python; `nil` if either is missing.
  func python(_ script: Peer, _ arguments: [String]) -> Command? {
    guard let python = find(.python), let script = find(script) else { return nil }
    return Command(python, [script] + arguments)
  }
}
