import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct FaultTests {
  @Test(arguments: [
    ("/a=status:503", Fault("/a", .status(503))),
    ("/a=status:503#2", Fault("/a", .status(503), first: 2)),
    (
      "/3/*=status:429,Retry-After: 2,X-Note:a:b",
      Fault("/3/*", .status(429, headers: ["Retry-After": "2", "X-Note": "a:b"]))
    ),
    (
      "/a=redirect:http://127.0.0.1:1/b?c=d", Fault("/a", .redirect(to: "http://127.0.0.1:1/b?c=d"))
    ),
    ("/a=redirect:/b#1", Fault("/a", .redirect(to: "/b"), first: 1)),
    ("/a=html", Fault("/a", .wrongType)),
    ("/a=drop#3", Fault("/a", .drop, first: 3)),
    ("/a=truncate:0", Fault("/a", .truncate(afterBytes: 0))),
    ("/a=stall", Fault("/a", .stall())),
    ("/a=stall:100", Fault("/a", .stall(afterBytes: 100))),
    ("/a=close", Fault("/a", .closeWithoutLength())),
    ("/a=close:7", Fault("/a", .closeWithoutLength(afterBytes: 7))),
    ("/a=chunked", Fault("/a", .chunked())),
    ("/a=chunked:7", Fault("/a", .chunked(afterBytes: 7))),
    ("/a=other", Fault("/a", .otherPicture(1))),
    ("/a=other:3#1", Fault("/a", .otherPicture(3), first: 1)),
    ("/a=shift:5", Fault("/a", .otherRange(by: 5))),
    ("/a=shift:-5#1", Fault("/a", .otherRange(by: -5), first: 1)),
    ("/a=short:9", Fault("/a", .shortRange(bytes: 9))),
    ("/a=unsatisfiable", Fault("/a", .unsatisfiableRange)),
    ("/t/p/*=header:ETag:", Fault("/t/p/*", .header(name: "ETag", value: nil))),
    (
      "/t/p/*=header:Cache-Control: no-store, a=b",
      Fault("/t/p/*", .header(name: "Cache-Control", value: "no-store, a=b"))
    ),
  ])
  func `text in the grammar is parsed`(text: String, fault: Fault) {
    #expect(Fault(text) == fault)
  }

  @Test(arguments: [
    "", "/a", "/a=", "a=html", "/a=nonsense", "/a=status", "/a=status:", "/a=status:abc",
    "/a=status:99", "/a=status:503,", "/a=status:503,Name", "/a=status:503,Name:", "/a=redirect:",
    "/a=html:1", "/a=drop:1", "/a=truncate", "/a=truncate:-1", "/a=truncate:x", "/a=stall:",
    "/a=stall:x", "/a=close:", "/a=chunked:x", "/a=header:", "/a=header:Name", "/a=header::v",
    "/a=other:", "/a=other:x", "/a=shift", "/a=shift:0", "/a=shift:--1", "/a=shift:1-", "/a=short",
    "/a=short:0", "/a=short:-1", "/a=unsatisfiable:1",
    "/a=html#", "/a=html#0", "/a=html#x", "/a=html#-1",
  ])
  func `text outside the grammar is refused`(text: String) {
    #expect(Fault(text) == nil)
  }

  @Test func `occurrences are counted for each path, and all matching faults apply in order`() {
    var plan = FaultPlan([
      Fault("/a*", .drop, first: 2), Fault("/ab", .wrongType),
    ])
    plan.add(Fault("*", .status(500), first: 1))
    #expect(plan.requestDidArrive(for: "/ab") == [.drop, .wrongType, .status(500)])
    #expect(plan.requestDidArrive(for: "/a") == [.drop, .status(500)])
    #expect(plan.requestDidArrive(for: "/ab") == [.drop, .wrongType])
    #expect(plan.requestDidArrive(for: "/ab") == [.wrongType])
    #expect(plan.requestDidArrive(for: "/a") == [.drop])
    #expect(plan.requestDidArrive(for: "/a") == [])
    #expect(plan.requestDidArrive(for: "/b") == [.status(500)])
  }
}
