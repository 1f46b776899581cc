import CLinux
import PosterCache
import Synchronization

/// A command line taken apart: which command, its operands, and the options as typed.
struct Invocation: Equatable, Sendable {
  var command: CommandName?
  var operands: [String]
  var flags: RawFlags
}

/// Turns arguments into a ``Invocation`` by glibc's `getopt_long` and ``FlagTable``: options may
/// stand anywhere, long ones may be abbreviated, `--` ends them.
enum FlagParser {
  /// Parses `arguments`, which do not include the program's name.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration``, with what is allowed.
  static func parse(_ arguments: [String]) throws(PosterError) -> Invocation {
    let (given, operands) = try options(in: arguments)
    var line = Invocation(command: nil, operands: operands, flags: RawFlags())
    if line.operands.first == "help" {
      // `help warm` is `warm --help`, and `help` is `--help`.
      line.operands.removeFirst()
      line.flags.help = true
      guard line.operands.count <= 1 else {
        throw usage("help takes one command: one of \(CommandName.allCases.names)")
      }
    }
    if !line.operands.isEmpty {
      let name = line.operands.removeFirst()
      guard let command = CommandName(rawValue: name) else {
        throw usage(
          "unknown command \(PosterAddress.redacted(name)): use one of \(CommandName.allCases.names)"
            + suggestion(for: name, among: CommandName.allCases.map(\.rawValue) + ["help"]))
      }
      line.command = command
    }
    for (flag, argument) in given {
      guard flag.applies(to: line.command) || line.command == nil else {
        let owners = CommandName.allCases.filter(flag.applies(to:)).names
        throw usage(
          "--\(flag.name) is an option of \(owners), not of \(line.command?.rawValue ?? "")")
      }
      flag.set(argument, in: &line.flags)
    }
    return line
  }

  /// A failure to understand the command line.
  static func usage(_ message: String) -> PosterError {
    PosterError(.invalidConfiguration, message)
  }

  /// The error of a size, given with `option`, that is none of `sizes`.
  static func notOffered(
    _ size: String, option: String = "size", among sizes: [PosterSize]
  ) -> PosterError {
    usage(
      "--\(option) takes \(sizes.names), not \(told(size))"
        + suggestion(nearestSize(to: size, among: sizes)))
  }

  /// The error of what is no size at all, where any would do.
  static func noSize(_ text: String) -> PosterError {
    usage(
      "--size takes w or h and a number from 1 to 99999, such as w300, or original, not"
        + " \(told(text))" + suggestion(for: text, among: [PosterSize.original.rawValue]))
  }

  /// What was written, in a message about it.
  static func told(_ text: String) -> String { text.isEmpty ? "an empty word" : text }

  /// `; did you mean …?`, or nothing if nothing is near.
  static func suggestion(for text: String, among names: [String]) -> String {
    suggestion(nearest(to: text, among: names))
  }

  private static func suggestion(_ name: String?) -> String {
    name.map { "; did you mean \($0)?" } ?? ""
  }

  // MARK: - getopt_long

  /// getopt_long keeps its place in global variables: one command line at a time.
  private static let turn = Mutex(())

  /// What getopt_long returns for the long option at an index of the table: above every character.
  private static let longBase: CInt = 1000

  private static func options(
    in arguments: [String]
  ) throws(PosterError) -> (given: [(Flag, String?)], operands: [String]) {
    for argument in arguments where argument.utf8.contains(0) {
      throw usage("an argument holds a null character")
    }
    let result = turn.withLock { _ in
      withArgumentVector(["postercache"] + arguments) { count, vector in
        withLongOptions { longOptions in
          scan(count: count, vector: vector, longOptions: longOptions)
        }
      }
    }
    return try result.get()
  }

  private static func scan(
    count: CInt, vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    longOptions: UnsafePointer<option>
  ) -> Result<(given: [(Flag, String?)], operands: [String]), PosterError> {
    func text(at index: CInt) -> String {
      vector[Int(index)].map { String(cString: $0) } ?? ""
    }
    var given: [(Flag, String?)] = []
    var isFirst = true
    while true {
      let found = postercache_next_option(count, vector, shortOptions, longOptions, isFirst ? 1 : 0)
      isFirst = false
      switch found.value {
      case -1:
        return .success((given, (found.next..<count).map(text)))
      case CInt(UInt8(ascii: ":")):
        let flag = flag(for: found.offending)
        let placeholder = flag?.placeholder ?? ""
        return .failure(usage("--\(flag?.name ?? "") needs an argument: \(placeholder)"))
      case CInt(UInt8(ascii: "?")):
        if let flag = flag(for: found.offending) {
          return .failure(usage("--\(flag.name) takes no argument"))
        }
        if found.offending > 0 {
          let letter = String(decoding: [UInt8(truncatingIfNeeded: found.offending)], as: UTF8.self)
          return .failure(usage("unknown option -\(letter); --help lists them"))
        }
        return .failure(unknownLongOption(text(at: found.next - 1)))
      default:
        guard let flag = flag(for: found.value) else {
          preconditionFailure("getopt_long returned \(found.value)")
        }
        given.append((flag, found.argument.map { String(cString: $0) }))
      }
    }
  }

  private static func unknownLongOption(_ text: String) -> PosterError {
    let name = String(text.drop { $0 == "-" }.prefix { $0 != "=" })
    let names = FlagTable.flags.map(\.name)
    let matches = names.filter { $0.hasPrefix(name) }
    if matches.count > 1 {
      return usage(
        "--\(name) is ambiguous: \(matches.map { "--\($0)" }.joined(separator: ", "))")
    }
    let nearest = nearest(to: name, among: names).map { "; did you mean --\($0)?" }
    return usage("unknown option --\(name)\(nearest ?? "; --help lists them")")
  }

  /// The table's row for getopt_long's value: an index, or a letter.
  private static func flag(for value: CInt) -> Flag? {
    if value >= longBase { return FlagTable.flags[Int(value - longBase)] }
    guard let letter = UInt8(exactly: value) else { return nil }
    return FlagTable.flags.first { $0.short == Character(UnicodeScalar(letter)) }
  }

  /// The leading colon lets getopt_long tell a missing argument from an unknown option.
  private static let shortOptions =
    FlagTable.flags.reduce(into: ":") { result, flag in
      guard let short = flag.short else { return }
      result += flag.placeholder == nil ? "\(short)" : "\(short):"
    }

  private static func withLongOptions<Result>(
    _ body: (UnsafePointer<option>) -> Result
  ) -> Result {
    var names = FlagTable.flags.map { Array($0.name.utf8CString) }
    // One block for all names: a pointer into each array would not outlive its closure.
    let starts = names.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    let block = Array(names.joined())
    names.removeAll()
    return block.withUnsafeBufferPointer { block in
      var options = zip(FlagTable.flags, starts).enumerated().map { index, row in
        option(
          name: block.baseAddress.map { $0 + row.1 },
          has_arg: row.0.placeholder == nil ? no_argument : required_argument, flag: nil,
          val: longBase + CInt(index))
      }
      options.append(option())
      return options.withUnsafeBufferPointer { options in
        guard let start = options.baseAddress else { preconditionFailure("no options") }
        return body(start)
      }
    }
  }

  private static func withArgumentVector<Result>(
    _ arguments: [String],
    _ body: (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var vector = arguments.map { argument -> UnsafeMutablePointer<CChar>? in
      let bytes = argument.utf8CString
      let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
      _ = copy.initialize(from: bytes)
      return copy.baseAddress
    }
    vector.append(nil)
    // getopt_long reorders the vector, so what it holds now is what was put into it.
    defer { for pointer in vector { pointer?.deallocate() } }
    return vector.withUnsafeMutableBufferPointer { vector in
      guard let start = vector.baseAddress else { preconditionFailure("no arguments") }
      return body(CInt(arguments.count), start)
    }
  }
}
