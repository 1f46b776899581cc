import PosterCache

/// A value for each cell, found without hashing: most cells have the same one.
struct CellMap<Value: Sendable>: Sendable {
  private let usual: Value
  private var sections: [[Value]] = []

  /// - Parameter usual: the value of cells that have not been given another one.
  init(_ usual: Value) {
    self.usual = usual
  }

  subscript(cell: WindowCell) -> Value {
    get {
      guard cell.section < sections.count, cell.item < sections[cell.section].count else {
        return usual
      }
      return sections[cell.section][cell.item]
    }
    set {
      while sections.count <= cell.section { sections.append([]) }
      let missing = cell.item + 1 - sections[cell.section].count
      if missing > 0 {
        sections[cell.section].append(contentsOf: repeatElement(usual, count: missing))
      }
      sections[cell.section][cell.item] = newValue
    }
  }

  /// All values, and some usual ones.
  var values: some Sequence<Value> { sections.joined() }
}
