/// What the command can be told to do: its first argument that is no option.
enum CommandName: String, CaseIterable, Sendable {
  case warm
  case get
  case ls
  case stats
  case verify
  case pin
  case unpin
  case evict
  case trim
  case clear
  case export
  case sheet
  case scroll
  case demoOrigin = "demo-origin"

  /// What follows the name, as a usage line shows it.
  var operands: String {
    switch self {
    case .get: "URL|/POSTER_PATH"
    case .pin, .unpin, .evict: "URL|/POSTER_PATH…"
    case .warm, .ls, .stats, .verify, .trim, .clear, .export, .sheet, .scroll,
      .demoOrigin:
      ""
    }
  }

  /// How many operands may follow the name.
  var maximumOperands: Int {
    switch self {
    case .get: 1
    case .pin, .unpin, .evict: .max
    case .warm, .ls, .stats, .verify, .trim, .clear, .export, .sheet, .scroll,
      .demoOrigin:
      0
    }
  }

  /// What it does, in one line.
  var summary: String {
    switch self {
    case .warm: "fetch what is missing of a list's posters"
    case .get: "write one picture, from the cache if it is there"
    case .ls: "list what is cached, the last to be evicted first"
    case .stats: "print the cache's totals and counters"
    case .verify: "check every stored poster and the index"
    case .pin: "keep posters from ever being evicted"
    case .unpin: "let pinned posters be evicted again"
    case .evict: "remove posters by name"
    case .trim: "evict until the cache is at most so large"
    case .clear: "remove every poster"
    case .export: "write stored posters as plain files"
    case .sheet: "draw posters side by side into one PNG"
    case .scroll: "scroll through a list, and tell what a viewer would have seen"
    case .demoOrigin: "serve made-up lists and posters over HTTP"
    }
  }
}
