// Generates SOIF objects with natural text for benchmarks.
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { encodeSoif, SoifObject } from '../../../protocols/soif/index.js';

/** Update-Time of the first object. */
const BEGIN = 1_700_000_000;
const OBJECTS_PER_SECOND = 10;
export const TEN_YEARS = 315_360_000;

/** The objects to write, by number. */
interface ObjectRange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** New versions: a day newer, with different content. */
  readonly newer?: boolean;
}

/** Writes objects of about 2 kB with real text into a file. */
export async function writeSoif(file: string, { from, to, text, newer = false }: ObjectRange): Promise<void> {
  const out = createWriteStream(file);
  for (let i = from; i < to; i++) {
    if (!out.write(soifOf(i, text, newer))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

export const timeOf = (i: number): number => BEGIN + Math.floor(i / OBJECTS_PER_SECOND);
export const urlOf = (i: number): string =>
  `http://www${i % 97}.example.org/${Math.imul(i + 1, 2_654_435_761) >>> 0}.html`;

/** An object with natural text. */
export function soifOf(i: number, text: string, newer = false): Uint8Array {
  const seed = newer ? i + 1_000_003 : i;
  const start = (Math.imul(seed, 40_503) >>> 0) % (text.length - 3000);
  const body = text.slice(start, start + 1000 + ((i * 7919) % 1100));
  const time = timeOf(i) + (newer ? 86_400 : 0);
  return encodeSoif(
    SoifObject.of('FILE', urlOf(i), [
      ['Time-to-Live', String(TEN_YEARS)],
      ['Last-Modification-Time', String(BEGIN - i)],
      ['Refresh-Rate', '604800'],
      ['Gatherer-Name', 'Bench'],
      ['Gatherer-Host', 'gatherer.example.org'],
      ['Gatherer-Version', '1.8'],
      ['Update-Time', String(time)],
      ['Type', 'HTML'],
      ['File-Size', String(body.length)],
      ['MD5', (Math.imul(seed + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').repeat(4)],
      ['title', `${body.slice(10, 50).replaceAll(/\s+/g, ' ')}\n`],
      ['body', `${body}\n`],
    ]),
  );
}

/** Reads the documentation of the dependencies. */
export function readNaturalText(): string {
  const root = resolve('node_modules');
  const pieces: string[] = [];
  let size = 0;
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/readme\.md$/i.test(name)) continue;
    const piece = readFileSync(join(root, name), 'utf8');
    pieces.push(piece);
    size += piece.length;
    if (size > 4e6) break;
  }
  const text = pieces.join('\n');
  if (text.length < 100_000) throw new Error(`too little text below ${root}`);
  return text;
}
