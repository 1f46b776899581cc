import Glibc

/// Where an index is written that is to take the place of another: a folder beside it.
///
/// To be used only while nobody else uses the directory or opens it.
struct NewIndexPlace {
  /// The directory of the index.
  let directory: FileDescriptor

  private static let folder = "rebuilt"
  /// As of every other file of a cache.
  private static let mode: mode_t = 0o644

  /// Makes the folder, empty.
  func make() throws(SystemError) -> FileDescriptor {
    remove()
    try CacheDirectory.makeDirectory(Self.folder, in: directory)
    return try open()
  }

  /// Makes an index in the folder that says that there is nothing. Needs one of ``Index/release(_:)``.
  func makeIndex() throws(PosterError) -> Index {
    let folder: FileDescriptor
    do throws(SystemError) {
      folder = try make()
    } catch {
      throw PosterError(.directoryUnavailable, "cannot make the cache index", underlying: error)
    }
    let index = try Index.acquire(in: folder, creating: true)
    do throws(PosterError) {
      try index.write { transaction throws(PosterError) in
        try transaction.put(.totals, TotalsRow.key, TotalsRow())
      }
      return index
    } catch {
      Index.release(index)
      throw error
    }
  }

  /// Puts the index from the folder, which nobody has open, into the place of the old one.
  func takeOver() throws(SystemError) {
    let folder = try open()
    // A name that is safe before its bytes are would be worse than none.
    let data = try CacheDirectory.openFile("data.mdb", in: folder, flags: O_RDONLY)
    // LMDB gives a copy another mode than what it makes itself.
    guard fchmod(data.number, Self.mode) == 0, fdatasync(data.number) == 0 else {
      throw SystemError(call: "fdatasync", path: "data.mdb")
    }
    guard renameat(folder.number, "data.mdb", directory.number, "data.mdb") == 0 else {
      throw SystemError(call: "rename", path: "data.mdb")
    }
    // Belongs to the old one; LMDB makes a new one.
    unlinkat(directory.number, "lock.mdb", 0)
    remove()
    guard fsync(directory.number) == 0 else { throw SystemError(call: "fsync", path: "index") }
  }

  /// Removes the folder and what is in it.
  func remove() {
    // A link in its place leads to what is not ours.
    guard let folder = try? open() else { return }
    for name in ["data.mdb", "lock.mdb"] { unlinkat(folder.number, name, 0) }
    unlinkat(directory.number, Self.folder, AT_REMOVEDIR)
  }

  private func open() throws(SystemError) -> FileDescriptor {
    try CacheDirectory.openFile(Self.folder, in: directory, flags: O_RDONLY | O_DIRECTORY)
  }
}
