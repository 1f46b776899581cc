import CCurl
import Glibc
import TestSupport

@testable import PosterCache

/// Runs single transfers as the fetch thread does, with curl's own waiting: for what a fetcher does not
/// let one see or stop.
final class TransferRunner {
  let options: CurlOptions
  private let multi = curl_multi_init()!  // fails only for want of memory
  private var idle: [CurlTransfer] = []

  init(_ configuration: FetchConfiguration = FetchConfiguration()) {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    options = CurlOptions(
      configuration,
      sockets: CurlOptions.SocketCallbacks(
        open: { _, _, address in
          let address = address!.pointee  // curl never passes null
          return socket(
            address.family, address.socktype | CInt(SOCK_CLOEXEC.rawValue), address.protocol)
        },
        close: { _, socket in Glibc.close(socket) },
        // Not used, and must not be null for Swift's sake.
        context: UnsafeMutableRawPointer(bitPattern: 8)!))
  }

  deinit {
    idle = []
    curl_multi_cleanup(multi)
  }

  /// What came of transfers.
  struct Ended {
    var result: Result<FetchResponse, FetchFailure>?
    var partial: PartialBody?
    var firstByteNanoseconds: UInt64?
    var isHTTP2 = false
    var connections = 0
  }

  /// Runs `request` to its end.
  func run(_ request: FetchRequest, resuming partial: PartialBody? = nil) -> Ended {
    run([request], resuming: partial) { _ in false }[0]
  }

  /// Runs `requests` at once; each until `stops` says so of it, asked whenever something has come.
  func run(
    _ requests: [FetchRequest], resuming partial: PartialBody? = nil,
    until stops: (CurlTransfer) -> Bool
  ) -> [Ended] {
    var ended = [Ended?](repeating: nil, count: requests.count)
    let transfers = requests.enumerated().map { index, request in
      let transfer = idle.popLast() ?? CurlTransfer(options)
      transfer.id = index
      do throws(FetchFailure) {
        try transfer.prepare(request, resuming: partial)
        curl_multi_add_handle(multi, transfer.handle)
      } catch {
        ended[index] = Ended(result: .failure(error))
      }
      return transfer
    }
    while ended.contains(where: { $0 == nil }) {
      var running: CInt = 0
      curl_multi_perform(multi, &running)
      var left: CInt = 0
      while let message = curl_multi_info_read(multi, &left) {
        let code = message.pointee.data.result
        let transfer = CurlTransfer.of(message.pointee.easy_handle)
        let index = transfer.id!  // set above
        var end = Ended(
          firstByteNanoseconds: transfer.firstByteNanoseconds,
          connections: transfer.connectionCount)
        end.result = transfer.finish(code, requests[index])
        end.isHTTP2 = transfer.negotiatedHTTP2
        ended[index] = end
        curl_multi_remove_handle(multi, transfer.handle)
      }
      for (index, transfer) in transfers.enumerated() where ended[index] == nil && stops(transfer) {
        ended[index] = Ended(partial: transfer.takePartial(), connections: transfer.connectionCount)
        curl_multi_remove_handle(multi, transfer.handle)
      }
      if ended.contains(where: { $0 == nil }) { curl_multi_poll(multi, nil, 0, 1000, nil) }
    }
    for transfer in transfers { transfer.recycle() }
    idle += transfers
    return ended.compactMap { $0 }
  }
}

extension FetchRequest {
  /// A request for the picture at `text`.
  init(picture text: String) throws(PosterError) {
    self.init(try PosterAddress(text))
  }
}

extension TransferRunner.Ended {
  var response: FetchResponse? {
    if case .success(let response) = result { response } else { nil }
  }

  var failure: FetchFailure? {
    if case .failure(let failure) = result { failure } else { nil }
  }
}
