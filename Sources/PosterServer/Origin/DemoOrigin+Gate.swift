extension DemoOrigin {
  /// Holds the answers for some paths until it is released; made by
  /// ``DemoOrigin/hold(_:afterBytes:)``. All methods may be called on any thread.
  public struct Gate: Sendable {
    private let id: WaitTable.GateID
    private let pattern: PathPattern
    private let requestsBefore: Int
    private let traffic: OriginTraffic

    init(
      id: WaitTable.GateID, pattern: PathPattern, requestsBefore: Int, traffic: OriginTraffic
    ) {
      self.id = id
      self.pattern = pattern
      self.requestsBefore = requestsBefore
      self.traffic = traffic
    }

    /// Returns once `count` requests have arrived for the gate's paths since it was made; also if
    /// the task is cancelled or the origin shut down.
    public func waitForRequests(_ count: Int) async {
      await traffic.waitForRequests(requestsBefore + count, of: pattern)
    }

    /// Lets all held answers go, and all later ones pass. Calling it again does nothing.
    public func release() {
      traffic.openGate(id)
    }
  }
}
