// The attribute `srcset`: a list of images with widths or densities (HTML, "parse a srcset attribute").

/**
 * Calls back with the URL of each candidate. A comma within a URL belongs to it, one at its end separates
 * candidates.
 */
export function scanSrcset(text: string, add: (reference: string) => void): void {
  const url = /[\s,]*([^\s]+)/y;
  // Descriptors, with commas in parentheses, up to the next candidate; a parenthesis that stays open encloses
  // the rest.
  const descriptors = /(?:\([^)]*(?:\)|$)|[^,(])*/y;
  for (let at = 0; at < text.length; ) {
    url.lastIndex = at;
    const found = url.exec(text)?.[1];
    if (found === undefined) return;
    at = url.lastIndex;
    const bare = found.replace(/,+$/, '');
    if (bare !== '') add(bare);
    if (bare.length < found.length) continue;
    descriptors.lastIndex = at;
    descriptors.exec(text);
    at = descriptors.lastIndex + 1;
  }
}
