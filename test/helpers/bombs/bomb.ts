// A document that is small and makes a careless reader take gigabytes or minutes.

/** One bomb: the name decides the type, as in a URL. */
export interface Bomb {
  readonly name: string;
  readonly what: string;
  /** The content, or what makes it when it is needed. */
  readonly body: Uint8Array | (() => Uint8Array);
}

/** A text, which is Latin-1, or bytes, or both in a row. */
type Content = string | Uint8Array | readonly (string | Uint8Array)[];

/** Bombs, each with a key of the form `NAME: WHAT`. */
export type Bombs = Readonly<Record<string, Content | (() => Content)>>;

/** Returns the bombs of a table in its order. */
export function bombsOf(table: Bombs): Bomb[] {
  return Object.entries(table).map(([key, content]) => {
    const [name = ''] = key.split(': ', 1);
    const body = typeof content === 'function' ? () => bytesOf(content()) : bytesOf(content);
    return { name, what: key.slice(name.length + 2), body };
  });
}

function bytesOf(content: Content): Uint8Array {
  return typeof content === 'string' || content instanceof Uint8Array ? joined(content) : joined(...content);
}

/** Repeats a text that depends on the index. */
export function series(count: number, text: (i: number) => string, separator = ''): string {
  return Array.from({ length: count }, (_, i) => text(i)).join(separator);
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
