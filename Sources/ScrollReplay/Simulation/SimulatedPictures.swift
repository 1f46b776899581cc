import FoundationEssentials
import Glibc
import PosterCache

/// The pictures of a simulated feed: how large each is, and under which address it is asked for.
///
/// Made once and used for many runs.
package struct SimulatedPictures: Sendable {
  private let sizes: [[Int]]
  private let requests: [[(preview: FetchRequest, full: FetchRequest)]]
  /// The size of a preview as a share of the picture's.
  package let previewShare: Double

  /// As large as posters are: about 40 KB, distributed log-normally with a deviation of 0.45, from 8 to
  /// 150 KB; the same for the same seed.
  ///
  /// - Parameter counts: how many items each section has.
  package init(counts: [Int], previewShare: Double = 1.0 / 8, seed: UInt64 = 99) {
    var random = SplitMix64(seed: seed)
    self.init(
      sizes: counts.map { count in
        (0..<count).map { _ in
          Int(min(150e3, max(8e3, exp(log(40e3) + 0.45 * random.normal()))))
        }
      }, previewShare: previewShare)
  }

  /// Pictures of given sizes in bytes, by section and item.
  package init(sizes: [[Int]], previewShare: Double = 1.0 / 8) {
    self.sizes = sizes
    self.previewShare = previewShare
    requests = sizes.enumerated().map { section, items in
      items.indices.map { item in
        (Self.request("w92/\(section)-\(item).jpg"), Self.request("w342/\(section)-\(item).jpg"))
      }
    }
  }

  private static func request(_ path: String) -> FetchRequest {
    // Letters, digits and hyphens after a fixed host: it cannot fail.
    FetchRequest(try! PosterAddress("http://pictures.test/t/p/\(path)"))
  }

  /// How large a picture is, in bytes.
  package func bytes(_ ask: WindowAsk) -> Int {
    let size = sizes[ask.cell.section][ask.cell.item]
    return ask.rung == .full ? size : max(1, Int(Double(size) * previewShare))
  }

  /// The request for a picture.
  func request(_ ask: WindowAsk, _ priority: Priority) -> FetchRequest {
    let both = requests[ask.cell.section][ask.cell.item]
    var request = ask.rung == .full ? both.full : both.preview
    request.priority = priority
    return request
  }
}
