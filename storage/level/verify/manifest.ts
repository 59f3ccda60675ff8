// Reads LevelDB's MANIFEST: which table files and which logs make the database.
import { StorageError } from '../../../protocols/errors.js';
import { readLog } from './log-file.js';
import { WireReader } from './wire.js';

/** The files of a database by its MANIFEST. */
export interface ManifestState {
  /** Number and size in bytes of each table. */
  readonly tables: ReadonlyMap<number, number>;
  /** The oldest log whose rows may be in no table; 0 in a database that was just created. */
  readonly logNumber: number;
  /** The number of the last change when the database was opened, and the log that began then. */
  readonly opened?: { readonly logNumber: number; readonly sequence: number } | undefined;
  /** Bytes of whole records, if the last one is incomplete. */
  readonly torn?: number | undefined;
  readonly problems: readonly string[];
}

/** Tags of the fields of a version edit. */
const TAG = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLog: 9,
} as const;

/** Applies all edits. Damage is listed in `problems`; the state is then that of the edits before it. */
export function readManifest(bytes: Uint8Array): ManifestState {
  const { records, problems, torn, end } = readLog(bytes);
  const tables = new Map<number, number>();
  let logNumber = 0;
  let sequence: number | undefined;
  let opened: ManifestState['opened'];
  const found = [...problems];
  if (bytes.length === 0) found.push('it is empty');
  else if (records.length === 0 && found.length === 0) found.push('it has no whole record');
  try {
    for (const [index, record] of records.entries()) {
      const reader = new WireReader(record);
      while (!reader.done) {
        const tag = reader.varint();
        switch (tag) {
          case TAG.comparator:
            reader.prefixed();
            break;
          case TAG.logNumber:
            logNumber = reader.varint();
            break;
          case TAG.lastSequence:
            sequence = reader.varint();
            break;
          case TAG.nextFile:
          case TAG.previousLog:
            reader.varint();
            break;
          case TAG.compactPointer:
            reader.varint();
            reader.prefixed();
            break;
          case TAG.deletedFile:
            reader.varint();
            tables.delete(reader.varint());
            break;
          case TAG.newFile: {
            reader.varint();
            const number = reader.varint();
            tables.set(number, reader.varint());
            reader.prefixed();
            reader.prefixed();
            break;
          }
          default:
            throw new StorageError(`it has an unknown field ${tag}`);
        }
      }
      // After the tables of the former MANIFEST comes the edit of the opening.
      if (index === 1 && logNumber > 0 && sequence !== undefined) opened = { logNumber, sequence };
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    found.push(error.message);
  }
  return { tables, logNumber, opened, torn: torn ? end : undefined, problems: found };
}
