extension CountedProgram {
  /// What is counted of every operation, and what its row is called.
  static let ordinaryCounts: [(name: String, count: Count)] = [
    ("instructions", .instructions), ("allocations", .allocations),
    ("allocations of 8 KiB or more", .largeAllocations), ("bytes allocated", .allocatedBytes),
    ("bytes copied", .copiedBytes),
  ]

  /// Rows of a table of counts: `counts` of one operation, a column for each phase.
  ///
  /// - Parameters:
  ///   - operation: what the names of rows begin with.
  ///   - phases: `nil` leaves a column empty.
  ///   - ownThread: what the thread did that did the work, and no other.
  func rows(
    _ operation: String, _ phases: [String?],
    _ counts: [(name: String, count: Count)] = Self.ordinaryCounts, ownThread: Bool = true
  ) -> [FigureTable.Row] {
    counts.map { name, count in
      FigureTable.Row(
        name: "\(operation): \(name)",
        values: phases.map { $0.flatMap { each(count, $0, ownThread: ownThread) } })
    }
  }
}
