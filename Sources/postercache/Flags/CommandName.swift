/// What the command can be told to do: its first argument that is no option.
enum CommandName: String, CaseIterable, Sendable {
  case warm
  case get
  case ls
  case stats
  case clear
  case demoOrigin = "demo-origin"

  /// What follows the name, as a usage line shows it.
  var operands: String {
    switch self {
    case .get: "URL|/POSTER_PATH"
    case .warm, .ls, .stats, .clear, .demoOrigin: ""
    }
  }

  /// What it does, in one line.
  var summary: String {
    switch self {
    case .warm: "fetch what is missing of a list's posters"
    case .get: "write one picture, from the cache if it is there"
    case .ls: "list what is cached, the last to be evicted first"
    case .stats: "print the cache's totals and counters"
    case .clear: "remove every poster"
    case .demoOrigin: "serve made-up lists and posters over HTTP"
    }
  }
}
