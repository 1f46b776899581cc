import FoundationEssentials

/// A certificate for `localhost` and 127.0.0.1 that signs itself, made anew for every test: to be
/// trusted, a client is told of its file.
public struct TestCertificate: Sendable {
  /// The certificate, in PEM.
  public let path: String
  /// Its key, in PEM.
  public let keyPath: String

  /// Makes one in `directory`.
  ///
  /// - Parameter names: whom it names.
  public init(directory: String, names: String = "DNS:localhost,IP:127.0.0.1") async throws {
    path = "\(directory)/certificate.pem"
    keyPath = "\(directory)/key.pem"
    guard let openssl = Program.path(of: "openssl") else { throw Missing(program: "openssl") }
    let command = RunningCommand(
      path: openssl,
      arguments: [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", keyPath, "-out", path, "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=\(names)",
      ], environment: [:])
    let result = await command.result()
    guard result.status == 0 else { throw Missing(program: "openssl: \(result.errors)") }
  }

  /// What the machine lacks.
  public struct Missing: Error {
    /// Its name.
    public let program: String
  }
}
