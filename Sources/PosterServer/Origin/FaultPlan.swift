/// Which faults the next request for a path meets.
struct FaultPlan {
  private var faults: [(fault: Fault, uses: [String: Int])] = []

  /// Paths whose uses are counted for a fault; once as many have met it, a limited fault spares all
  /// further ones.
  static let pathLimit = 100_000

  init(_ faults: [Fault] = []) {
    self.faults = faults.map { ($0, [:]) }
  }

  /// Adds `fault` behind the others.
  mutating func add(_ fault: Fault) {
    faults.append((fault, [:]))
  }

  /// A request for `path` has arrived: the kinds of the faults that it meets, in order.
  mutating func requestDidArrive(for path: String) -> [Fault.Kind] {
    var kinds: [Fault.Kind] = []
    for index in faults.indices where faults[index].fault.pattern.matches(path) {
      if let limit = faults[index].fault.occurrences {
        let used = faults[index].uses[path, default: 0]
        guard used < limit, used > 0 || faults[index].uses.count < Self.pathLimit else { continue }
        faults[index].uses[path] = used + 1
      }
      kinds.append(faults[index].fault.kind)
    }
    return kinds
  }
}
