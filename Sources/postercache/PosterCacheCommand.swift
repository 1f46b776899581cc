@main
enum PosterCacheCommand {
  static func main() {
    print("postercache 0.1.0")
  }
}
