import FoundationEssentials

/// Everything that can go wrong while a poster is fetched, stored or read.
///
/// The message is one line that says what to do, where something can be done. It never holds a
/// credential: addresses appear in their redacted form (``PosterAddress/redacted``).
public struct PosterError: Error, Sendable {
  /// What kind of failure it is; what programs should look at.
  public enum Code: Sendable, Hashable {
    /// The address is no http or https address.
    case invalidAddress
    /// The server refused the credentials (401, 403 with TMDB's code 3, 7, 10 or 14).
    case unauthorized
    /// The server answered with this status, and retrying did not help.
    case status(Int)
    /// No connection, a broken one, or a name that does not resolve.
    case network
    /// The connection, the transfer or a stall took longer than allowed.
    case timedOut
    /// The server redirected to an address that is no http or https address, or from a public to a
    /// private one.
    case forbiddenRedirect
    /// A public name leads to a private address, and the configuration does not allow that.
    case forbiddenAddress
    /// The server's certificate cannot be trusted.
    case untrustedCertificate
    /// The body ended before its announced length or before the picture's end.
    case incompleteBody
    /// The body is no JPEG, PNG or WebP.
    case notAnImage
    /// The body is larger than the configured maximum.
    case bodyTooLarge
    /// The picture cannot be decoded: it is damaged, or its end is missing.
    case damagedImage
    /// Decoding the picture would take more than ``DecodingLimits`` allow.
    case imageTooLarge
    /// The picture is coded in a way that is not decoded.
    case unsupportedImage
    /// A list page is not what its source's documentation promises.
    case malformedPage
    /// The request was cancelled or the pipeline shut down.
    case cancelled
    /// Not in the cache, and the pipeline must not use the network.
    case offline
    /// The cache directory cannot be opened or created.
    case directoryUnavailable
    /// The cache directory was written by a newer version.
    case unsupportedFormat
    /// The index is damaged.
    case damagedIndex
    /// The picture was delivered but could not be stored.
    case notStored
    /// The configuration contradicts itself or is out of range.
    case invalidConfiguration
    /// The cache was opened before `fork` and is used in the child.
    case forkedProcess
    /// The system has no more descriptors or memory for what should be started.
    case resourcesExhausted
  }

  /// What kind of failure it is.
  public let code: Code
  /// One line for people.
  public let message: String
  /// The failure beneath, such as a ``SystemError``.
  public let underlying: (any Error)?
  /// For how many seconds the server's refusal holds by its own account, `nil` if it does not say.
  var statedLifetimeSeconds: Double?

  /// Creates an error; `message` is one line without a full stop.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }
}

extension PosterError: CustomStringConvertible {
  /// The message, and what lies beneath.
  public var description: String {
    underlying.map { "\(message): \($0)" } ?? message
  }
}

extension PosterError: LocalizedError {
  /// The same as ``description``, for programs that show `localizedDescription`.
  public var errorDescription: String? { description }
}
