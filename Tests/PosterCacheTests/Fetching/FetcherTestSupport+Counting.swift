import TestSupport

@testable import PosterCache

/// What became of each of many tickets, and how often it was told.
final class TicketTable: Sendable {
  private struct State {
    var outcomes: [[Completions.Outcome]]
    var completedCount = 0
  }

  private let state: Monitor<State>

  init(_ count: Int) {
    state = Monitor(State(outcomes: Array(repeating: [], count: count)))
  }

  /// The completion of ticket `number`, which first calls `more` with the number of completions.
  func completion(
    of number: Int, _ more: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> FetchCompletion {
    { [self] outcome in
      let count = state.withLock { state in
        state.outcomes[number].append(outcome)
        state.completedCount += 1
        return state.completedCount
      }
      more(count)
      state.signal()
    }
  }

  /// Waits until every ticket has completed.
  func waitForAll() {
    state.wait(
      untilNanoseconds: { _ in nil }, for: { $0.outcomes.contains { $0.isEmpty } ? nil : () })
  }

  /// Waits until ticket `number` has completed.
  func wait(for number: Int) {
    state.wait(untilNanoseconds: { _ in nil }, for: { $0.outcomes[number].isEmpty ? nil : () })
  }

  /// All outcomes of each ticket; one, if all is right.
  var outcomes: [[Completions.Outcome]] { state.withLock { $0.outcomes } }
}

extension Fetcher {
  /// Waits until everything that was submitted before has been taken note of.
  ///
  /// - Parameter running: the address of a transfer that somebody else keeps running.
  func settle(on running: String) throws {
    let completions = Completions()
    drop(try fetch(running, into: completions))
    // Commands are carried out in the order in which they were given.
    _ = completions.wait(1)
  }

  /// Starts fetching `text` with this priority into `completions`.
  @discardableResult
  func fetch(
    _ text: String, _ priority: Priority, into completions: Completions
  ) throws -> Ticket {
    fetch(FetchRequest(try PosterAddress(text), priority: priority)) { completions.add($0) }
  }
}

extension FetchConfiguration {
  /// One connection to a host, so that the order of requests is that of the queue.
  static let oneConnection: FetchConfiguration = {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 1
    return configuration
  }()
}
