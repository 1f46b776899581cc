import FoundationEssentials
import Glibc

/// What was counted of a program's phases: the program runs once under each instrument.
struct CountedProgram {
  /// What counts besides the library, which is loaded into the program for allocations, copies and connections,
  /// and the kernel, for bytes written.
  enum Instrument: CaseIterable {
    /// By `strace`.
    case systemCalls
    /// By callgrind.
    case instructions
  }

  /// Something that is counted of each phase.
  enum Count {
    case allocations, largeAllocations, allocatedBytes, copiedBytes, connections, systemCalls
    /// Of all threads, always.
    case instructions, writtenBytes
    case call([String])
  }

  /// What could not be counted, and why.
  private(set) var absent: [Absentee] = []

  private var phases: [CountedPhases.Phase] = []
  private var calls: SystemCalls?
  private var instructions: [Double]?

  /// Counts the program that `arguments` make of `program`.
  ///
  /// - Parameters:
  ///   - program: this one, or another copy of it.
  ///   - directory: an empty one.
  ///   - arguments: called for each run with an empty directory that the program may fill.
  init(
    _ program: String = BenchOptions.ownPath, instruments: [Instrument] = Instrument.allCases,
    directory: String, arguments: (String) -> [String]
  ) throws {
    func empty(_ name: String) throws(BenchError) -> String {
      let path = "\(directory)/\(name)"
      guard mkdir(path, 0o755) == 0 else { throw BenchError(call: "mkdir", path) }
      return path
    }
    // Hash tables are the same in every run.
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    defer { unsetenv("SWIFT_DETERMINISTIC_HASHING") }
    var plain = Command(program, arguments(try empty("plain")))
    if let library = CountingLibrary.path(beside: program) {
      plain = Command(
        "/usr/bin/env", ["LD_PRELOAD=\(library)", plain.program] + plain.arguments)
    } else {
      absent.append(Absentee(name: "allocations and copies", reason: "libCounting.so not built"))
    }
    phases = try JSONDecoder().decode(
      [CountedPhases.Phase].self, from: Data(try plain.output()))
    if instruments.contains(.systemCalls) {
      calls = try SystemCalls(
        of: program, arguments(try empty("calls")), log: "\(directory)/strace")
      if calls == nil { absent.append(Absentee(name: "system calls", reason: "no strace")) }
    }
    if instruments.contains(.instructions) {
      instructions = try Instructions(
        of: program, arguments(try empty("instructions")), directory: try empty("callgrind"))?
        .phases
      if instructions == nil {
        absent.append(Absentee(name: "instructions", reason: "no valgrind"))
      }
      if let instructions, instructions.count != phases.count {
        throw BenchError("callgrind saw \(instructions.count) phases of \(phases.count)")
      }
    }
  }

  /// The phases, in order.
  var names: [String] { phases.map(\.name) }

  /// What a whole phase came to; `nil` where it was not counted.
  ///
  /// - Parameter ownThread: what the thread did that did the phase's work, and no other.
  func total(_ count: Count, _ name: String, ownThread: Bool = false) -> Double? {
    guard let place = phases.firstIndex(where: { $0.name == name }) else { return nil }
    let memory = ownThread ? phases[place].ownMemory : phases[place].memory
    return switch count {
    case .allocations: memory.map { Double($0.allocations) }
    case .largeAllocations: memory.map { Double($0.largeAllocations) }
    case .allocatedBytes: memory.map { Double($0.allocatedBytes) }
    case .copiedBytes: memory.map { Double($0.copiedBytes) }
    case .connections: memory.map { Double($0.connections) }
    case .systemCalls: calls?.total(name, ownThread: ownThread)
    case .instructions: instructions?[place]
    case .writtenBytes: Double(phases[place].writtenBytes)
    case .call(let names):
      calls.map { calls in names.reduce(0) { $0 + calls.count($1, name) } }
    }
  }

  /// What one operation of a phase came to.
  func each(_ count: Count, _ name: String, ownThread: Bool = false) -> Double? {
    guard let phase = phases.first(where: { $0.name == name }), phase.operations > 0 else {
      return nil
    }
    return total(count, name, ownThread: ownThread).map { $0 / Double(phase.operations) }
  }

  /// What one operation more came to, by two phases of which the second does more of them: what each phase
  /// does once cancels out.
  func further(_ count: Count, _ few: String, _ many: String) -> Double? {
    guard let first = phases.first(where: { $0.name == few }),
      let second = phases.first(where: { $0.name == many }), second.operations > first.operations,
      let less = total(count, few), let more = total(count, many)
    else { return nil }
    return (more - less) / Double(second.operations - first.operations)
  }
}
