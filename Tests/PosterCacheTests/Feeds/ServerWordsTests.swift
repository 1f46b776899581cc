import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ServerWordsTests {
  @Test func `what steers a terminal or breaks a line becomes a space`() {
    #expect(
      ServerWords.oneLine("a\u{1B}[2Jb\r\nc\td\u{85}e\u{2028}f\u{202E}g\u{7F}")
        == "a [2Jb  c d e f g")
    #expect(ServerWords.oneLine("Rate limit exceeded. \n") == "Rate limit exceeded")
    #expect(ServerWords.oneLine("Ünïcode 日本語") == "Ünïcode 日本語")
    #expect(ServerWords.oneLine("") == "")
  }

  @Test func `long words are cut`() {
    let words = ServerWords.oneLine(String(repeating: "é", count: 1_000_000), longest: 5)
    #expect(words == "ééééé…")
    #expect(ServerWords.oneLine("12345", longest: 5) == "12345")
  }

  @Test func `the credential is cut out, wherever it stands`() {
    let secret = "Secret-123"
    let credential = Credential.bearerToken(secret)
    #expect(ServerWords.oneLine("bad \(secret)!", hiding: credential) == "bad …!")
    // An accent makes another character of its last letter.
    let accented = ServerWords.oneLine("\(secret)\u{301}", hiding: credential)
    #expect(!accented.contains("Secret"))
    for lead in 4080...4100 {
      let text = String(repeating: secret, count: 409).prefix(lead) + secret + secret
      let words = ServerWords.oneLine(String(text), hiding: credential, longest: 5000)
      #expect(!words.contains("Secret-1"), "\(lead)")
    }
    #expect(ServerWords.oneLine("plain", hiding: .apiKey("")) == "plain")
  }

  @Test(arguments: [
    ("", "the answer is empty"), (" \n", "the answer is empty"),
    ("\u{FEFF} <!DOCTYPE html>", "the answer is HTML or XML instead of JSON"),
    (#"{"a":1}"#, "the answer is JSON without a list"), ("[1", "the answer is broken or cut JSON"),
    ("\u{FEFF}[]", "the answer is JSON without a list"), ("hello", "the answer is no JSON"),
  ])
  func `what came instead is told`(text: String, words: String) {
    #expect(WhatCame(Data(text.utf8)).description(without: "a list") == words)
  }
}
