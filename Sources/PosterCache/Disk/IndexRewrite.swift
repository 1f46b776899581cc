/// Writes an index anew without its free pages, which LMDB never gives up.
enum IndexRewrite {
  /// Whether the file is much longer than its rows need, and there is room for a second one meanwhile.
  static func isWorthwhile(_ index: Index) -> Bool {
    // An index that cannot be read is nothing to be copied.
    guard let size = try? index.size(), size.isWorthRewriting(fileBytes: index.fileBytes) else {
      return false
    }
    // Free pages make room for the copy; the copy has none. Where they stay, there may be room anyway.
    try? index.giveBackFreePages(max(0, size.occupied - size.used))
    let room = try? index.read { rows throws(PosterError) in
      let size = IndexSize(used: size.used, occupied: index.files.dataBlockBytes)
      let editor = try IndexEditor(rows, size: size)
      return Int(editor.totals.limit) - Int(editor.totalBytes)
    }
    return room.map { $0 + IndexSize.free >= size.used } ?? false
  }

  /// Does it, if nobody else uses `directory`. The caller does, and has closed its index.
  static func run(in directory: CacheDirectory) {
    let place = NewIndexPlace(directory: directory.index)
    // Where this fails, such as on a full disk, the old index is as good as it was.
    _ = try? directory.ifUnused(isUser: true) { () throws(PosterError) in
      do {
        try copy(directory.index, to: try place.make())
        try place.takeOver()
      } catch {
        place.remove()
      }
    }
  }

  private static func copy(
    _ directory: FileDescriptor, to folder: FileDescriptor
  ) throws(PosterError) {
    let index = try Index.acquire(in: directory)
    defer { Index.release(index) }
    try index.copyCompacted(to: folder)
  }
}
