import FoundationEssentials

/// Whoever gets pictures ready before their cells are shown, as UIKit's
/// `UICollectionViewDataSourcePrefetching` has it.
///
/// Both methods are idempotent and accept any order, repeats, paths out of range and paths of items without a
/// picture. What was said last about an item counts.
public protocol PrefetchingDataSource {
  /// The items at these paths will probably be shown soon.
  func prefetchItems(at indexPaths: [IndexPath])

  /// The items at these paths will not be shown soon after all. What is visible is not touched.
  func cancelPrefetchingForItems(at indexPaths: [IndexPath])
}
