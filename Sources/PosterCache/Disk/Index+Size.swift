import CLMDB
import CLinux

/// How large the index is, and making it smaller.
extension Index {
  /// The size as of the last commit.
  func size() throws(PosterError) -> IndexSize {
    try read { rows throws(PosterError) in
      IndexSize(used: try rows.usedBytes(), occupied: files.dataBlockBytes)
    }
  }

  /// Runs `body` as the only writer of the directory, with the rules of the disk tier, and commits; an
  /// error undoes all of it.
  func edit<Result>(
    _ body: (inout IndexEditor) throws(PosterError) -> Result
  ) throws(PosterError) -> Result {
    let size = try size()
    return try write { transaction throws(PosterError) in
      var editor = try IndexEditor(transaction, size: size)
      let result = try body(&editor)
      try editor.finish()
      return result
    }
  }

  /// Gives back the blocks of as many free pages as come to `bytes`. The file's length stays: LMDB
  /// writes a free page whole before anybody reads it, so that a hole does as well.
  ///
  /// Those that were freed last: LMDB uses free pages again in the order in which they became free, so
  /// that the others are wanted before, and earlier holes lie among those.
  func giveBackFreePages(_ bytes: Int) throws(PosterError) {
    reclaimReaders()
    // Nobody takes a free page while this lasts. Undone in the end: it changes nothing.
    try holdingWriters { () throws(PosterError) in
      let oldest = oldestSnapshot
      let pages = try read { rows throws(PosterError) in
        try rows.freePages(notAfter: oldest, count: bytes / pageBytes)
      }
      try files.punch(
        runs(of: pages).map { $0.lowerBound * pageBytes..<$0.upperBound * pageBytes })
    }
  }

  private func runs(of pages: [Int]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for page in pages.sorted() {
      if let last = runs.last, last.upperBound == page {
        runs[runs.count - 1] = last.lowerBound..<page + 1
      } else {
        runs.append(page..<page + 1)
      }
    }
    return runs
  }
}
