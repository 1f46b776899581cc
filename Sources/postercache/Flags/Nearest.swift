import PosterCache

/// The name that `text` was probably meant to be: the one with the fewest edits, at most two, and
/// fewer than the name has letters; the first of equals.
func nearest(to text: String, among names: [String]) -> String? {
  var best: (name: String, edits: Int)?
  for name in names {
    let edits = editDistance(Array(text.lowercased().utf8), Array(name.utf8))
    if edits <= 2, edits < name.utf8.count, edits < best?.edits ?? Int.max { best = (name, edits) }
  }
  return best?.name
}

/// The name of the size that `text` was probably meant to be: the nearest in pixels, the larger of two that
/// are as near; where `text` tells no pixels, the one that is written most like it.
func nearestSize(to text: String, among sizes: [PosterSize]) -> String? {
  let text = text.lowercased()
  let isHeight = text.hasPrefix("h")
  // A number alone is a width.
  guard let pixels = Int(isHeight || text.hasPrefix("w") ? text.dropFirst() : text[...]),
    (0...1_000_000_000).contains(pixels)
  else { return nearest(to: text, among: sizes.map(\.rawValue)) }
  let others = sizes.filter { $0.width != nil || $0.height != nil }
  let alike = others.filter { ($0.width == nil) == isHeight }
  return (alike.isEmpty ? others : alike).min { first, second in
    let pair = [first, second].map { $0.width ?? $0.height ?? 0 }
    let distances = pair.map { abs($0 - pixels) }
    return distances[0] == distances[1] ? pair[0] > pair[1] : distances[0] < distances[1]
  }?.rawValue
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other
/// (optimal string alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for row in left.indices {
    var current = [row + 1]
    for column in right.indices {
      var edits = min(
        last[column + 1] + 1, current[column] + 1,
        last[column] + (left[row] == right[column] ? 0 : 1))
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        edits = min(edits, beforeLast[column - 1] + 1)
      }
      current.append(edits)
    }
    beforeLast = last
    last = current
  }
  return last[right.count]
}
