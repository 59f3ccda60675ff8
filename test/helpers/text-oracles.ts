// Other programs that extract the text of documents, and the measure by which the kit's readers are compared
// with them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

const run = promisify(execFile);

/** Limit in bytes of an gunzip file and of a program's output. */
const MAX_BYTES = 20_000_000;

/** A Debian program that prints the text of documents of one type. */
export interface TextOracle {
  readonly type: string;
  /** Names of files of the type; `.gz` may follow. */
  readonly names: RegExp;
  readonly command: (file: string) => readonly [program: string, ...args: string[]];
  /** Matches the paths of the type, if the name alone is ambiguous. */
  readonly within?: RegExp;
  /** The required median share of words, if the kit's reader is known to omit something. */
  readonly minMedian?: number;
}

export const TEXT_ORACLES: readonly TextOracle[] = [
  { type: 'Pdf', names: /\.pdf$/, command: (file) => ['pdftotext', '-enc', 'UTF-8', file, '-'] },
  { type: 'PostScript', names: /\.ps$/, command: (file) => ['ps2ascii', file] },
  { type: 'Dvi', names: /\.dvi$/, command: (file) => ['catdvi', '-e', '0', file] },
  { type: 'LaTeX', names: /\.tex$/, command: (file) => ['detex', '-n', '-l', file], within: /texlive|cxref/ },
  { type: 'TeX', names: /\.tex$/, command: (file) => ['detex', '-n', file], within: /pari/ },
  { type: 'RTF', names: /\.rtf$/, command: (file) => ['unrtf', '--text', file] },
  { type: 'Troff', names: /\.[1-9]$/, command: (file) => ['mandoc', '-T', 'utf8', '-O', 'width=500', file] },
  { type: 'OpenDocument', names: /\.odt$/, command: (file) => ['odt2txt', '--width=-1', file] },
  // The kit does not read notes and headers, which the program prints.
  { type: 'WordPerfect', minMedian: 0.9, names: /\.wpd?$/, command: (file) => ['wpd2text', file] },
  { type: 'Word', names: /\.doc$/, command: (file) => ['catdoc', '-dutf-8', file] },
];

/** Unpacks a gzip file. Returns undefined if it is broken or too large. */
export function gunzip(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    return undefined;
  }
}

/**
 * Returns the output of the program for a file, even if the program fails; undefined if it is not installed.
 */
export async function oracleText({ command }: TextOracle, file: string): Promise<string | undefined> {
  const [program, ...args] = command(file);
  try {
    return (await run(program, args, { maxBuffer: MAX_BYTES, timeout: 60_000 })).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}

/**
 * Splits text into words after normalizing it: joins hyphenated words, removes overstrikes, composes accents,
 * splits ligatures.
 */
export function wordsOf(text: string): string[] {
  const normalized = text
    .replaceAll(/.[\b]/g, '')
    // The banner of unrtf.
    .replaceAll(/^###.*$/gm, '')
    // The mark of catdoc for links.
    .replaceAll(/\bHYPERLINK\s+"[^"\n]*"(?:\s+\\l\s+"[^"\n]*")?/g, ' ')
    .normalize('NFKC')
    .replace(/(\p{L})[-‐]\n\s*(\p{Ll})/gu, '$1$2')
    .toLowerCase();
  return normalized.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The share of the expected words, as a multiset, that are among the actual ones. */
export function overlap(expected: readonly string[], actual: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of actual) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of expected) {
    const remaining = counts.get(word) ?? 0;
    if (remaining > 0) {
      common++;
      counts.set(word, remaining - 1);
    }
  }
  return common / expected.length;
}

/** Returns at most `max` items, evenly spaced, because neighbors are similar. */
export function sampleEvenly<T>(all: readonly T[], max: number): T[] {
  if (all.length <= max) return [...all];
  return Array.from({ length: max }, (_, i) => all[Math.floor((i * all.length) / max)]!);
}
