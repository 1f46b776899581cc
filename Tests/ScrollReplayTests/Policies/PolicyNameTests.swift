import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PolicyNameTests {
  @Test(arguments: ["adaptive", "none", "fixed:0", "fixed:12", "screens:2.5,1.5", "screens:1,0"])
  func `a policy is written as it is read`(text: String) throws {
    #expect("\(try PolicyName(text))" == text)
  }

  @Test func `numbers are read as they are meant`() throws {
    #expect(try PolicyName("fixed:12") == .lookAhead(.items(12)))
    #expect(try PolicyName("screens:2.0,1.50") == .lookAhead(.screens(lead: 2, trail: 1.5)))
    #expect(try PolicyName("none") == .lookAhead(.none))
    #expect(try PolicyName("adaptive") == .adaptive)
  }

  @Test(arguments: [
    "", "best", "fixed", "fixed:", "fixed:-1", "fixed:1001", "fixed:1.5", "screens:2.5",
    "screens:1,2,3", "screens:nan,1", "screens:-1,1", "screens:21,1", "adaptive:3", "none:",
  ])
  func `what is no policy is refused in one line`(text: String) {
    let error = #expect(throws: PosterError.self) { try PolicyName(text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("\n") == false)
  }
}
