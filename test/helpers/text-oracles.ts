import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

const run = promisify(execFile);

/** Limit in bytes of an unpacked file and of a program's output. */
const MAX_BYTES = 20_000_000;

/** A Debian program that prints the text of documents of one type. */
export interface TextOracle {
  readonly type: string;
  /** Names of files of the type; `.gz` may follow. */
  readonly names: RegExp;
  readonly command: (file: string) => readonly [program: string, ...args: string[]];
  /** Directories whose files are of the type, if the name alone does not tell. */
  readonly within?: RegExp;
  /** The required median if our reader is known to omit something. */
  readonly goal?: number;
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
  // Notes and headers, which the program prints, are not read.
  { type: 'WordPerfect', goal: 0.9, names: /\.wpd?$/, command: (file) => ['wpd2text', file] },
  { type: 'Word', names: /\.doc$/, command: (file) => ['catdoc', '-dutf-8', file] },
];

/** Undefined when the file is broken or too large. */
export function unpacked(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    return undefined;
  }
}

/** Output of the program for the file, also if it fails; undefined if it is not installed. */
export async function oracleText({ command }: TextOracle, file: string): Promise<string | undefined> {
  const [program, ...args] = command(file);
  try {
    return (await run(program, args, { maxBuffer: MAX_BYTES, timeout: 60_000 })).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}

/** Normalizes text for the comparison: joins hyphenated words, removes overstrikes, composes ligatures and accents. */
export function wordsOf(text: string): string[] {
  const whole = text
    .replaceAll(/.[\b]/g, '')
    // The banner of unrtf.
    .replaceAll(/^###.*$/gm, '')
    // The mark of catdoc for links.
    .replaceAll(/\bHYPERLINK\s+"[^"\n]*"(?:\s+\\l\s+"[^"\n]*")?/g, ' ')
    .normalize('NFKC')
    .replace(/(\p{L})[-‐]\n\s*(\p{Ll})/gu, '$1$2')
    .toLowerCase();
  return whole.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Share of the expected words, as a multiset, that are found. */
export function overlap(wanted: readonly string[], got: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of got) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of wanted) {
    const left = counts.get(word) ?? 0;
    if (left > 0) {
      common++;
      counts.set(word, left - 1);
    }
  }
  return common / wanted.length;
}

/** At most `most` items, evenly spread, because neighbors are similar. */
export function spread<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)]!);
}
