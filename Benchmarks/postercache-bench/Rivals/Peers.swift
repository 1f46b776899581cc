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
  let connections: Int

  /// What runs `peer`, and the new, empty directory it will store into. Output, logs and anything
  /// else that is not the job are switched off.
  func command(
    _ peer: Program, _ path: String
  ) throws(BenchError) -> (command: Command, directory: String) {
    let directory = try target.makeEmpty("warm")
    let arguments: [String]
    switch peer {
    case .curl:
      let configuration = "\(target.path)/curl.conf"
      let lines = zip(addresses, names).map { address, name in
        "url = \"\(address)\"\noutput = \"\(directory)/\(name)\"\n"
      }
      try TextFile.write(lines.joined(), to: configuration)
      arguments = [
        "-q", "--silent", "--no-progress-meter", "--fail", "--parallel", "--parallel-max",
        "\(connections)",
        "--config", configuration,
      ]
    case .wget2:
      arguments = [
        "--no-config", "--quiet", "--no-hsts", "--no-hpkp", "--no-ocsp",
        "--max-threads=\(connections)", "--directory-prefix=\(directory)", "--input-file=\(list)",
      ]
    case .aria2c:
      arguments = [
        "--no-conf", "--quiet", "--max-concurrent-downloads=\(connections)", "--split=1",
        "--file-allocation=none", "--auto-file-renaming=false", "--dir=\(directory)",
        "--input-file=\(list)",
      ]
    }
    return (Command(path, arguments), directory)
  }
}
