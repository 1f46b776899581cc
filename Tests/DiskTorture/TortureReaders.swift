import PosterCache

/// Many threads that read the index all the time: a process that is killed with as many reader slots.
struct TortureReaders {
  private let cache: DiskCache
  private let settings: TortureSettings

  init(_ cache: DiskCache, _ settings: TortureSettings) {
    self.cache = cache
    self.settings = settings
  }

  func run() throws {
    let cache = cache
    let rounds = settings.rounds
    let threads = (0..<settings.threads).map { number in
      WorkerThread(name: "reader") {
        var round = 0
        while rounds == 0 || round < rounds {
          do {
            // The keys of all entries are read before the first is looked at.
            try cache.forEachEntry { _ in false }
          } catch {
            DiskTorture.fail("reader \(number): \(error)")
          }
          if round == 0 { DiskTorture.print("reading") }
          round += 1
        }
      }
    }
    for thread in threads { thread.join() }
  }
}
