// Fetches a list of files as a program that uses Foundation would.
//
//     urlsession files LIST DIRECTORY [CONNECTIONS]   each into a file named after its address' last part
//     urlsession cache LIST DIRECTORY [CONNECTIONS]   each into a URLCache on the disk and an NSCache
//
// LIST has an address a line. All tasks are made at once, as `URLSession` queues them itself. Without a
// number, it opens as many connections as it does by default. URLSession on Linux has not put these answers
// into its configuration's cache by itself, so the program does.
import Foundation
import FoundationNetworking

/// Ends the program with a word on why.
func fail(_ reason: String) -> Never {
  FileHandle.standardError.write(Data("urlsession: \(reason)\n".utf8))
  exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count > 3, ["files", "cache"].contains(arguments[1]) else {
  fail("usage: urlsession files|cache LIST DIRECTORY [CONNECTIONS]")
}
let directory = URL(fileURLWithPath: arguments[3], isDirectory: true)
// No memory: that is what NSCache is for.
let cache =
  arguments[1] == "cache"
  ? URLCache(memoryCapacity: 0, diskCapacity: 1 << 30, diskPath: directory.path) : nil
let configuration = URLSessionConfiguration.default
configuration.urlCache = nil
if arguments.count > 4, let connections = Int(arguments[4]) {
  configuration.httpMaximumConnectionsPerHost = connections
}
let session = URLSession(configuration: configuration)
let memory = NSCache<NSString, NSData>()
memory.totalCostLimit = 64 << 20
let addresses = try String(contentsOfFile: arguments[2], encoding: .utf8).split(separator: "\n")
let group = DispatchGroup()
for text in addresses {
  guard let address = URL(string: String(text)) else { fail("no address: \(text)") }
  group.enter()
  session.dataTask(with: address) { data, response, error in
    guard let data, (response as? HTTPURLResponse)?.statusCode == 200 else {
      fail("\(address): \(error.map { "\($0)" } ?? "no data")")
    }
    if let cache, let response {
      cache.storeCachedResponse(
        CachedURLResponse(response: response, data: data), for: URLRequest(url: address))
      memory.setObject(
        NSData(data: data), forKey: NSString(string: address.absoluteString), cost: data.count)
    } else {
      do {
        try data.write(to: directory.appendingPathComponent(address.lastPathComponent))
      } catch {
        fail("\(error)")
      }
    }
    group.leave()
  }.resume()
}
group.wait()
