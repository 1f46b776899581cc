// Fetches a list of files as a program that uses Foundation would: urlsession LIST DIRECTORY [CONNECTIONS].
//
// LIST has an address a line; each file gets the last part of its address as its name. All tasks are
// made at once, as `URLSession` queues them itself. Without a number, it opens as many connections as
// it does by default. For certificates, set URLSessionCertificateAuthorityInfoFile, as Foundation has it.
import Foundation
import FoundationNetworking

let arguments = CommandLine.arguments
let configuration = URLSessionConfiguration.default
configuration.urlCache = nil
if arguments.count > 3, let connections = Int(arguments[3]) {
  configuration.httpMaximumConnectionsPerHost = connections
}
let session = URLSession(configuration: configuration)
let directory = URL(fileURLWithPath: arguments[2], isDirectory: true)
let addresses = try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n")
let group = DispatchGroup()
for text in addresses {
  guard let address = URL(string: String(text)) else { fatalError("no address: \(text)") }
  group.enter()
  session.dataTask(with: address) { data, response, error in
    guard let data, (response as? HTTPURLResponse)?.statusCode == 200 else {
      fatalError("\(address): \(error.map { "\($0)" } ?? "no data")")
    }
    do {
      try data.write(to: directory.appendingPathComponent(address.lastPathComponent))
    } catch {
      fatalError("\(error)")
    }
    group.leave()
  }.resume()
}
group.wait()
