/// The answer of TMDB's `/configuration`, read leniently: an odd part costs only itself.
struct TMDBConfiguration: Sendable, Hashable {
  /// Where the pictures are, the best first; not yet known to be addresses.
  var bases: [String]
  /// The names of sizes that are such, once each, in the answer's order.
  var sizes: [ImageKind: [PosterSize]]
}

extension TMDBConfiguration: Decodable {
  private enum Key: String, CodingKey {
    case images
    case secureBase = "secure_base_url"
    case base = "base_url"
    case posterSizes = "poster_sizes"
    case backdropSizes = "backdrop_sizes"
    case profileSizes = "profile_sizes"
  }

  init(from decoder: any Decoder) throws {
    let images = try decoder.container(keyedBy: Key.self)
      .nestedContainer(keyedBy: Key.self, forKey: .images)
    // What is missing or odd is what the answer does not give.
    bases = [Key.secureBase, .base].compactMap { try? images.decode(String.self, forKey: $0) }
    sizes = [:]
    for (kind, key) in [
      (ImageKind.poster, Key.posterSizes), (.backdrop, .backdropSizes), (.profile, .profileSizes),
    ] {
      guard let names = try? images.decode([LenientName?].self, forKey: key) else { continue }
      var seen: Set<PosterSize> = []
      sizes[kind] = names.compactMap { $0?.text.flatMap(PosterSize.init(rawValue:)) }
        .filter { seen.insert($0).inserted }
    }
  }

  /// A text, or anything else: a list does not advance past what throws.
  private struct LenientName: Decodable {
    var text: String?

    init(from decoder: any Decoder) {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }
}
