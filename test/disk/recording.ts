// The log of the shim as a list of operations.
import { readFileSync } from 'node:fs';

/** A recorded change. Paths are relative to the root; '' is the root. */
export type Operation =
  | {
      readonly kind: 'open';
      readonly handle: number;
      readonly path: string;
      readonly created: boolean;
      readonly truncated: boolean;
    }
  | { readonly kind: 'write'; readonly handle: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly handle: number; readonly length: number }
  | { readonly kind: 'sync'; readonly handle: number }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink' | 'rmdir' | 'mkdir'; readonly path: string }
  | { readonly kind: 'mark'; readonly text: string }
  | { readonly kind: 'failure'; readonly errno: number };

/** Bytes of a record before its text: operation, handle, number, length of the text, length of the data. */
const HEAD_BYTES = 21;

/**
 * Reads a log.
 *
 * @throws Error if the program did something that the shim does not model: the replay would be wrong
 */
export function readRecording(file: string): Operation[] {
  const bytes = readFileSync(file);
  const operations: Operation[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const kind = String.fromCharCode(bytes[at] ?? 0);
    const handle = bytes.readUInt32LE(at + 1);
    const number = Number(bytes.readBigUInt64LE(at + 5));
    const textEnd = at + HEAD_BYTES + bytes.readUInt32LE(at + 13);
    const text = bytes.toString('utf8', at + HEAD_BYTES, textEnd);
    const end = textEnd + bytes.readUInt32LE(at + 17);
    operations.push(operationOf(kind, { handle, number, text, data: bytes.subarray(textEnd, end) }));
    at = end;
  }
  if (at !== bytes.length) throw new Error(`${file}: the last record is cut`);
  return operations;
}

interface Fields {
  readonly handle: number;
  readonly number: number;
  readonly text: string;
  readonly data: Buffer;
}

function operationOf(kind: string, { handle, number, text, data }: Fields): Operation {
  switch (kind) {
    case 'O':
      return { kind: 'open', handle, path: text, created: (number & 1) !== 0, truncated: (number & 2) !== 0 };
    case 'W':
      return { kind: 'write', handle, offset: number, data };
    case 'T':
      return { kind: 'truncate', handle, length: number };
    case 'F':
      return { kind: 'sync', handle };
    case 'R':
      return { kind: 'rename', from: text, to: data.toString() };
    case 'L':
      return { kind: 'link', from: text, to: data.toString() };
    case 'U':
      return { kind: 'unlink', path: text };
    case 'D':
      return { kind: 'rmdir', path: text };
    case 'N':
      return { kind: 'mkdir', path: text };
    case 'M':
      return { kind: 'mark', text };
    case 'E':
      return { kind: 'failure', errno: number };
    default:
      throw new Error(`the recording contains what cannot be replayed: ${text} (${data.toString()})`);
  }
}
