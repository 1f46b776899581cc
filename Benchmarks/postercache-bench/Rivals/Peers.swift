/// The programs that people would use to fetch a list of files.
struct Peers {
  /// A program, by the name of its command.
  enum Program: String, CaseIterable {
    case curl, wget2, aria2c

    /// What the tables call it.
    var title: String { self == .curl ? "curl --parallel" : rawValue }
  }

  /// A file of the addresses, one a line.
  let list: String
  let addresses: [String]
  /// The name under which each is to be stored.
  let names: [String]
  let target: WorkDirectory
  /// Files fetched at once; `nil` leaves it to each program.
  let connections: Int?
  /// The authorities to trust where the addresses are those of HTTPS.
  var authoritiesFile: String?

  /// What runs `peer`, and the new, empty directory it will store into. Output, logs and anything
  /// else that is not the job are switched off.
  func command(
    _ peer: Program, _ path: String
  ) throws(BenchError) -> (command: Command, directory: String) {
    let directory = try target.makeEmpty("warm")
    var arguments: [String]
    switch peer {
    case .curl:
      let configuration = "\(target.path)/curl.conf"
      let lines = zip(addresses, names).map { address, name in
        "url = \"\(address)\"\noutput = \"\(directory)/\(name)\"\n"
      }
      try TextFile.write(lines.joined(), to: configuration)
      arguments = [
        "-q", "--silent", "--no-progress-meter", "--fail", "--parallel", "--config", configuration,
      ]
      if let connections { arguments += ["--parallel-max", "\(connections)"] }
      if let authoritiesFile { arguments += ["--cacert", authoritiesFile] }
    case .wget2:
      arguments = [
        "--no-config", "--quiet", "--no-hsts", "--no-hpkp", "--no-ocsp",
        "--directory-prefix=\(directory)", "--input-file=\(list)",
      ]
      if let connections { arguments.append("--max-threads=\(connections)") }
      if let authoritiesFile { arguments.append("--ca-certificate=\(authoritiesFile)") }
    case .aria2c:
      arguments = [
        "--no-conf", "--quiet", "--split=1", "--file-allocation=none",
        "--auto-file-renaming=false", "--dir=\(directory)", "--input-file=\(list)",
      ]
      if let connections { arguments.append("--max-concurrent-downloads=\(connections)") }
      if let authoritiesFile { arguments.append("--ca-certificate=\(authoritiesFile)") }
    }
    return (Command(path, arguments), directory)
  }
}
