import PosterCache

/// A request on its way to its answer: held by a gate, delayed, spoilt by faults, sent.
///
/// Used only in the server's callbacks for its connection, one after the other.
final class DemoExchange {
  private let request: HTTPServer.Request
  private let site: DemoSite
  private let traffic: OriginTraffic
  private let arrival: OriginTraffic.Arrival
  /// When its answer may begin, in monotonic nanoseconds.
  private let due: UInt64
  private var hasMetGate = false
  private var hasMetLatency = false

  /// - Parameter latencyNanoseconds: charged once more where the connection is new.
  init(
    _ request: HTTPServer.Request, site: DemoSite, traffic: OriginTraffic,
    latencyNanoseconds: UInt64
  ) {
    self.request = request
    self.site = site
    self.traffic = traffic
    let roundTrips: UInt64 = request.isFirstOnConnection ? 2 : 1
    due = monotonicNanoseconds() + latencyNanoseconds * roundTrips
    arrival = traffic.requestDidArrive(for: request.path, on: request.connectionNumber)
  }

  /// Takes the next step; see ``HTTPServer/Step``. Each thing is waited for at most once: the
  /// server does not call while the connection is suspended.
  func step() -> Bool {
    let connection = request.connection
    if !hasMetGate {
      hasMetGate = true
      if let gate = arrival.gate, gate.afterBytes == nil,
        traffic.suspend(connection, until: .gate(gate.id))
      {
        return true
      }
    }
    if !hasMetLatency {
      hasMetLatency = true
      if traffic.suspend(connection, until: .time(due)) { return true }
    }
    guard !traffic.hasEnded else { return false }
    return answer()
  }

  private func answer() -> Bool {
    let fault = arrival.faults.first { kind in
      if case .header = kind { false } else { true }
    }
    switch fault {
    case .drop: return false
    case .stall(afterBytes: nil): return traffic.suspend(request.connection, until: .end)
    default: break
    }
    var answer = wholeAnswer(fault)
    for case .header(let name, let value) in arrival.faults { answer.setHeader(name, to: value) }
    return send(spoiling(answer.satisfying(request.connection.header), fault), fault)
  }

  /// `answer`, if it is a part of a body, as a fault of ranges makes it.
  private func spoiling(_ answer: Answer, _ fault: Fault.Kind?) -> Answer {
    guard answer.status == 206 else { return answer }
    let part = answer.range
    switch fault {
    case .otherRange(let distance):
      let start = min(max(part.lowerBound + distance, 0), answer.body.count - 1)
      return answer.partial(start..<max(part.upperBound, start + 1))
    case .shortRange(let count):
      return answer.partial(part.lowerBound..<min(part.upperBound, part.lowerBound + count))
    case .unsatisfiableRange: return answer.unsatisfiable()
    default: return answer
    }
  }

  private func wholeAnswer(_ fault: Fault.Kind?) -> Answer {
    switch fault {
    case .status(let status, let headers):
      var answer = DemoErrors.answer(status, path: request.path)
      for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
        answer.setHeader(name, to: value)
      }
      return answer
    case .redirect(let address, let status):
      var answer = Answer.text(status, "This has moved.")
      answer.headers.append(("Location", address))
      return answer
    case .wrongType:
      return .html("<!doctype html><title>Sign in</title><p>Please sign in first.</p>")
    case .otherPicture(let number): return siteAnswer(otherPicture: number)
    default: return siteAnswer(otherPicture: nil)
    }
  }

  private func siteAnswer(otherPicture: Int?) -> Answer {
    site.answer(
      DemoSite.Query(
        method: request.method, path: request.path, otherPicture: otherPicture,
        parameter: request.connection.query, header: request.connection.header))
  }

  private func send(_ answer: Answer, _ fault: Fault.Kind?) -> Bool {
    var framing = HTTPConnection.Framing.length(answer.range.count)
    var cut: BodyStream.Cut?
    switch fault {
    case .truncate(let count): cut = .init(afterBytes: count, ending: .fail)
    case .stall(let count?): cut = .init(afterBytes: count, ending: .stall)
    case .closeWithoutLength(let count):
      framing = .close
      cut = count.map { .init(afterBytes: $0, ending: .fail) }
    case .chunked(let count):
      framing = .chunked
      cut = count.map { .init(afterBytes: $0, ending: .fail) }
    default: break
    }
    let gate = arrival.gate.flatMap { gate in gate.afterBytes.map { (gate.id, $0) } }
    var isPlain = cut == nil && gate == nil && traffic.quantum == nil
    if case .length = framing {} else { isPlain = false }
    if isPlain || request.method == "HEAD" || answer.range.isEmpty {
      return request.connection.answer(
        status: answer.status, headers: answer.headers, body: answer.body, range: answer.range)
    }
    let stream = BodyStream(
      answer.body, range: answer.range, cut: cut, gate: gate, connection: request.connection,
      traffic: traffic)
    return request.connection.answer(
      status: answer.status, headers: answer.headers, framing: framing,
      blockSize: min(answer.range.count, 64 * 1024), reader: stream.read)
  }
}
