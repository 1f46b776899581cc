import FoundationEssentials
import TestSupport
import Testing

/// The example in `Examples/swift-package` is what a newcomer copies: it has to build and to run.
@Suite(.timeLimit(.minutes(10)))
struct ExampleTests {
  @Test func `the example package builds, warms three posters and finds them again`() async throws {
    let directory = TemporaryDirectory()
    // Built anew each time: SwiftPM does not notice files that are added to a package beside it. Without
    // what only editors and debuggers look at, that takes a quarter less.
    let arguments = [
      "run", "--package-path", Checkout.path("Examples/swift-package"),
      "--scratch-path", "\(directory.path)/build", "--disable-index-store", "-Xswiftc", "-gnone",
      "warm-three", "\(directory.path)/cache",
    ]
    let swift = try #require(Program.path(of: "swift"))
    let environment = ProcessInfo.processInfo.environment
    let first = await RunningCommand(
      path: swift, arguments: arguments, environment: environment
    ).result()
    #expect(first.status == 0, "\(first.errors)")
    #expect(lines(first).count { $0.hasPrefix("fetched  http://demo.test/t/p/w342/") } == 3)
    #expect(
      lines(first).suffix(4) == [
        "image/jpeg from disk", "image/jpeg from disk", "image/png from disk", "3 requests",
      ])
    let second = await RunningCommand(
      path: "\(directory.path)/build/debug/warm-three", arguments: ["\(directory.path)/cache"],
      environment: environment
    ).result()
    #expect(second.status == 0, "\(second.errors)")
    #expect(
      lines(second) == [
        "cached   http://demo.test/t/p/w342/first.jpg",
        "cached   http://demo.test/t/p/w342/second.jpg",
        "cached   http://demo.test/t/p/w342/third.png",
        "image/jpeg from disk", "image/jpeg from disk", "image/png from disk", "0 requests",
      ])
  }

  private func lines(_ result: PosterCacheBinary.Result) -> [Substring] {
    result.output.split(separator: "\n")
  }
}
