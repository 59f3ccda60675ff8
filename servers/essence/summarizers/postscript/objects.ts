/** Objects of the PostScript language, as far as text extraction meets them. */
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

export class PsName {
  constructor(
    readonly text: string,
    readonly executable: boolean,
  ) {}
}

/** A string is a window on bytes: intervals share them. */
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

/** The program itself (`currentfile`), or a filter, whose data is not read. */
export class PsFile {
  constructor(readonly program: boolean) {}
}

/** The key of a dictionary entry: names and strings are alike, numbers are themselves. */
export function keyOf(object: PsObject): string {
  if (object instanceof PsName || object instanceof PsString) return `/${object.text}`;
  return `#${typeof object === 'object' ? '' : String(object)}`;
}

/** The object a key was made of. */
export function objectOf(key: string): PsObject {
  return key.startsWith('/') ? new PsName(key.slice(1), false) : Number(key.slice(1));
}

/** Thrown for what PostScript calls an error; `stopped` catches it. */
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
/** The program has used up its budget, or said `quit`: what was shown so far is the text. */
export class PsEnd extends Error {
  readonly code = 'ERR_POSTSCRIPT_END';
}
