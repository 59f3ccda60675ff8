/** The objects of the PostScript language that text extraction needs. */
export type PsObject =
  | number
  | boolean
  | null
  | PsName
  | PsString
  | PsArray
  | PsDict
  | PsOperator
  | PsMark
  | PsFile;

/** Memory of the objects that a program makes, in cells of 8 bytes, without their content. */
export const CELLS = {
  name: 8,
  array: 10,
  string: 30,
  dict: 40,
  entry: 10,
  encoding: 256 * 8,
  wrapper: 4,
} as const;

export class PsName {
  #key: string | undefined;

  constructor(
    readonly text: string,
    readonly executable: boolean,
  ) {}

  /** Key of a dictionary entry. It is kept, because a procedure looks up the same names again and again. */
  get key(): string {
    this.#key ??= `/${this.text}`;
    return this.#key;
  }
}

/** A string is a view of bytes, which substrings share. */
export class PsString {
  constructor(
    readonly bytes: Uint8Array,
    readonly executable = false,
  ) {}

  get text(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('latin1');
  }
}

export class PsArray {
  constructor(
    readonly items: PsObject[],
    readonly executable = false,
  ) {}
}

export class PsDict {
  readonly entries = new Map<string, PsObject>();

  get(name: string): PsObject | undefined {
    return this.entries.get(`/${name}`);
  }
  set(name: string, value: PsObject): void {
    this.entries.set(`/${name}`, value);
  }
}

export class PsOperator {
  constructor(readonly name: string) {}
}

export class PsMark {}
export const MARK = new PsMark();

/** The program (`currentfile`), or a filter, whose data is skipped. */
export class PsFile {
  constructor(readonly program: boolean) {}
}

/** Returns the key of a dictionary entry: a name and a string with the same text are equal. */
export function keyOf(object: PsObject): string {
  if (object instanceof PsName) return object.key;
  if (object instanceof PsString) return `/${object.text}`;
  return `#${typeof object === 'object' ? '' : String(object)}`;
}

/** Returns the object of a key. */
export function objectOf(key: string): PsObject {
  return key.startsWith('/') ? new PsName(key.slice(1), false) : Number(key.slice(1));
}

/** A PostScript error; `stopped` catches it. */
export class PsError extends Error {
  readonly code = 'ERR_POSTSCRIPT';
}
/** Thrown by `exit`. */
export class PsExit extends Error {
  readonly code = 'ERR_POSTSCRIPT_EXIT';
}
/** Thrown by `stop`. */
export class PsStop extends Error {
  readonly code = 'ERR_POSTSCRIPT_STOP';
}
/** Thrown by `quit` and at a limit: ends the program; the text shown before is kept. */
export class PsEnd extends Error {
  readonly code = 'ERR_POSTSCRIPT_END';
}
