import Dispatch
import Glibc
import Synchronization

/// The command as it is built beside the tests, run as a process of its own.
public enum PosterCacheBinary {
  /// What a finished process left.
  public struct Result: Sendable {
    /// The exit status, or 256 and the signal's number if a signal ended it.
    public var status: Int32
    /// Everything on standard output.
    public var standardOutput: [UInt8]
    /// The lines on standard error.
    public var errorLines: [String]

    /// Standard output as text.
    public var output: String { String(decoding: standardOutput, as: UTF8.self) }
    /// Standard error as text.
    public var errors: String { errorLines.joined(separator: "\n") }
  }

  /// Where a process' standard output goes.
  public enum StandardOutput: Sendable {
    /// Into the result.
    case captured
    /// Into a pipe that nobody reads.
    case closedPipe
    /// Into a file or device.
    case file(String)
  }

  /// The binary beside the running test bundle.
  public static var path: String { path(of: "postercache") }

  /// The program called `name` beside the running test bundle.
  public static func path(of name: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    precondition(length > 0, "readlink: \(String(cString: strerror(errno)))")
    let executable = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    let directory = executable.prefix(upTo: executable.lastIndex(of: "/") ?? executable.endIndex)
    return "\(directory)/\(name)"
  }

  /// Runs the command to its end.
  ///
  /// - Parameter environment: all variables it sees.
  public static func run(
    _ arguments: [String], environment: [String: String] = [:],
    standardOutput: StandardOutput = .captured
  ) async -> Result {
    await start(arguments, environment: environment, standardOutput: standardOutput).result()
  }

  /// Starts the command.
  public static func start(
    _ arguments: [String], environment: [String: String] = [:],
    standardOutput: StandardOutput = .captured
  ) -> RunningCommand {
    RunningCommand(
      path: path, arguments: arguments, environment: environment, standardOutput: standardOutput)
  }
}

/// A running command: its errors line by line while it runs, its result when it has ended.
public final class RunningCommand: Sendable {
  /// The process' number, valid until ``result()`` has returned.
  public let processIdentifier: pid_t

  private let output: AsyncStream<[UInt8]>
  private let errors: AsyncStream<[UInt8]>
  private let taken = Mutex<[UInt8]>([])
  private let unfinishedLine = Mutex<[UInt8]>([])
  private let errorLines = Mutex<[String]>([])

  /// Pipes are made and marked close-on-exec in two steps: no other child may start in between,
  /// because it would keep them open.
  private static let spawning = Mutex(())

  /// Starts the program at `path`.
  ///
  /// - Parameters:
  ///   - environment: all variables it sees.
  ///   - inherited: a descriptor that it finds as number 3.
  public init(
    path: String, arguments: [String], environment: [String: String],
    standardOutput: PosterCacheBinary.StandardOutput = .captured, inherited: CInt? = nil
  ) {
    let (processIdentifier, outputEnd, errorEnd) = Self.spawning.withLock { _ in
      let output = Self.makePipe()
      let errors = Self.makePipe()
      if case .closedPipe = standardOutput { close(output.read) }
      var file: CInt?
      if case .file(let path) = standardOutput { file = open(path, O_WRONLY | O_CLOEXEC) }
      let child = Self.spawn(
        path: path, arguments: arguments, environment: environment,
        output: file ?? output.write, errors: errors.write, inherited: inherited)
      close(output.write)
      close(errors.write)
      if let file { close(file) }
      if case .closedPipe = standardOutput { return (child, CInt?.none, errors.read) }
      return (child, output.read, errors.read)
    }
    self.processIdentifier = processIdentifier
    output = Self.chunks(from: outputEnd)
    errors = Self.chunks(from: errorEnd)
  }

  /// Sends a signal.
  public func send(_ signal: CInt) {
    kill(processIdentifier, signal)
  }

  /// The first output, such as the addresses that a server prints when it is ready.
  public func firstOutput() async -> String {
    for await chunk in output { return String(decoding: chunk, as: UTF8.self) }
    return ""
  }

  /// Waits until there are `count` lines on standard output, counted from the last call.
  ///
  /// What has come stays part of the result. Returns whether they came before the process ended.
  public func waitForOutputLines(_ count: Int) async -> Bool {
    var left = count
    guard left > 0 else { return true }
    for await chunk in output {
      taken.withLock { $0 += chunk }
      left -= chunk.count { $0 == UInt8(ascii: "\n") }
      if left <= 0 { return true }
    }
    return false
  }

  /// Waits until `count` lines on standard error contain `text`, counted from the last call.
  ///
  /// Returns whether they came before the process ended.
  public func waitForErrorLines(_ count: Int, containing text: String) async -> Bool {
    var left = count
    for await chunk in errors {
      left -= take(chunk).count { $0.contains(text) }
      if left <= 0 { return true }
    }
    return false
  }

  /// Waits for the end. A cancelled test kills the process.
  public func result() async -> PosterCacheBinary.Result {
    await withTaskCancellationHandler {
      async let output = Self.all(of: output)
      for await chunk in errors { _ = take(chunk) }
      let rest = unfinishedLine.withLock { $0 }
      if !rest.isEmpty { _ = take([UInt8(ascii: "\n")]) }
      let bytes = taken.withLock { $0 } + (await output)
      let status = await exitStatus()
      return PosterCacheBinary.Result(
        status: status, standardOutput: bytes, errorLines: errorLines.withLock { $0 })
    } onCancel: {
      kill(processIdentifier, SIGKILL)
    }
  }

  // MARK: -

  /// Splits what came on standard error; returns the lines that are complete now.
  private func take(_ chunk: [UInt8]) -> [String] {
    let lines = unfinishedLine.withLock { unfinished in
      unfinished += chunk
      var parts = unfinished.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      unfinished = Array(parts.removeLast())
      return parts.map { String(decoding: $0, as: UTF8.self) }
    }
    errorLines.withLock { $0 += lines }
    return lines
  }

  private static func all(of stream: AsyncStream<[UInt8]>) async -> [UInt8] {
    var bytes: [UInt8] = []
    for await chunk in stream { bytes += chunk }
    return bytes
  }

  private func exitStatus() async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [processIdentifier] in
        var status: CInt = 0
        while waitpid(processIdentifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 256 + signal)
      }
    }
  }

  /// What can be read from `descriptor` until its end; nothing if there is none.
  private static func chunks(from descriptor: CInt?) -> AsyncStream<[UInt8]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    guard let descriptor else {
      continuation.finish()
      return stream
    }
    DispatchQueue.global().async {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 {
          continuation.yield(Array(buffer[..<count]))
        } else if count == 0 || errno != EINTR {
          break
        }
      }
      close(descriptor)
      continuation.finish()
    }
    return stream
  }

  private static func makePipe() -> (read: CInt, write: CInt) {
    var ends: [CInt] = [0, 0]
    precondition(pipe(&ends) == 0, "pipe: \(String(cString: strerror(errno)))")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func spawn(
    path: String, arguments: [String], environment: [String: String], output: CInt, errors: CInt,
    inherited: CInt?
  ) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    if let inherited { posix_spawn_file_actions_adddup2(&actions, inherited, 3) }
    // The test process may block or ignore signals; the command must find them as a shell has them.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var argumentVector = ([path] + arguments).map { strdup($0) } + [nil]
    var environmentVector = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in argumentVector + environmentVector { free(pointer) } }
    var child = pid_t()
    let status = posix_spawn(
      &child, path, &actions, &attributes, &argumentVector, &environmentVector)
    precondition(status == 0, "posix_spawn \(path): \(String(cString: strerror(status)))")
    return child
  }
}
