/// Invented titles, names and summaries, in English and Korean, each following from a poster's name.
enum DemoTitles {
  /// A text in the two languages that the demo origin speaks.
  struct Text {
    let english: String
    let korean: String

    /// The text in the language of a TMDB `language` parameter: Korean for `ko` and `ko-KR`,
    /// English for all others.
    func inLanguage(_ language: String?) -> String {
      language?.lowercased().split(separator: "-").first == "ko" ? korean : english
    }
  }

  /// What marks the pictures of people.
  static let personPrefix = "P_"

  /// What marks backdrops, before the stem of the poster.
  static let backdropPrefix = "B_"

  /// What is written on the picture with this stem: a person's name or a film's title.
  static func caption(for stem: String) -> String {
    if stem.hasPrefix(personPrefix) { return person(for: stem).english }
    let isBackdrop = stem.hasPrefix(backdropPrefix)
    return title(for: isBackdrop ? String(stem.dropFirst(backdropPrefix.count)) : stem).english
  }

  /// The title of the film or series whose poster has this stem.
  static func title(for stem: String) -> Text {
    var random = SeededRandom("title " + stem)
    let first = random.pick(nouns)
    var second = random.pick(nouns)
    while second.english == first.english { second = random.pick(nouns) }
    let adjective = random.pick(adjectives)
    switch random.below(5) {
    case 0:
      return Text(
        english: "The \(adjective.english) \(first.english)",
        korean: "\(adjective.korean) \(first.korean)")
    case 1:
      return Text(
        english: "\(first.english) of the \(second.english)",
        korean: "\(second.korean)의 \(first.korean)")
    case 2:
      return Text(
        english: "\(adjective.english) \(first.english)",
        korean: "\(adjective.korean) \(first.korean)")
    case 3:
      return Text(
        english: "The \(first.english) and the \(second.english)",
        korean: "\(first.korean) 그리고 \(second.korean)")
    default:
      return Text(
        english: "Beyond the \(adjective.english) \(second.english)",
        korean: "\(adjective.korean) \(second.korean) 너머")
    }
  }

  /// The name of the person whose picture has this stem.
  static func person(for stem: String) -> Text {
    var random = SeededRandom("person " + stem)
    let given = random.pick(givenNames)
    let family = random.pick(familyNames)
    return Text(
      english: "\(given.english) \(family.english)", korean: "\(given.korean) \(family.korean)")
  }

  /// Two sentences about the film or series whose poster has this stem.
  static func overview(for stem: String) -> Text {
    var random = SeededRandom("overview " + stem)
    let hero = random.pick(heroes)
    let thing = random.pick(nouns)
    let mood = random.pick(adjectives)
    let name = person(for: stem)
    return Text(
      english: "\(name.english), \(hero.english), finds the \(thing.english.lowercased()) that "
        + "everybody else has forgotten. What begins with one "
        + "\(mood.english.lowercased()) evening changes a whole town.",
      korean: "\(hero.korean) \(name.korean)은(는) 모두가 잊어버린 \(thing.korean)을(를) 발견한다. "
        + "\(mood.korean) 어느 저녁에 시작된 일이 온 마을을 바꾸어 놓는다.")
  }

  // MARK: Words

  private static let adjectives = [
    Text(english: "Silent", korean: "고요한"), Text(english: "Golden", korean: "황금빛"),
    Text(english: "Distant", korean: "머나먼"), Text(english: "Crimson", korean: "진홍빛"),
    Text(english: "Hidden", korean: "숨겨진"), Text(english: "Gentle", korean: "다정한"),
    Text(english: "Frozen", korean: "얼어붙은"), Text(english: "Electric", korean: "전기의"),
    Text(english: "Wandering", korean: "떠도는"), Text(english: "Paper", korean: "종이"),
    Text(english: "Midnight", korean: "한밤의"), Text(english: "Second", korean: "두 번째"),
    Text(english: "Invisible", korean: "보이지 않는"), Text(english: "Burning", korean: "타오르는"),
    Text(english: "Northern", korean: "북쪽의"), Text(english: "Restless", korean: "잠 못 드는"),
  ]

  private static let nouns = [
    Text(english: "Harbour", korean: "항구"), Text(english: "Lantern", korean: "등불"),
    Text(english: "Orchard", korean: "과수원"), Text(english: "Comet", korean: "혜성"),
    Text(english: "Railway", korean: "철길"), Text(english: "Garden", korean: "정원"),
    Text(english: "Winter", korean: "겨울"), Text(english: "Kingdom", korean: "왕국"),
    Text(english: "Letter", korean: "편지"), Text(english: "Island", korean: "섬"),
    Text(english: "Clockmaker", korean: "시계공"), Text(english: "River", korean: "강"),
    Text(english: "Mirror", korean: "거울"), Text(english: "Sparrow", korean: "참새"),
    Text(english: "Observatory", korean: "천문대"), Text(english: "Carnival", korean: "축제"),
    Text(english: "Voyage", korean: "항해"), Text(english: "Machine", korean: "기계"),
    Text(english: "Forest", korean: "숲"), Text(english: "Melody", korean: "선율"),
    Text(english: "Lighthouse", korean: "등대"), Text(english: "Thief", korean: "도둑"),
    Text(english: "Horizon", korean: "지평선"), Text(english: "Summer", korean: "여름"),
  ]

  private static let heroes = [
    Text(english: "a retired cartographer", korean: "은퇴한 지도 제작자"),
    Text(english: "a night-shift baker", korean: "야간 제빵사"),
    Text(english: "a young radio operator", korean: "젊은 무전사"),
    Text(english: "a homesick astronaut", korean: "향수병에 걸린 우주 비행사"),
    Text(english: "a clumsy detective", korean: "서투른 탐정"),
    Text(english: "a village schoolteacher", korean: "시골 학교 교사"),
  ]

  private static let givenNames = [
    Text(english: "Ada", korean: "에이다"), Text(english: "Milo", korean: "마일로"),
    Text(english: "Nora", korean: "노라"), Text(english: "Felix", korean: "펠릭스"),
    Text(english: "Iris", korean: "아이리스"), Text(english: "Jonas", korean: "요나스"),
    Text(english: "Mina", korean: "미나"), Text(english: "Theo", korean: "테오"),
    Text(english: "Vera", korean: "베라"), Text(english: "Hugo", korean: "휴고"),
  ]

  private static let familyNames = [
    Text(english: "Marlowe", korean: "말로"), Text(english: "Winter", korean: "윈터"),
    Text(english: "Castell", korean: "카스텔"), Text(english: "Okafor", korean: "오카포르"),
    Text(english: "Lindqvist", korean: "린드크비스트"), Text(english: "Moreau", korean: "모로"),
    Text(english: "Hart", korean: "하트"), Text(english: "Seo", korean: "서"),
    Text(english: "Ferreira", korean: "페레이라"), Text(english: "Novak", korean: "노바크"),
  ]
}
