/**
 * Returns the first index from `from` to below `to` at which the condition holds; `to` if it holds at no index.
 * The condition holds at every index after one at which it holds. Takes logarithmic time.
 */
export function firstIndex(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the index of a value in an ascending list; -1 if it is absent. */
export function sortedIndexOf<T extends number | bigint>(
  sorted: { readonly length: number; readonly [i: number]: T },
  value: T,
): number {
  const index = firstIndex(0, sorted.length, (i) => sorted[i]! >= value);
  return sorted[index] === value ? index : -1;
}
