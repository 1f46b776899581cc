/// Where a document lies: a feed or a list that is no server's API.
public enum DocumentSource: Sendable, Hashable {
  /// Loaded like every page, through the pipeline.
  case address(PosterAddress)
  /// Read from a file, symbolic links followed; also from a named pipe.
  case file(String)
  /// Read from standard input.
  case standardInput

  /// The source that people write: `-` for standard input, an http or https address, else a file's path.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress`` for what looks like an address and is none,
  ///   ``PosterError/Code/invalidConfiguration`` for an empty text.
  public init(_ text: String) throws(PosterError) {
    guard !text.isEmpty else {
      throw PosterError(
        .invalidConfiguration, "no source; write an address, a file's path, or - for standard input"
      )
    }
    if text == "-" {
      self = .standardInput
    } else if text.utf8.firstRange(of: "://".utf8) != nil {
      self = .address(try PosterAddress(text))
    } else {
      self = .file(text)
    }
  }

  /// The error that an answer with another status than 200 stands for.
  static func refusal(_ status: Int, of address: PosterAddress) -> PosterError {
    switch status {
    case 401, 403:
      PosterError(.unauthorized, "the list's server refused access (HTTP \(status)): \(address)")
    case 500...:
      PosterError(.status(status), "the list's server is in trouble (HTTP \(status)): \(address)")
    default:
      PosterError(
        .status(status), "the list's server answered without a list (HTTP \(status)): \(address)")
    }
  }
}

extension DocumentSource: CustomStringConvertible {
  /// The redacted address, the path on one line, or `standard input`.
  public var description: String {
    switch self {
    case .address(let address): address.redacted
    case .file(let path): ServerWords.oneLine(path, longest: 240)
    case .standardInput: "standard input"
    }
  }
}
