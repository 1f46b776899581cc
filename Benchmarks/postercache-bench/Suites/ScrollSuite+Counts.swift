import PosterCache

extension ScrollSuite {
  /// What one plan of the moving window takes.
  func counts() throws -> FigureTable {
    BenchContext.progress("\(Self.name): counting")
    let program = try CountedProgram(
      instruments: [.instructions], directory: try context.disk.makeEmpty("counted-plan")
    ) { _ in CountedWork.arguments(.requests, []) }
    return FigureTable(
      title: "Counted of a plan",
      conditions: """
        A grid of three columns and three million items, six screens ahead, that moves by 100 points between two \
        plans, nothing of it there yet, on one thread. Copies are counted from 1 KiB on.
        """,
      columns: ["VisibleWindow"], rows: program.rows("plan", ["plan"]), isCounted: true,
      absent: program.absent)
  }
}
