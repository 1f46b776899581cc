import FoundationEssentials

/// What came where a certain kind of JSON was expected, for people who wonder why it will not do.
enum WhatCame {
  case nothing
  case markup
  case otherJSON
  case brokenJSON
  case noJSON

  /// Looks at what came.
  init(_ data: Data) {
    let start = data.withoutByteOrderMark.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    switch start.first {
    case nil: self = .nothing
    case UInt8(ascii: "<"): self = .markup
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      let isWhole = (try? JSONDecoder().decode(AnyJSON.self, from: start)) != nil
      self = isWhole ? .otherJSON : .brokenJSON
    default: self = .noJSON
    }
  }

  /// What came, in a few words: `the answer is HTML or XML instead of JSON`.
  ///
  /// - Parameters:
  ///   - what: what is missing from JSON that is whole, such as `a list of results`.
  ///   - name: what the bytes are to whoever reads the message.
  func description(without what: String, name: String = "the answer") -> String {
    switch self {
    case .nothing: "\(name) is empty"
    case .markup: "\(name) is HTML or XML instead of JSON"
    case .otherJSON: "\(name) is JSON without \(what)"
    case .brokenJSON: "\(name) is broken or cut JSON"
    case .noJSON: "\(name) is no JSON"
    }
  }

  /// Accepts every JSON value: tells other JSON from what is no JSON at all.
  private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) {}
  }
}

extension Data {
  /// The same without the byte order mark that some editors put before UTF-8, and JSON does not allow
  /// (RFC 8259, section 8.1).
  var withoutByteOrderMark: Data {
    starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
  }
}
