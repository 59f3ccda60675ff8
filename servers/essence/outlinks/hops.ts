// The kinds of references of a document.

/** CRAWL-2.2: `L` link, `E` embedded, `R` redirect by the page itself, `X` speculative: probably a URL. */
export type OutlinkHop = 'L' | 'E' | 'R' | 'X';

/** Receives the references of a document, as written. */
export type ReferenceSink = (reference: string, hop: OutlinkHop) => void;
