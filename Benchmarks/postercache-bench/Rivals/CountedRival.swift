import Glibc

/// A program of somebody else that fetches a list, counted as a whole: by the counting library, loaded into it,
/// and by `strace`.
struct CountedRival {
  enum Kind: String, CaseIterable {
    case curl, wget2, aria2c

    var title: String { self == .curl ? "curl --parallel" : rawValue }
  }

  let kind: Kind
  /// What was counted of few posters, and of many.
  private var memory: [[String: Double]] = []
  private var calls: [Double?] = []

  /// Counts it; `nil` where the program or the library is not there.
  ///
  /// - Parameters:
  ///   - posters: addresses, and the names of files.
  ///   - directory: one without anything of the program's name.
  init?(
    _ kind: Kind, _ posters: [(address: String, name: String)], _ directory: String
  ) throws(BenchError) {
    guard let program = Command.find(kind.rawValue),
      let library = CountingLibrary.path(beside: BenchOptions.ownPath)
    else { return nil }
    self.kind = kind
    for count in [CountedWork.fewTransfers, CountedWork.manyTransfers] {
      let list = "\(directory)/\(kind.rawValue)-\(count)"
      let posters = posters.prefix(count)
      let files = ["counted", "traced"].map { "\(list)-\($0)" }
      for path in files where mkdir(path, 0o755) != 0 { throw BenchError(call: "mkdir", path) }
      let counts = "\(list)-counts"
      let arguments = try Self.arguments(kind, posters, list: list, to: files[0])
      _ = try Command(
        "/usr/bin/env",
        ["LD_PRELOAD=\(library)", "POSTERCACHE_COUNTS=\(counts)", program] + arguments
      ).run()
      var values: [String: Double] = [:]
      for line in try TextFile.lines(counts) {
        let parts = line.split(separator: " ")
        if parts.count == 2 { values[String(parts[0])] = Double(parts[1]) }
      }
      memory.append(values)
      calls.append(
        try SystemCalls(
          of: program, try Self.arguments(kind, posters, list: list, to: files[1]),
          log: "\(list)-strace", first: "all")?.total("all"))
    }
  }

  /// Connections that it opened for many posters; `nil` where it opens them by another way than `connect`, as
  /// wget2 does.
  var connections: Double? { memory[1]["connections"].flatMap { $0 > 0 ? $0 : nil } }

  /// What one poster more came to.
  func further(_ count: CountedProgram.Count) -> Double? {
    func both(_ name: String) -> (Double?, Double?) { (memory[0][name], memory[1][name]) }
    let (few, many) =
      switch count {
      case .systemCalls: (calls[0], calls[1])
      case .allocations: both("allocations")
      case .largeAllocations: both("large-allocations")
      case .allocatedBytes: both("allocated-bytes")
      case .copiedBytes: both("copied-bytes")
      case .connections: both("connections")
      case .call, .writtenBytes, .instructions: (Double?.none, Double?.none)
      }
    guard let few, let many else { return nil }
    return (many - few) / Double(CountedWork.manyTransfers - CountedWork.fewTransfers)
  }

  /// As many files at once as connections of ours; nothing that is not the job.
  private static func arguments(
    _ kind: Kind, _ posters: some Collection<(address: String, name: String)>, list: String,
    to directory: String
  ) throws(BenchError) -> [String] {
    let connections = CountedWork.connections
    switch kind {
    case .curl:
      let lines = posters.map { "url = \"\($0.address)\"\noutput = \"\(directory)/\($0.name)\"\n" }
      try TextFile.write(lines.joined(), to: list)
      return [
        "-q", "--silent", "--no-progress-meter", "--fail", "--parallel", "--parallel-max",
        "\(connections)", "--config", list,
      ]
    case .wget2:
      try TextFile.write(posters.map { "\($0.address)\n" }.joined(), to: list)
      return [
        "--no-config", "--quiet", "--no-hsts", "--no-hpkp", "--no-ocsp",
        "--max-threads=\(connections)", "--directory-prefix=\(directory)", "--input-file=\(list)",
      ]
    case .aria2c:
      try TextFile.write(posters.map { "\($0.address)\n" }.joined(), to: list)
      return [
        "--no-conf", "--quiet", "--split=1", "--file-allocation=none",
        "--max-concurrent-downloads=\(connections)", "--dir=\(directory)", "--input-file=\(list)",
      ]
    }
  }
}
