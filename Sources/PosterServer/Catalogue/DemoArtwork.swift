import PosterCache

/// What the demo origin's results say about their pictures: mostly a path, now and then something odd.
enum DemoArtwork {
  /// Why a result has no picture.
  enum Absence {
    case null, empty, missing
    /// The word "null".
    case word
  }

  /// Why the poster of the title, or the picture of the person, called `number` is absent; `nil` if it is
  /// there.
  ///
  /// Of 200 numbers in a row, three are null (two in few places), one is empty, two are missing, and one is
  /// the word "null".
  static func posterAbsence(_ number: Int) -> Absence? {
    if number % 67 == 5 { return .null }
    if number % 200 == 31 { return .empty }
    if number % 100 == 58 { return .missing }
    return number % 200 == 111 ? .word : nil
  }

  /// Why the backdrop of the title called `number` is absent; `nil` if it is there.
  ///
  /// Of 200 numbers in a row, six or seven are null, one is empty, two are missing, and one is the word
  /// "null".
  static func backdropAbsence(_ number: Int) -> Absence? {
    if number % 31 == 7 { return .null }
    if number % 200 == 86 { return .empty }
    if number % 100 == 44 { return .missing }
    return number % 200 == 187 ? .word : nil
  }

  /// The member `poster_path`, or `profile_path` for a person: a good path, of which some lack their slash
  /// or have two, an odd one, or none.
  ///
  /// - Parameter place: what decides about absence and slashes.
  static func posterMembers(stem: String, kind: DemoCatalogue.Media, place: Int) -> [(String, JSON)]
  {
    members(
      kind == .person ? "profile_path" : "poster_path", stem: stem, absence: posterAbsence(place),
      slashes: place % 50 == 23 ? "" : place % 50 == 24 ? "//" : "/")
  }

  /// The member `backdrop_path` of the title called `number`, whose poster has `stem`.
  static func backdropMembers(stem: String, number: Int) -> [(String, JSON)] {
    members(
      "backdrop_path", stem: DemoTitles.backdropPrefix + stem, absence: backdropAbsence(number),
      slashes: number % 50 == 27 ? "" : number % 50 == 28 ? "//" : "/")
  }

  /// 27 letters and digits like TMDB's names.
  static func stem(of kind: DemoCatalogue.Media, number: Int) -> String {
    var random = SeededRandom("\(kind.rawValue) \(number)")
    let letters = String((0..<27).map { _ in random.pick(alphabet) })
    return kind == .person ? DemoTitles.personPrefix + letters : letters
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

  private static func members(
    _ name: String, stem: String, absence: Absence?, slashes: String
  ) -> [(String, JSON)] {
    switch absence {
    case .null: [(name, .null)]
    case .empty: [(name, "")]
    case .missing: []
    case .word: [(name, "null")]
    case nil: [(name, .string("\(slashes)\(stem).jpg"))]
    }
  }
}
