/// The programs that people would use to fetch a list of files.
struct Peers {
  /// A program, by the name of its command where it has a package.
  enum Program: String, CaseIterable {
    case curl, wget2, aria2c
    /// A curl for each file, as scripts start them.
    case xargs
    /// Foundation's `URLSession` into files, and into its `URLCache` and `NSCache`.
    case urlSession, foundation
    /// aiohttp into diskcache.
    case aiohttp

    /// What the tables call it.
    var title: String {
      switch self {
      case .curl: "curl --parallel"
      case .wget2, .aria2c: rawValue
      case .xargs: "xargs -P curl"
      case .urlSession: "URLSession"
      case .foundation: "URLSession, URLCache, NSCache"
      case .aiohttp: "aiohttp, diskcache (Python)"
      }
    }

    /// Whether it ends with a file of each poster and nothing else.
    var keepsPlainFiles: Bool { self != .foundation && self != .aiohttp }
  }

  /// A file of the addresses, one a line.
  let list: String
  let addresses: [String]
  /// The name under which each is to be stored.
  let names: [String]
  /// The sum of their bytes.
  let bytes: Int
  let target: WorkDirectory
  /// Files fetched at once; `nil` leaves it to each program.
  let connections: Int?
  /// The authorities to trust where the addresses are those of HTTPS.
  var authoritiesFile: String?
  /// The programs that no package has.
  let directory: PeerDirectory

  /// What runs `peer` into `directory`, or `nil` if it is not installed. Output, logs and anything else that
  /// is not the job are switched off.
  ///
  /// - Parameter isRerun: whether the files may be there already and are to be kept where the server says that
  ///   they have not changed: curl, wget2 and aria2c can that. aiohttp's program never asks for what it has.
  func command(
    _ peer: Program, into directory: String, isRerun: Bool = false
  ) throws(BenchError) -> Command? {
    switch peer {
    case .curl:
      let configuration = "\(target.path)/curl.conf"
      try TextFile.write(
        isRerun ? curlRerun(directory) : curlFiles(directory), to: configuration)
      var arguments = ["-q", "--no-progress-meter", "--parallel", "--config", configuration]
      if !isRerun { arguments += ["--silent", "--fail"] }
      if let connections { arguments += ["--parallel-max", "\(connections)"] }
      if let authoritiesFile { arguments += ["--cacert", authoritiesFile] }
      return Command.find("curl").map { Command($0, arguments) }
    case .wget2:
      var arguments = [
        "--no-config", "--quiet", "--no-hsts", "--no-hpkp", "--no-ocsp",
        "--directory-prefix=\(directory)", "--input-file=\(list)",
      ]
      if let connections { arguments.append("--max-threads=\(connections)") }
      if let authoritiesFile { arguments.append("--ca-certificate=\(authoritiesFile)") }
      if isRerun { arguments.append("--timestamping") }
      return Command.find("wget2").map { Command($0, arguments) }
    case .aria2c:
      var arguments = [
        "--no-conf", "--quiet", "--split=1", "--file-allocation=none",
        "--auto-file-renaming=false", "--dir=\(directory)", "--input-file=\(list)",
      ]
      if let connections { arguments.append("--max-concurrent-downloads=\(connections)") }
      if let authoritiesFile { arguments.append("--ca-certificate=\(authoritiesFile)") }
      if isRerun {
        arguments += ["--remote-time=true", "--conditional-get=true", "--allow-overwrite=true"]
      }
      return Command.find("aria2c").map { Command($0, arguments) }
    case .xargs:
      guard let xargs = Command.find("xargs"), let curl = Command.find("curl") else { return nil }
      let pairs = "\(target.path)/xargs-pairs"
      let lines = zip(addresses, names).map { "\(directory)/\($1)\n\($0)\n" }
      try TextFile.write(lines.joined(), to: pairs)
      var arguments = ["-a", pairs, "-P", "\(connections ?? 1)", "-n", "2", curl, "-q", "--silent"]
      if let authoritiesFile { arguments += ["--cacert", authoritiesFile] }
      return Command(xargs, arguments + ["--fail", "--output"])
    case .urlSession, .foundation:
      let kind = peer == .urlSession ? "files" : "cache"
      let arguments = [kind, list, directory] + (connections.map { ["\($0)"] } ?? [])
      return self.directory.find(.urlSession).map { trusting(Command($0, arguments)) }
    case .aiohttp:
      // Its own default is 100.
      let arguments = [list, directory, "\(connections ?? 100)"]
      guard
        let version = self.directory.python(.pythonWarm, ["--version"])?.firstLine(),
        version.hasPrefix("aiohttp")
      else { return nil }
      return self.directory.python(
        .pythonWarm, arguments + (authoritiesFile.map { [$0] } ?? []))
    }
  }

  /// `programs` as contestants, each into an empty directory, and those that are not installed.
  ///
  /// - Parameters:
  ///   - settles: whether to wait before each until file systems have nothing left to write.
  ///   - place: what makes a command run where it is to.
  func contestants(
    _ programs: [Program], settles: Bool = true, at place: @escaping (Command) -> Command = { $0 }
  ) throws(BenchError) -> (present: [Contestant], absent: [Absentee]) {
    var result: (present: [Contestant], absent: [Absentee]) = ([], [])
    for peer in programs {
      guard try command(peer, into: target.path) != nil else {
        result.absent.append(Absentee(name: peer.title, reason: "not installed"))
        continue
      }
      result.present.append(
        Contestant(name: peer.title, role: .rival) {
          let directory = try target.makeEmpty("warm")
          guard let command = try command(peer, into: directory) else {
            throw BenchError("\(peer.title) is no longer installed")
          }
          if settles { WorkDirectory.settle() }
          let sample = try place(command).run()
          try check(directory, peer)
          return sample
        })
    }
    return result
  }

  /// That `directory` holds all of them after `peer` has run. ``Program/aiohttp`` looks by itself, and
  /// Foundation keeps more than the bytes of a poster in its file.
  func check(_ directory: String, _ peer: Program) throws(BenchError) {
    guard peer != .aiohttp else { return }
    let contents = WorkDirectory.contents(of: directory)
    guard contents.files == names.count, !peer.keepsPlainFiles || contents.bytes == bytes else {
      throw BenchError(
        "\(peer.title): \(contents.files) files of \(contents.bytes) bytes arrived, not "
          + "\(names.count) of \(bytes)")
    }
  }

  private func curlFiles(_ directory: String) -> String {
    zip(addresses, names).map { "url = \"\($0)\"\noutput = \"\(directory)/\($1)\"\n" }.joined()
  }

  /// Options hold up to the next `next`.
  private func curlRerun(_ directory: String) -> String {
    zip(addresses, names).map { address, name in
      """
      silent
      fail
      remote-time
      time-cond = "\(directory)/\(name)"
      url = "\(address)"
      output = "\(directory)/\(name)"

      """
    }.joined(separator: "next\n")
  }

  /// `command` with ``authoritiesFile`` instead of the machine's own, which are all that Foundation trusts:
  /// in a mount namespace of its own.
  private func trusting(_ command: Command) -> Command {
    guard let authoritiesFile else { return command }
    let script = """
      mount --bind "$1" /etc/ssl/certs/ca-certificates.crt && shift && exec "$@"
      """
    return Command(
      "/usr/bin/unshare",
      ["--mount", "/bin/sh", "-c", script, "sh", authoritiesFile, command.program]
        + command.arguments)
  }
}
