import Glibc

/// A program run to its end, measured from before it is started until it has been waited for.
struct Command {
  /// The path of the program.
  let program: String
  let arguments: [String]

  init(_ program: String, _ arguments: [String] = []) {
    self.program = program
    self.arguments = arguments
  }

  /// The path of the program called `name`, or `nil` if it is not installed.
  static func find(_ name: String) -> String? {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"])
      .map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  /// Runs the program with its output thrown away.
  ///
  /// - Throws: if it cannot be started or ends with another status than 0.
  func run() throws(BenchError) -> Sample {
    let stopwatch = Stopwatch()
    let child = try start(standardOutput: nil)
    var usage = rusage()
    let status = try child.wait(&usage)
    let seconds = stopwatch.sample().seconds
    guard status == 0 else { throw BenchError("\(program) ended with status \(status)") }
    return Sample(
      seconds: seconds,
      processorSeconds: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime))
  }

  /// Runs the program and returns the first line it writes to either output, whatever its status.
  func firstLine() -> String? {
    // A program that cannot be started says nothing.
    let text = (try? captured(withErrors: true))?.text ?? []
    return text.split(separator: UInt8(ascii: "\n")).first.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Runs the program and returns what it writes to its standard output.
  ///
  /// - Throws: if it cannot be started or ends with another status than 0.
  func output() throws(BenchError) -> [UInt8] {
    let (text, status) = try captured(withErrors: false)
    guard status == 0 else { throw BenchError("\(program) ended with status \(status)") }
    return text
  }

  private func captured(
    withErrors: Bool
  ) throws(BenchError) -> (text: [UInt8], status: Int) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError(call: "pipe", "") }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child: Child
    do {
      defer { close(ends[1]) }
      child = try start(
        standardOutput: ends[1], standardError: withErrors ? ends[1] : nil)
    }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count <= 0 { break }
      text += buffer[..<count]
    }
    var usage = rusage()
    return (text, try child.wait(&usage))
  }

  /// Starts the program and returns at once. It is killed if a signal ends this process before it has been
  /// waited for.
  ///
  /// - Parameters:
  ///   - standardOutput: the descriptor it writes to; `nil` throws away what it writes.
  ///   - standardError: the same; `nil` leaves it this process' own.
  ///   - standardInput: the descriptor it reads from; `nil` gives it nothing to read.
  func start(
    standardOutput: CInt?, standardError: CInt? = nil, standardInput: CInt? = nil
  ) throws(BenchError) -> Child {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let standardInput {
      posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    if let standardOutput {
      posix_spawn_file_actions_adddup2(&actions, standardOutput, 1)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    if let standardError { posix_spawn_file_actions_adddup2(&actions, standardError, 2) }
    // The threads that tasks run on block most signals, and children inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // Ignored by us, and not by others.
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var strings = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    var identifier: pid_t = 0
    let status = posix_spawn(&identifier, program, &actions, &attributes, &strings, environ)
    guard status == 0 else {
      throw BenchError("cannot start \(program): \(String(cString: strerror(status)))")
    }
    ChildrenToEnd.add(identifier)
    return Child(identifier: identifier)
  }

  /// A program that has been started.
  struct Child {
    let identifier: pid_t

    /// Waits for its end; returns its status as a shell would give it.
    func wait(_ usage: inout rusage) throws(BenchError) -> Int {
      var status: CInt = 0
      while wait4(identifier, &status, 0, &usage) < 0 {
        guard errno == EINTR else { throw BenchError(call: "wait4", "\(identifier)") }
      }
      ChildrenToEnd.remove(identifier)
      let signal = status & 0x7F
      return signal == 0 ? Int(status >> 8) & 0xFF : 128 + Int(signal)
    }
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }
}
