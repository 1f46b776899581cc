import CCurl
import FoundationEssentials

/// The status line and the few headers of one HTTP response that anybody here looks at.
///
/// Filled line by line while a transfer runs: values are kept as bytes in one buffer and become
/// strings only where somebody asks.
package struct ResponseHeaders: Sendable {
  /// A header that is kept.
  enum Field: Int, CaseIterable {
    case contentType, contentLength, transferEncoding, etag, lastModified, cacheControl, expires
    case date, age, retryAfter, contentEncoding, contentRange, vary, pragma

    /// The name in lower case.
    var name: StaticString {
      switch self {
      case .contentType: "content-type"
      case .contentLength: "content-length"
      case .transferEncoding: "transfer-encoding"
      case .etag: "etag"
      case .lastModified: "last-modified"
      case .cacheControl: "cache-control"
      case .expires: "expires"
      case .date: "date"
      case .age: "age"
      case .retryAfter: "retry-after"
      case .vary: "vary"
      case .pragma: "pragma"
      case .contentEncoding: "content-encoding"
      case .contentRange: "content-range"
      }
    }

    /// Whether the values of several such headers are one list (RFC 9110, section 5.3).
    /// Lengths that contradict each other must not pass for one.
    var isList: Bool {
      switch self {
      case .cacheControl, .vary, .pragma, .contentLength: true
      default: false
      }
    }

    /// Whether the first of several counts, as RFC 9111, sections 4.2.1 and 5.1, say.
    var isFirstOnly: Bool { self == .expires || self == .age }

    /// What a value that is too long to be kept is taken for: the reading that promises least.
    var strictestValue: StaticString? {
      switch self {
      case .cacheControl: "no-store"
      case .vary: "*"
      case .transferEncoding: "chunked"
      default: nil
      }
    }
  }

  /// The status code, 0 before the first line.
  package private(set) var status = 0
  private var bytes: ContiguousArray<UInt8> = []
  private var ranges: InlineArray<14, Range<Int>> = .init(repeating: 0..<0)
  private var presence: UInt16 = 0
  /// Whether the empty line has come.
  private(set) var isComplete = false
  /// The header that the last line was, if it is kept: the next one may go on with it.
  private var lastField: Field?

  /// Longest sum of kept values, in bytes. What exceeds it is ignored or, where that could promise too
  /// much, replaced by ``Field/strictestValue``.
  private static let capacity = 16 * 1024

  /// Nothing received yet.
  package init() {}

  /// The `Content-Type`.
  package var contentType: String? { string(.contentType) }
  /// The `ETag`, with quotes and weakness mark.
  package var etag: String? { string(.etag) }
  /// The `Last-Modified` as sent.
  package var lastModified: String? { string(.lastModified) }
  /// All `Cache-Control` headers, joined by commas.
  package var cacheControl: String? { string(.cacheControl) }
  /// All `Vary` headers, joined by commas.
  package var vary: String? { string(.vary) }
  /// All `Pragma` headers, joined by commas.
  package var pragma: String? { string(.pragma) }
  /// The announced length of the body in bytes; `nil` if there is none, if there are several
  /// different ones, or if it does not count because of a transfer coding (RFC 9112, section 6.3).
  package var contentLength: Int? {
    guard !has(.transferEncoding), let value = string(.contentLength) else { return nil }
    if let length = Self.seconds(value) { return length }
    let lengths = Set(
      value.split(separator: ",", omittingEmptySubsequences: false).map { text in
        let words = text.split(separator: " ")
        return words.count == 1 ? Self.seconds(words[0]) : nil
      })
    return lengths.count == 1 ? lengths.first ?? nil : nil
  }
  /// The `Age` in seconds: the first of several (RFC 9111, section 5.1).
  package var age: Int? {
    string(.age).flatMap { Self.seconds($0.prefix { $0 != "," && $0 != " " }) }
  }
  /// The `Content-Encoding` as sent.
  package var contentEncoding: String? { string(.contentEncoding) }
  /// Whether there is a `Transfer-Encoding`, so that the length is not known before the end.
  var hasTransferEncoding: Bool { has(.transferEncoding) }
  /// The `Content-Range` of a 206 that sends one part of a body of known length (RFC 9110, section
  /// 14.4).
  var contentRange: ContentRange? { string(.contentRange).flatMap { ContentRange($0) } }
  /// The `Date`.
  package var date: Date? { string(.date).flatMap { Date(http: $0) } }
  /// The `Expires` date; one that cannot be read has passed long ago (RFC 9111, section 5.3).
  package var expires: Date? {
    string(.expires).map { Date(http: $0) ?? Date(timeIntervalSince1970: 0) }
  }

  /// How many seconds after `now` the server wants to be asked again (RFC 9110, section 10.2.3);
  /// never negative.
  package func retryAfterSeconds(now: Date) -> Double? {
    guard let value = string(.retryAfter) else { return nil }
    if let seconds = Self.seconds(value) { return Double(seconds) }
    // The server's own clock, where it tells the time, is the one its date was made with.
    return Date(http: value).map { max($0.timeIntervalSince(date ?? now), 0) }
  }

  // MARK: - Filling

  /// Forgets everything, keeping the buffer if nobody shares it.
  mutating func removeAll() {
    status = 0
    presence = 0
    isComplete = false
    lastField = nil
    bytes.removeAll(keepingCapacity: true)
  }

  /// Takes one line as the server sent it. A status line begins a new response, as after a redirect
  /// or a 1xx; other lines after the empty one are trailers and do not count.
  mutating func append(line: UnsafeRawBufferPointer) {
    if line.starts(with: "HTTP/".utf8) {
      removeAll()
      status = Self.status(in: line)
      return
    }
    guard !isComplete else { return }
    if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
      isComplete = true
      return
    }
    let isFolded = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
    guard let field = isFolded ? lastField : Self.field(of: line) else {
      lastField = nil
      return
    }
    lastField = isFolded || !has(field) || !field.isFirstOnly ? field : nil
    guard lastField != nil else { return }
    var start = isFolded ? 0 : field.name.utf8CodeUnitCount + 1
    var end = line.count
    while start < end, line[start] <= 0x20 { start += 1 }
    while end > start, line[end - 1] <= 0x20 { end -= 1 }
    let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
    // A line that is folded reads as if it had a space there (RFC 9112, section 5.2).
    let separator = isFolded ? UInt8(ascii: " ") : UInt8(ascii: ",")
    append(value, to: field, after: has(field) && (isFolded || field.isList) ? separator : nil)
  }

  /// Keeps `value`, behind the one that is there and `separator` if there is a separator.
  private mutating func append(
    _ value: UnsafeRawBufferPointer, to field: Field, after separator: UInt8?
  ) {
    if bytes.capacity == 0 { bytes.reserveCapacity(256) }
    let position = bytes.count
    if position + value.count > Self.capacity {
      // Nor what the next line may add.
      lastField = nil
      guard let strictest = field.strictestValue else { return }
      bytes.append(
        contentsOf: UnsafeBufferPointer(
          start: strictest.utf8Start, count: strictest.utf8CodeUnitCount))
    } else {
      if let separator {
        bytes.append(contentsOf: bytes[ranges[field.rawValue]])
        bytes.append(separator)
      }
      bytes.append(contentsOf: value)
    }
    ranges[field.rawValue] = position..<bytes.count
    presence |= 1 << field.rawValue
  }

  /// The three digits after the version, as in `HTTP/1.1 200 OK` and `HTTP/2 200`.
  private static func status(in line: UnsafeRawBufferPointer) -> Int {
    guard let space = line.firstIndex(of: UInt8(ascii: " ")), space + 3 < line.count else {
      return 0
    }
    return line[space + 1...space + 3].reduce(0) { status, digit in
      (0x30...0x39).contains(digit) ? status * 10 + Int(digit - 0x30) : status
    }
  }

  /// Which of the kept headers `line` is. Most lines fail at their length or first letter.
  private static func field(of line: UnsafeRawBufferPointer) -> Field? {
    guard let first = line.first else { return nil }
    let candidates: [Field]
    switch first | 0x20 {
    case UInt8(ascii: "c"): candidates = Self.startingWithC
    case UInt8(ascii: "t"): candidates = Self.startingWithT
    case UInt8(ascii: "e"): candidates = Self.startingWithE
    case UInt8(ascii: "l"): candidates = Self.startingWithL
    case UInt8(ascii: "d"): candidates = Self.startingWithD
    case UInt8(ascii: "a"): candidates = Self.startingWithA
    case UInt8(ascii: "r"): candidates = Self.startingWithR
    case UInt8(ascii: "v"): candidates = [.vary]
    case UInt8(ascii: "p"): candidates = [.pragma]
    default: return nil
    }
    return candidates.first { field in
      let length = field.name.utf8CodeUnitCount
      guard line.count > length, line[length] == UInt8(ascii: ":") else { return false }
      let name = field.name.utf8Start
      return (0..<length).allSatisfy { index in
        let byte = line[index]
        let isUpper = (0x41...0x5A).contains(byte)
        return (isUpper ? byte | 0x20 : byte) == name[index]
      }
    }
  }

  private static let startingWithC: [Field] = [
    .contentType, .contentLength, .cacheControl, .contentEncoding, .contentRange,
  ]
  private static let startingWithT: [Field] = [.transferEncoding]
  private static let startingWithE: [Field] = [.etag, .expires]
  private static let startingWithL: [Field] = [.lastModified]
  private static let startingWithD: [Field] = [.date]
  private static let startingWithA: [Field] = [.age]
  private static let startingWithR: [Field] = [.retryAfter]

  // MARK: - Reading

  private func has(_ field: Field) -> Bool { presence & 1 << field.rawValue != 0 }

  private func string(_ field: Field) -> String? {
    guard has(field) else { return nil }
    return String(decoding: bytes[ranges[field.rawValue]], as: UTF8.self)
  }

  /// A number of seconds or bytes: digits only. One too large to count is the largest there is
  /// (RFC 9111, section 1.2.2).
  static func seconds(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }
}

/// Which bytes of how many a 206 sends.
struct ContentRange: Hashable {
  /// Offset of the first byte.
  let first: Int
  /// Offset of the last byte.
  let last: Int
  /// Bytes of the whole.
  let total: Int

  /// Bytes in the range.
  var count: Int { last - first + 1 }

  /// Parses `bytes FIRST-LAST/TOTAL`; `nil` if that is not what it is, or contradicts itself.
  init?(_ value: String) {
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ResponseHeaders.seconds(ends[0]),
      let last = ResponseHeaders.seconds(ends[1]), let total = ResponseHeaders.seconds(parts[1]),
      first <= last, last < total
    else { return nil }
    (self.first, self.last, self.total) = (first, last, total)
  }
}

extension Date {
  /// A date in any of the three formats of RFC 9110, section 5.6.7, or `nil`.
  init?(http text: String) {
    // All three begin with the day's name; curl's parser alone would take a bare number for a date.
    guard let first = text.utf8.first, (0x41...0x5A).contains(first & ~0x20) else { return nil }
    let seconds = curl_getdate(text, nil)
    guard seconds != -1 else { return nil }
    self.init(timeIntervalSince1970: Double(seconds))
  }
}
