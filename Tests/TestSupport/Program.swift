import FoundationEssentials
import Glibc

/// Programs of this machine.
public enum Program {
  /// Where the shell would find `name`, or `nil`.
  public static func path(of name: String) -> String? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }
}
