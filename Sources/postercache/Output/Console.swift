import CLinux
import Glibc
import PosterCache

/// Results on standard output, everything else on standard error. Usable from any thread.
struct Console: Sendable {
  let output: Settings.Output
  /// Whether a progress bar is drawn.
  let showsProgress: Bool
  /// Whether standard error takes colours.
  let usesColor: Bool
  /// Whether the terminal knows the escape sequence that erases the rest of a line.
  private let canErase: Bool
  private let terminalColumns: @Sendable () -> Int?

  /// - Parameters:
  ///   - environment: returns a variable's value; `NO_COLOR` (no-color.org) and `TERM` count.
  ///   - terminalColumns: returns the width of the terminal behind standard error, 0 if it does not
  ///     know it, `nil` if it is none; called for every drawing, because windows change.
  init(
    _ output: Settings.Output, environment: (String) -> String?,
    terminalColumns: @escaping @Sendable () -> Int? = { Self.terminalColumns }
  ) {
    let canDraw = terminalColumns() != nil && environment("TERM") != "dumb"
    self.output = output
    switch output.progress {
    case .auto: showsProgress = canDraw && !output.isQuiet
    case .always: showsProgress = true
    case .never: showsProgress = false
    }
    usesColor = canDraw && (environment("NO_COLOR") ?? "").isEmpty
    canErase = canDraw
    self.terminalColumns = terminalColumns
  }

  /// Columns of the terminal behind standard error at this moment, 80 if it is none or does not know
  /// them.
  var columns: Int { terminalColumns().flatMap { $0 > 0 ? $0 : nil } ?? 80 }

  /// The width of the terminal behind standard error, 0 if it does not know it, `nil` if it is none.
  static var terminalColumns: Int? {
    isatty(STDERR_FILENO) == 1 ? Int(postercache_terminal_columns(STDERR_FILENO)) : nil
  }

  // MARK: - Results

  /// Writes a result, even when quiet.
  func result(_ text: String) throws(OutputError) {
    try Array(text.utf8).withUnsafeBufferPointer { bytes throws(OutputError) in
      try Self.write(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Writes `value` and a line end.
  func result(_ value: JSON) throws(OutputError) {
    try result(value.text + "\n")
  }

  /// Writes what people read where programs read JSON; nothing when quiet.
  func summary(_ text: String) throws(OutputError) {
    if !output.isQuiet { try result(text) }
  }

  /// Writes a picture.
  func result(bytes: UnsafeRawBufferPointer) throws(OutputError) {
    try Self.write(bytes)
  }

  // MARK: - Everything else

  /// A failure or a warning: one line, even when quiet.
  func failure(_ message: String) {
    writeError("postercache: \(Self.onOneLine(message))\n")
  }

  /// A failure that is about one address, which is named once, without what may be secret in it.
  func failure(_ error: PosterError, about address: PosterAddress) {
    failure(Self.words(for: error, about: address))
  }

  /// What ``failure(_:about:)`` says.
  ///
  /// - Parameter source: the list that it is about; a message that begins with it names the place already.
  static func words(
    for error: PosterError, about address: PosterAddress?, from source: String? = nil
  ) -> String {
    let words = error.description
    guard let address, source.map({ !words.hasPrefix("\($0): ") }) ?? true else { return words }
    return words.contains(address.redacted) ? words : "\(words): \(address.redacted)"
  }

  /// Failures that are told one by one unless more is wanted.
  private static let toldFailures = 10

  /// Several failures: the first of them one by one, all that are known when verbose.
  ///
  /// - Parameters:
  ///   - count: how many there are in all; as many as `messages` unless given.
  ///   - noun: what each of them is called.
  func failures(_ messages: [String], count: Int? = nil, noun: String = "failure") {
    let count = count ?? messages.count
    let told = output.isVerbose ? messages.count : min(Self.toldFailures, messages.count)
    for message in messages.prefix(told) { failure(message) }
    guard count > told else { return }
    let hint =
      messages.count == told ? "" : messages.count == count ? "; -v tells all" : "; -v tells more"
    failure("and \(counted(count - told, "more \(noun)"))\(hint)")
  }

  /// What a person wants to know and a program does not; nothing when quiet.
  func note(_ message: String) {
    if !output.isQuiet { writeError("\(Self.onOneLine(message))\n") }
  }

  /// What happens in detail; only when verbose.
  func detail(_ message: @autoclosure () -> String) {
    if output.isVerbose { writeError("\(Self.onOneLine(message()))\n") }
  }

  /// Tells that results cannot be written, unless nobody reads them any more, and returns how the
  /// command ends.
  func report(_ error: OutputError) -> CommandStatus {
    switch error {
    case .closed: return .success
    case .failed(let reason):
      failure("cannot write to standard output: \(reason)")
      return .failure
    }
  }

  /// How a command ends whose work is done and came to `status`, once its result is told: a reader that has
  /// gone away changes nothing in that, and what cannot be written is a failure.
  func ending(
    _ status: CommandStatus, telling tell: () throws(OutputError) -> Void
  ) -> CommandStatus {
    do throws(OutputError) {
      try tell()
      return status
    } catch {
      let told = report(error)
      return status == .success ? told : status
    }
  }

  /// Draws `bar` over the one before.
  func draw(_ bar: ProgressBar) {
    if showsProgress { write(drawing(of: bar)) }
  }

  /// Takes the bar away.
  func clearProgress() {
    if showsProgress { write(erasure) }
  }

  /// What draws `bar` over the one before. The last column stays free: a terminal would go on to the
  /// next line.
  func drawing(of bar: ProgressBar) -> String {
    let line = bar.text(columns: columns - 1, isColored: usesColor, isPadded: !canErase)
    return "\r" + line + (canErase ? Self.eraseToEnd : "")
  }

  /// What takes a bar away.
  var erasure: String {
    "\r" + (canErase ? Self.eraseToEnd : String(repeating: " ", count: columns - 1) + "\r")
  }

  /// EL, erase in line: from the cursor to the end (ECMA-48, 8.3.41).
  private static let eraseToEnd = "\u{1B}[K"

  /// `message` without control characters: what a server or an argument says must neither break
  /// the line nor command the terminal.
  static func onOneLine(_ message: String) -> String {
    String(
      message.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control ? "?" : Character(scalar)
      })
  }

  /// A line, which takes the place of the bar if there is one.
  private func writeError(_ line: String) {
    write((showsProgress ? erasure : "") + line)
  }

  private func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      // One call a line, so that lines of two threads do not mix. A failure is not reported:
      // the place to report it to is the one that failed.
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
    do {
      try writeAll(bytes, to: STDOUT_FILENO)
    } catch {
      throw error.number == EPIPE ? .closed : .failed(error.reason)
    }
  }
}

/// Why nothing more can be written to standard output.
enum OutputError: Error, Equatable {
  /// Nobody reads any more, which is no failure: `postercache ls | head`.
  case closed
  /// The reason in words, such as a full disk.
  case failed(String)
}

/// A failed `write`.
struct WriteError: Error {
  /// The value of `errno`.
  let number: CInt
  /// The same in words.
  var reason: String { String(cString: strerror(number)) }
}

/// Writes all of `bytes`, waiting where the reader is slow.
func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt
) throws(WriteError) {
  var rest = bytes
  while !rest.isEmpty {
    let written = write(descriptor, rest.baseAddress, rest.count)
    if written >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    } else if errno == EAGAIN {
      // Whoever gave us this descriptor made it non-blocking.
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&request, 1, -1)
    } else if errno != EINTR {
      throw WriteError(number: errno)
    }
  }
}
