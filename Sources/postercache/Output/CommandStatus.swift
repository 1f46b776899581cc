import PosterCache

/// How the command ends: the statuses of its contract.
enum CommandStatus: Int32, Sendable {
  case success = 0
  /// Some items failed, or could not be stored.
  case failure = 1
  case usage = 2
  case refused = 3
  case originDown = 4
  case cacheUnavailable = 5
  /// Ended by a signal; the process' status is 128 and its number.
  case interrupted = 128

  /// The status of a command that `error` ended.
  init(_ error: PosterError) {
    switch error.code {
    case .invalidAddress, .invalidConfiguration: self = .usage
    case .unauthorized: self = .refused
    case .directoryUnavailable, .unsupportedFormat, .damagedIndex: self = .cacheUnavailable
    case _ where error.isOutage: self = .originDown
    default: self = .failure
    }
  }
}

extension PosterError {
  /// Whether nothing could be had from the origin at all: it cannot be reached, or not trusted, or
  /// is itself in trouble.
  var isOutage: Bool {
    switch code {
    case .network, .timedOut, .untrustedCertificate, .offline: true
    case .status(let status): (500...599).contains(status)
    default: false
    }
  }
}
