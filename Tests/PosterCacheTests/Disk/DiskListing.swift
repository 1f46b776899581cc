import TestSupport

@testable import PosterCache

extension DiskCache {
  /// The numbers of the sample posters stored, the last to be evicted first.
  func numbers() throws -> [Int] {
    var numbers: [Int] = []
    try forEachEntry { entry in
      let digits = entry.metadata.address.canonical.split(separator: "poster").last ?? ""
      numbers.append(Int(digits.dropLast(4)) ?? -1)
      return true
    }
    return numbers
  }

  /// Stores `poster`, and returns why that failed, if it did.
  func store(_ poster: StoredPoster, isSeen: Bool = true) -> PosterError? {
    let failure = Monitor<PosterError?>(nil)
    insert(poster, isSeen: isSeen) { result in
      if case .failure(let error) = result { failure.withLock { $0 = error } }
    }
    // A cache that cannot flush has failed, too.
    do { try flush() } catch { return error }
    return failure.withLock { $0 }
  }

  /// Whether the sample poster `number` is stored with the right bytes.
  func hasSample(_ number: Int, bytes: Int = 2000, version: Int = 0) throws -> Bool {
    let right = SamplePoster.make(number, bytes: bytes, version: version).body
    return try poster(for: SamplePoster.request(number))?.body == right
  }
}
