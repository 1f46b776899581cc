/// What else is known about the film or series whose poster has a certain stem.
struct DemoFacts {
  /// Such as `1987-04-09`.
  let date: String
  /// One of TMDB's numbers for genres.
  let genre: Int
  /// In thousandths.
  let voteAverage: Int
  let voteCount: Int

  /// The genres that there are: drama, comedy, science fiction, mystery.
  static let genres = [18, 35, 878, 9648]

  init(stem: String) {
    var random = SeededRandom("facts \(stem)")
    date =
      "\(1960 + random.below(65))-\(Self.twoDigits(1 + random.below(12)))-"
      + Self.twoDigits(1 + random.below(28))
    genre = Self.genres[random.below(4)]
    voteAverage = 4_500 + random.below(5_000)
    voteCount = 20 + random.below(9_000)
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : String(number)
  }
}
