/// A moment as HTTP headers write it (RFC 9110, section 5.6.7), in the one form that servers send:
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
struct HTTPDate: Comparable {
  /// The digits of year, month, day, hour, minute and second: enough to compare.
  private let digits: Int

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses `text`, or returns `nil` if it is no such date.
  init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]),
      let month = Self.months.firstIndex(of: String(parts[2])), let year = Int(parts[3])
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int($0) }
    guard time.count == 3, (1...31).contains(day), (1...9999).contains(year),
      (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
    else { return nil }
    let date = (year * 100 + month + 1) * 100 + day
    digits = ((date * 100 + time[0]) * 100 + time[1]) * 100 + time[2]
  }

  static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.digits < right.digits }
}
