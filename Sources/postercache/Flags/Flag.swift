/// One option: a row of ``FlagTable``, from which parsing and `--help` follow.
struct Flag: Sendable {
  /// Where in ``RawFlags`` the option goes.
  enum Target: Sendable {
    /// An option without an argument.
    case on(WritableKeyPath<RawFlags, Bool> & Sendable)
    /// An option with an argument; the last one given counts.
    case value(String, WritableKeyPath<RawFlags, String?> & Sendable)
    /// An option with an argument that may be given several times.
    case values(String, WritableKeyPath<RawFlags, [String]> & Sendable)
  }

  /// The long name without dashes.
  let name: String
  /// The one-letter name, if it has one.
  let short: Character?
  /// Where it goes, and what `--help` calls its argument.
  let target: Target
  /// The commands that take it; `nil` for all, and for no command at all.
  let commands: Set<CommandName>?
  /// One sentence without a full stop; broken into lines by `--help`.
  let help: String

  init(
    _ name: String, short: Character? = nil, _ target: Target,
    only commands: Set<CommandName>? = nil,
    _ help: String
  ) {
    self.name = name
    self.short = short
    self.target = target
    self.commands = commands
    self.help = help
  }

  /// What `--help` calls the argument, `nil` for an option without one.
  var placeholder: String? {
    switch target {
    case .on: nil
    case .value(let placeholder, _), .values(let placeholder, _): placeholder
    }
  }

  /// Whether `command` takes this option.
  func applies(to command: CommandName?) -> Bool {
    guard let commands else { return true }
    return command.map(commands.contains) ?? false
  }

  /// Puts the option into `flags`; `argument` is `nil` for an option without one.
  func set(_ argument: String?, in flags: inout RawFlags) {
    switch target {
    case .on(let path): flags[keyPath: path] = true
    case .value(_, let path): flags[keyPath: path] = argument
    case .values(_, let path): flags[keyPath: path].append(argument ?? "")
    }
  }
}
