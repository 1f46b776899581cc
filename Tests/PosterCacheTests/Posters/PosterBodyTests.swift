import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PosterBodyTests {
  @Test(arguments: [0, 1, 108, 8 << 20, (8 << 20) + 1, 1 << 40, Int.max])
  func `no more is allocated than came, whatever was announced`(announced: Int) {
    var builder = PosterBody.Builder(announced: announced)
    #expect(builder.capacity == min(announced, 8 << 20))
    let piece = [UInt8](0...255)
    piece.withUnsafeBytes { builder.append($0) }
    #expect(builder.capacity <= 8 << 20)
    #expect(builder.finish().bytes == piece)
  }

  @Test(arguments: [0, 9 << 20, 10 << 20, (10 << 20) + 1, 100 << 20])
  func `a body that arrives in pieces is what was sent`(announced: Int) {
    let size = 10 << 20
    var builder = PosterBody.Builder(announced: announced)
    var sent: [UInt8] = []
    while sent.count < size {
      let count = min(130_001, size - sent.count)
      let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: sent.count / 7), count: count)
      piece.withUnsafeBytes { builder.append($0) }
      sent += piece
      #expect(builder.capacity <= max(2 * sent.count, 8 << 20))
    }
    if announced == size { #expect(builder.capacity == size) }
    let body = builder.finish()
    #expect(body.count == size)
    #expect(body.bytes == sent)
  }
}
