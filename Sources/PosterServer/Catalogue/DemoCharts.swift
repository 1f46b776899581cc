import PosterCache

/// The charts of the demo origin: what is popular, best rated, shown now or soon.
///
/// Of the titles that trending lists have, so that their posters are the same ones, in another order. Among
/// the first 200 positions of every chart are, as in trending lists, three repeats and seven results without
/// a picture, and therefore 190 pictures. Of the 20 results of a first page 19 have a poster, or the people
/// of `person/popular` a picture, and 19 have a backdrop; all 20 have one in `movie/upcoming` and
/// `tv/airing_today`. The posters of `movie/popular` and `tv/popular` include the 18 that a day's `all` list
/// has on its first page.
///
/// The people on the first page of `person/popular` are known for 42 titles in all, 14 of them for three
/// each; no title is among them twice, and 41 have a poster. For the other six, `known_for` is null once,
/// missing twice and empty three times.
enum DemoCharts {
  /// The order of a chart.
  private struct Chart {
    let pageCount: Int
    /// The number of the first title of those that make up the first page.
    let firstNumber: Int
    /// How the titles of a page are shuffled: the distance from one to the next, which has no divisor in
    /// common with the number of results on a page.
    let step: Int
    /// TMDB names the span of dates of what is in cinemas.
    var namesDates = false
  }

  private static let charts: [String: Chart] = [
    "movie/popular": Chart(pageCount: 60, firstNumber: 0, step: 7),
    "movie/top_rated": Chart(pageCount: 60, firstNumber: 100, step: 3),
    "movie/now_playing": Chart(pageCount: 12, firstNumber: 20, step: 9, namesDates: true),
    "movie/upcoming": Chart(pageCount: 12, firstNumber: 200, step: 11, namesDates: true),
    "tv/popular": Chart(pageCount: 60, firstNumber: 0, step: 7),
    "tv/top_rated": Chart(pageCount: 60, firstNumber: 100, step: 3),
    "tv/on_the_air": Chart(pageCount: 12, firstNumber: 20, step: 9),
    "tv/airing_today": Chart(pageCount: 12, firstNumber: 200, step: 11),
    "person/popular": Chart(pageCount: 60, firstNumber: 0, step: 7),
  ]

  /// A page of the chart called `name`, such as `popular`; those beyond its last are empty.
  ///
  /// - Returns: `nil` if there is no such chart of `media`.
  static func page(
    _ page: Int, of media: DemoCatalogue.Media, chart name: some StringProtocol, language: String?
  ) -> JSON? {
    guard let chart = charts["\(media.rawValue)/\(name)"] else { return nil }
    let count = chart.pageCount * DemoCatalogue.pageSize
    let results = DemoCatalogue.positions(page, of: count).map { position in
      DemoResult(media, number(at: DemoCatalogue.placeRepeating(position), of: chart))
        .json(language: language, namesKind: false)
    }
    let dates: JSON = .object([("maximum", "2025-01-08"), ("minimum", "2024-12-11")])
    return DemoCatalogue.list(
      page, results: results, count: count, first: chart.namesDates ? [("dates", dates)] : [])
  }

  private static func number(at place: Int, of chart: Chart) -> Int {
    let (page, row) = place.quotientAndRemainder(dividingBy: DemoCatalogue.pageSize)
    let shuffled = (row * chart.step + 3) % DemoCatalogue.pageSize
    return (chart.firstNumber + page * DemoCatalogue.pageSize + shuffled)
      % DemoCatalogue.titleCount
  }
}
