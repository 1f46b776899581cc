import Glibc
import PosterCache
import Synchronization

/// The command `postercache`: arguments in, results on standard output, an exit status.
@main
enum PosterCacheCommand {
  static func main() {
    openMissingStandardFiles()
    explainFaults()
    // A reader that goes away shows as EPIPE where we write, also on curl's sockets.
    signal(SIGPIPE, SIG_IGN)
    let environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    let settings: Settings
    do {
      let invocation = try FlagParser.parse(Array(CommandLine.arguments.dropFirst()))
      if invocation.flags.help { printAndExit(Help.text(for: invocation.command)) }
      if invocation.flags.version { printAndExit(Help.version) }
      settings = try Settings(invocation, environment: environment)
    } catch {
      let console = Console(Settings.Output(), environment: environment)
      console.failure(error.description)
      exit(CommandStatus(error).rawValue)
    }
    let console = Console(settings.output, environment: environment)
    run(Session(settings: settings, console: console))
  }

  /// Where a shell has closed standard input, output or error, the next file to be opened, perhaps
  /// one of the cache, would get its number and what is printed.
  private static func openMissingStandardFiles() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
      // Takes the lowest free number, which is this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY)
    }
  }

  /// LMDB trusts its pages: a damaged one, which nothing notices before it is read, ends the process. It
  /// is to say what to do then, and to end with the status of a cache that cannot be used.
  private static func explainFaults() {
    for fault in [SIGSEGV, SIGBUS, SIGABRT] {
      signal(fault) { fault in
        guard isUsingCacheIndex() else {
          // Something else: as if this were not here.
          signal(fault, SIG_DFL)
          raise(fault)
          return
        }
        // Only what may be called in a signal's handler.
        let message: StaticString =
          "postercache: the cache index may be damaged: postercache verify --repair mends it\n"
        _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(CommandStatus.cacheUnavailable.rawValue)
      }
    }
  }

  /// Help and version, without starting anything.
  private static func printAndExit(_ text: String) -> Never {
    let console = Console(Settings.Output(), environment: { _ in nil })
    do {
      try console.result(text)
    } catch {
      exit(console.report(error).rawValue)
    }
    exit(CommandStatus.success.rawValue)
  }

  // MARK: - Signals

  /// The signal that interrupted the command, 0 if none did.
  private static let receivedSignal = Atomic<CInt>(0)

  /// Runs `session` beside this thread, which waits for signals.
  ///
  /// The first SIGINT, SIGTERM or SIGHUP cancels the command, which then ends by itself with everything
  /// fetched kept; the second ends the process at once. Commands that have nothing to keep end at
  /// the first.
  private static func run(_ session: Session) -> Never {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    // Not under nohup: an ignored signal that is blocked would be delivered here all the same.
    var hangup = sigaction()
    if sigaction(SIGHUP, nil, &hangup) == 0,
      unsafeBitCast(hangup.__sigaction_handler.sa_handler, to: Int.self) != 1
    {
      sigaddset(&signals, SIGHUP)
    }
    // Before any other thread exists: they inherit it, so that only this thread is told.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let work = Task.detached {
      let status = await session.run()
      let number = receivedSignal.load(ordering: .relaxed)
      exit(status == .interrupted ? 128 + number : status.rawValue)
    }
    while true {
      var number: CInt = 0
      guard sigwait(&signals, &number) == 0 else { continue }
      // A terminal that closes may say so twice.
      if number == SIGHUP, receivedSignal.load(ordering: .relaxed) != 0 { continue }
      let isFirst = receivedSignal.exchange(number, ordering: .relaxed) == 0
      if isFirst, session.settings.action.endsGracefully {
        work.cancel()
      } else {
        _exit(128 + number)
      }
    }
  }
}

extension Settings.Action {
  /// Whether an interruption leaves something to put in order.
  var endsGracefully: Bool {
    switch self {
    case .warm, .get, .export, .sheet, .scroll, .demoOrigin: true
    case .list, .stats, .verify, .pin, .unpin, .evict, .trim, .clear: false
    }
  }
}
