// A document that is small and makes a careless reader take gigabytes or minutes.

/** One bomb: the name decides the type, as in a URL. */
export interface Bomb {
  readonly name: string;
  readonly what: string;
  /** The content, or what makes it when it is needed. */
  readonly body: Uint8Array | (() => Uint8Array);
}

/** Encodes a bomb's text in Latin-1. */
export function latin1Bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** Returns a function that makes a value when it is first called, and keeps it. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Joins pieces of text (Latin-1) and bytes. */
export function joined(...pieces: readonly (string | Uint8Array)[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece))),
  );
}
