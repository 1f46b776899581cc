import Glibc

/// What the descriptors are that this process has open, by number.
public func openDescriptors() -> [CInt: String] {
  var descriptors: [CInt: String] = [:]
  var buffer = [CChar](repeating: 0, count: 256)
  for number in 0..<4096 as Range<CInt> where fcntl(number, F_GETFD) != -1 {
    let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
    descriptors[number] = String(
      decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
  return descriptors
}
