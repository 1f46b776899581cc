/// Something that a ``DemoOrigin`` does wrong on purpose, for the paths that a pattern names.
///
/// All faults that match a request apply: headers are changed by each ``Kind/header(name:value:)``,
/// and of the other kinds the first one decides what happens.
public struct Fault: Sendable, Hashable {
  /// What goes wrong.
  public enum Kind: Sendable, Hashable {
    /// This status instead of the answer, with TMDB's error body below `/3/` and a line of text
    /// elsewhere.
    case status(Int, headers: [String: String] = [:])
    /// A redirection to an address, which may be relative.
    case redirect(to: String, status: Int = 302)
    /// A page of HTML with status 200.
    case wrongType
    /// The connection is closed without a byte of an answer.
    case drop
    /// The whole length is announced, but the connection is closed after this many bytes of the
    /// body.
    case truncate(afterBytes: Int)
    /// Nothing more comes after this many bytes of the body, while the connection stays open;
    /// `nil`: not even the headers come.
    case stall(afterBytes: Int? = nil)
    /// No length is announced, the body ends with the connection: at its end, or after this many
    /// bytes.
    case closeWithoutLength(afterBytes: Int? = nil)
    /// No length is announced, the body comes in chunks: all of it, or, without the last chunk,
    /// this many bytes before the connection is closed.
    case chunked(afterBytes: Int? = nil)
    /// A header of the answer is replaced or added; `nil` removes it. Conditional requests are
    /// compared with what is sent. A length cannot be changed this way: see
    /// ``truncate(afterBytes:)`` and ``closeWithoutLength(afterBytes:)``.
    case header(name: String, value: String?)
    /// Another picture for a name of a picture, with an entity tag of its own: with a limited number
    /// of occurrences, a file that is replaced between two requests. Each number is another picture.
    case otherPicture(Int = 1)
    /// What is asked for a range answers with a part that begins so many bytes behind it, before it
    /// if negative, and says so; whole bodies are sent as they are.
    case otherRange(by: Int)
    /// What is asked for a range answers with so many bytes of it, and says so; whole bodies are
    /// sent as they are.
    case shortRange(bytes: Int)
    /// What is asked for a range answers 416, whatever the range.
    case unsatisfiableRange
  }

  /// Which paths it is about.
  public var pattern: PathPattern
  /// What goes wrong.
  public var kind: Kind
  /// How many requests it meets, counted for each path by itself from the first; `nil` for all.
  public var occurrences: Int?

  /// A fault of `kind` for the first requests of each path that `pattern` names, by default all.
  public init(_ pattern: PathPattern, _ kind: Kind, first occurrences: Int? = nil) {
    self.pattern = pattern
    self.kind = kind
    self.occurrences = occurrences
  }
}
