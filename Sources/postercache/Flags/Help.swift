import PosterCache

/// What `--help` and `--version` print, written from ``FlagTable``.
enum Help {
  static let version = "postercache \(postercacheVersion)\n"

  /// The help of `command`, or of the program if there is none.
  static func text(for command: CommandName?) -> String {
    guard let command else { return overview }
    let operands = command.operands.isEmpty ? "" : " \(command.operands)"
    var text = "usage: postercache \(command.rawValue)\(operands) [option…]\n\n"
    text += "\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).\n"
    let own = FlagTable.flags.filter { $0.commands?.contains(command) == true }
    if !own.isEmpty { text += "\noptions\n" + own.map(row).joined() }
    return text + everywhere + exitStatuses
  }

  private static var overview: String {
    var text = "usage: postercache COMMAND [option…]\n\n"
    text += "Keeps movie and TV posters on hand before somebody looks at them.\n\ncommands\n"
    for command in CommandName.allCases {
      text += "  " + command.rawValue.padded(to: 14) + command.summary + "\n"
    }
    text +=
      "\npostercache help COMMAND lists a command's own options, and so does COMMAND --help.\n"
    return text + everywhere + exitStatuses
  }

  private static var everywhere: String {
    "\noptions everywhere\n" + FlagTable.flags.filter { $0.commands == nil }.map(row).joined()
  }

  private static let exitStatuses = """

    exit status
      0 all done, 1 some items failed, 2 usage, 3 credentials refused, 4 network or origin down,
      5 cache directory cannot be opened, 130 or 143 on a signal

    """

  /// One option: its names in a column, its help beside them, 100 columns wide at most.
  private static func row(_ flag: Flag) -> String {
    var names = flag.short.map { "-\($0), " } ?? "    "
    names += "--\(flag.name)"
    if let placeholder = flag.placeholder { names += " \(placeholder)" }
    let column = 28
    var lines: [String] = []
    var line = ""
    for word in flag.help.split(separator: " ") {
      if !line.isEmpty, line.count + word.count + 1 > 98 - column {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    lines.append(line)
    let indent = String(repeating: " ", count: column)
    let first = "  " + names.padded(to: column - 4)
    return first + "  " + lines.joined(separator: "\n\(indent)") + "\n"
  }
}

extension String {
  /// This text with spaces behind it up to `width` characters.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// This text with spaces before it up to `width` characters.
  func rightAligned(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
