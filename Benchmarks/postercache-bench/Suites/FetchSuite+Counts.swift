import Glibc

/// What a transfer costs in allocations, copies and system calls.
extension FetchSuite {
  /// The connections of the programs that are counted.
  private static let connections = 16

  /// Counts of whole programs that fetch the list's first third and all of it: the difference is what
  /// further transfers cost.
  func counts(_ http: HTTP, _ addresses: [String], authorities: String?) throws -> FigureTable {
    let list = "\(context.disk.path)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    let few = addresses.count / 3
    let transfers = Double(addresses.count - few)
    let bytes = context.corpus.sizes.dropFirst(few).reduce(0, +)
    var columns: [[Double?]] = []
    for work in ["fetch", "loop"] {
      func arguments(_ count: Int) -> [String] {
        ContestantProgram.arguments(
          work,
          [
            ("--list", list), ("--connections", "\(Self.connections)"), ("--count", "\(count)"),
          ] + (authorities.map { [("--authorities", $0)] } ?? []))
      }
      let (first, all) = (
        try counted(arguments(few)), try counted(arguments(addresses.count))
      )
      let (firstCalls, allCalls) = (
        try calls(arguments(few)), try calls(arguments(addresses.count))
      )
      func difference(_ name: String) -> Double? {
        guard let few = first[name], let many = all[name] else { return nil }
        return many - few
      }
      func callDifference(_ read: (SystemCalls) -> Double) -> Double? {
        guard let firstCalls, let allCalls else { return nil }
        return (read(allCalls) - read(firstCalls)) / transfers
      }
      columns.append([
        difference("allocations").map { $0 / transfers },
        difference("large-allocations").map { $0 / transfers },
        difference("allocated-bytes").map { $0 / transfers },
        difference("copied-bytes").map { $0 / Double(bytes) },
        callDifference { $0.total("fetch") },
        callDifference { $0.count("recvfrom", "fetch") + $0.count("read", "fetch") },
        callDifference { $0.count("sendto", "fetch") + $0.count("write", "fetch") },
        callDifference { $0.count("epoll_wait", "fetch") + $0.count("poll", "fetch") },
        callDifference { $0.count("futex", "fetch") },
      ])
    }
    let names = [
      "allocations a transfer", "of which of 8 KiB or more", "bytes allocated a transfer",
      "bytes copied for each byte of a body", "system calls a transfer", "of which receiving",
      "of which sending", "of which waiting", "besides: futex",
    ]
    return FigureTable(
      title: "\(http.title): what a transfer takes",
      conditions: """
        \(Self.connections) at once. Whole programs are counted while they fetch \(few) posters and \
        \(addresses.count), and the difference divided by the number of transfers that are more. \
        Allocations and copies (of 1 KiB and more) by a library that stands in front of `malloc`, \
        `memcpy` and their kind; system calls by `strace`, under which programs are slow, so that more \
        waits for them when they look.
        """,
      columns: ["Fetcher", "bare libcurl loop"],
      rows: names.enumerated().map { place, name in
        FigureTable.Row(name: name, values: columns.map { $0[place] })
      },
      demands: [
        FigureTable.Demand(
          text: "one allocation for each body",
          value: columns[0][1].flatMap { ours in columns[1][1].map { ours - $0 } }, bound: 1.05),
        FigureTable.Demand(
          text: "one copy of each body beside the bare loop's",
          value: columns[0][3].flatMap { ours in columns[1][3].map { ours - $0 } }, bound: 1.05),
      ])
  }

  /// What the counting library says of the program; nothing where there is no such library.
  private func counted(_ arguments: [String]) throws(BenchError) -> [String: Double] {
    guard let library = CountingLibrary.path else { return [:] }
    let file = "\(context.disk.path)/counts"
    unlink(file)
    _ = try Command(
      "/usr/bin/env",
      ["LD_PRELOAD=\(library)", "POSTERCACHE_COUNTS=\(file)", BenchOptions.ownPath] + arguments
    ).run()
    var counts: [String: Double] = [:]
    for line in try TextFile.lines(file) {
      let parts = line.split(separator: " ")
      if parts.count == 2 { counts[String(parts[0])] = Double(parts[1]) }
    }
    return counts
  }

  private func calls(_ arguments: [String]) throws(BenchError) -> SystemCalls? {
    try SystemCalls(of: arguments, log: "\(context.disk.path)/strace")
  }
}
