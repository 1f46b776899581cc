import FoundationEssentials
import Glibc
import PosterCache
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct OutputTests {
  @Test func `JSON keeps the order of keys and escapes what must be escaped`() {
    let value = JSON.object([
      ("z", .integer(-1)), ("a", .array([.null, .bool(true), .bool(false), .array([])])),
      ("text", .string("quote\" slash/ back\\ \n\t\r\u{1}\u{7F} é 한 🎬")),
    ])
    #expect(
      value.text
        == #"{"z":-1,"a":[null,true,false,[]],"text":"quote\" slash/ back\\ "#
        + #"\n\t\r\u0001\u007f é 한 🎬"}"#)
    #expect(JSON.string(orNull: nil).text == "null")
  }

  @Test(arguments: [
    (0, "0.000"), (7, "0.007"), (612, "0.612"), (1000, "1.000"), (123_456, "123.456"),
    (-7, "-0.007"),
  ])
  func `thousandths have three decimals`(value: Int, expected: String) {
    #expect(JSON.thousandths(value).text == expected)
  }

  @Test func `the progress bar is as wide as asked for`() {
    let bar = ProgressBar(done: 57, total: 190, failed: 2, bytes: 2_411_724, isListing: true)
    #expect(
      bar.text(columns: 79, isColored: false)
        == "[############............................]  57/190+ posters  2.3 MiB  2 failed"
        .padded(to: 79))
    #expect(
      bar.text(columns: 79, isColored: true)
        == ("[\u{1B}[32m############\u{1B}[0m............................]"
          + "  57/190+ posters  2.3 MiB  2 failed".padded(to: 37)))
    for columns in 0...200 {
      #expect(bar.text(columns: columns, isColored: false).count == columns)
      let line = bar.text(columns: columns, isColored: false, isPadded: false)
      #expect(line.padded(to: columns) == bar.text(columns: columns, isColored: false))
      #expect(line.last != " " || columns < 40)
    }
  }

  @Test func `the progress bar begins empty and ends full`() {
    #expect(
      ProgressBar(total: 9).text(columns: 60, isColored: false)
        == "[" + String(repeating: ".", count: 39) + "]  0/9+ posters  0 B")
    let full = ProgressBar(done: 9, total: 9, failed: 0, bytes: 0, isListing: false)
    #expect(full.text(columns: 60, isColored: false).hasPrefix("[####"))
    #expect(!full.text(columns: 60, isColored: false).contains("."))
  }

  @Test func `the bar tells the rate, and that the list is being loaded`() {
    let bar = ProgressBar(
      done: 1, total: 2, bytes: 3 << 20, bytesPerSecond: 3 << 19, isListing: false)
    #expect(
      bar.text(columns: 79, isColored: false, isPadded: false)
        .hasSuffix("]  1/2 posters  3.0 MiB  1.5 MiB/s"))
    #expect(
      ProgressBar().text(columns: 79, isColored: true, isPadded: false) == "loading the list…")
    #expect(
      ProgressBar().text(columns: 20, isColored: false) == "loading the list…   ")
    #expect(ProgressBar().text(columns: 7, isColored: false) == "loading")
  }

  @Test func `the bar follows the window's width, and is erased, not overwritten`() {
    let width = Lock(100)
    func console(_ term: String) -> Console {
      Console(
        Settings.Output(progress: .always), environment: { $0 == "TERM" ? term : "1" },
        terminalColumns: { width.withLock { $0 } })
    }
    let bar = ProgressBar(done: 1, total: 2, isListing: false)
    let terminal = console("xterm")
    let wide = "[" + String(repeating: "#", count: 20) + String(repeating: ".", count: 20) + "]"
    #expect(terminal.drawing(of: bar) == "\r\(wide)  1/2 posters  0 B\u{1B}[K")
    #expect(terminal.erasure == "\r\u{1B}[K")
    width.withLock { $0 = 24 }
    #expect(terminal.columns == 24)
    #expect(terminal.drawing(of: bar) == "\r1/2 posters  0 B\u{1B}[K")
    let dumb = console("dumb")
    #expect(dumb.drawing(of: bar) == "\r" + "1/2 posters  0 B".padded(to: 23))
    #expect(dumb.erasure == "\r" + String(repeating: " ", count: 23) + "\r")
  }

  @Test func `the bar is for terminals, colour for those that want it`() {
    func console(
      _ progress: ProgressMode, columns: Int?, quiet: Bool = false, _ environment: [String: String]
    ) -> Console {
      Console(
        Settings.Output(isQuiet: quiet, progress: progress), environment: { environment[$0] },
        terminalColumns: { columns })
    }
    let terminal = console(.auto, columns: 120, ["TERM": "xterm"])
    #expect(terminal.showsProgress && terminal.usesColor && terminal.columns == 120)
    let unknownWidth = console(.auto, columns: 0, [:])
    #expect(unknownWidth.showsProgress && unknownWidth.columns == 80)
    let plain = console(.auto, columns: 120, ["NO_COLOR": "1"])
    #expect(plain.showsProgress && !plain.usesColor)
    #expect(console(.auto, columns: 120, ["NO_COLOR": ""]).usesColor)
    let dumb = console(.auto, columns: 120, ["TERM": "dumb"])
    #expect(!dumb.showsProgress && !dumb.usesColor)
    let pipe = console(.auto, columns: nil, [:])
    #expect(!pipe.showsProgress && !pipe.usesColor && pipe.columns == 80)
    #expect(!console(.auto, columns: 120, quiet: true, [:]).showsProgress)
    #expect(!console(.never, columns: 120, [:]).showsProgress)
    let forced = console(.always, columns: nil, [:])
    #expect(forced.showsProgress && !forced.usesColor)
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 gives the standard's own examples`(text: String, expected: String) {
    #expect(Array(text.utf8).withUnsafeBytes(sha256) == expected)
  }

  @Test func `a file is replaced as a whole, and a link to it stays`() throws {
    let directory = TemporaryDirectory()
    let file = "\(directory.path)/poster.jpg"
    let link = "\(directory.path)/link.jpg"
    #expect(symlink(file, link) == 0)
    for text in ["old", "newer"] {
      try OutputFile.write(PosterBody(copying: text.utf8), to: file)
      #expect(try String(contentsOf: URL(filePath: file), encoding: .utf8) == text)
    }
    try OutputFile.write(PosterBody(copying: "through the link".utf8), to: link)
    #expect(try String(contentsOf: URL(filePath: file), encoding: .utf8) == "through the link")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        == ["link.jpg", "poster.jpg"])
  }

  @Test func `what is no regular file is written to as it is`() throws {
    try OutputFile.write(PosterBody(copying: "x".utf8), to: "/dev/null")
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test(arguments: ["", "/nonexistent/directory"])
  func `a file that cannot be written is told`(suffix: String) throws {
    let directory = TemporaryDirectory()
    let error = #expect(throws: PosterError.self) {
      try OutputFile.write(PosterBody(copying: "x".utf8), to: "\(directory.path)\(suffix)")
    }
    #expect(error?.message.contains("cannot write \(directory.path)") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func `a message stays on one line and commands no terminal`() {
    #expect(Console.onOneLine("a\nb\r\u{1B}[31mc é") == "a?b??[31mc é")
  }

  @Test func `errors end the command as the contract says`() {
    let expected: [(PosterError.Code, CommandStatus)] = [
      (.invalidAddress, .usage), (.invalidConfiguration, .usage), (.unauthorized, .refused),
      (.network, .originDown), (.timedOut, .originDown), (.untrustedCertificate, .originDown),
      (.offline, .originDown), (.status(503), .originDown), (.status(404), .failure),
      (.status(429), .failure), (.status(599), .originDown), (.status(600), .failure),
      (.malformedPage, .failure), (.notAnImage, .failure),
      (.incompleteBody, .failure), (.notStored, .failure), (.bodyTooLarge, .failure),
      (.directoryUnavailable, .cacheUnavailable), (.unsupportedFormat, .cacheUnavailable),
      (.damagedIndex, .cacheUnavailable), (.forbiddenRedirect, .failure),
      (.resourcesExhausted, .failure),
    ]
    for (code, status) in expected {
      #expect(CommandStatus(PosterError(code, "x")) == status, "\(code)")
    }
  }

  @Test func `an age is told in its largest unit`() {
    let expected: [(Double, String)] = [
      (-5, "0s"), (59.9, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h"), (86_400 * 9, "9d"),
    ]
    for (seconds, text) in expected { #expect(ListCommand.age(seconds) == text) }
  }
}
