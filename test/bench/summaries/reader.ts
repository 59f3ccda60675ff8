// What a reader found in a file, and how it is compared with what is known of the file.
import { wordsOf } from '../../helpers/text-oracles.js';

/** What a reader found in one file. */
export interface Found {
  readonly text: string;
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly date?: string | undefined;
  readonly language?: string | undefined;
}

/** A program that reads files of the corpus. */
export interface Reader extends AsyncDisposable {
  readonly name: string;
  /** Of a process of its own that is not one of the kit's. */
  readonly pid?: number | undefined;
  read(path: string): Promise<Found>;
  /** The attributes, if another setting finds more of them than the one for whole texts. */
  attributes?(path: string): Promise<Found>;
  /** Processor time of the program so far, with all its processes; milliseconds. */
  cpuMilliseconds(): Promise<number>;
}

/** Words; of scripts without spaces each character is one. */
export function unitsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) =>
    /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]/u.test(word) ? [...word] : [word],
  );
}

/** Whether two titles or names are the same but for case, spaces and punctuation. */
export function isSame(expected: string, actual: string | undefined): boolean {
  const plain = (text: string) => wordsOf(text).join(' ');
  return actual !== undefined && plain(actual) === plain(expected);
}

/** Whether an author is named, perhaps with an address or beside others. */
export function names(expected: string, actual: string | undefined): boolean {
  return wordsOf(actual ?? '')
    .join(' ')
    .includes(wordsOf(expected).join(' '));
}

/** Whether a date as a format writes it is the day YYYY-MM-DD. */
export function isDay(expected: string, actual: string | undefined): boolean {
  if (actual === undefined) return false;
  if (actual.includes(expected)) return true;
  const time = Date.parse(actual);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(expected);
}
