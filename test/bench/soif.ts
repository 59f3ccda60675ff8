import { StringDecoder } from 'node:string_decoder';
import { parseArgs } from 'node:util';
import { SoifDecoder } from '../../protocols/soif/index.js';
import { compare, print, type Work } from './harness.js';

const CHUNK = 64 * 1024;
const ATTRIBUTES = 8;

/**
 * SoifDecoder against JSON.parse: the same records, one as a stream of SOIF objects, one as JSON text with one
 * record a line; both come in chunks of 64 KiB, both sides look at every name and every value.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { megabytes: { type: 'string', default: '128' }, runs: { type: 'string', default: '5' } },
  });
  const records = Array.from({ length: 2000 }, (_, i) => record(i));
  const soif = Buffer.concat(records.map(soifOf));
  const json = Buffer.from(records.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const rounds = Math.ceil((Number(values.megabytes) * 1e6) / Math.min(soif.length, json.length));
  const setup = {
    pool: records.length,
    attributes: ATTRIBUTES,
    chunkBytes: CHUNK,
    soifBytesPerRecord: Math.round(soif.length / records.length),
    jsonBytesPerRecord: Math.round(json.length / records.length),
  };
  print(`records of ${setup.soifBytesPerRecord} bytes as SOIF, ${setup.jsonBytesPerRecord} bytes as JSON`);
  await compare({
    name: 'soif',
    runs: Number(values.runs),
    setup,
    ours: { label: 'SoifDecoder, offsets', run: () => readSoif(soif, rounds, lookAtOffsets) },
    rival: { label: 'JSON.parse', run: () => readJson(json, rounds) },
    variants: [
      { label: 'SoifDecoder, a view of each value', run: () => readSoif(soif, rounds, lookAtViews) },
    ],
  });
}

type BenchRecord = Readonly<Record<string, string>>;

const WORDS =
  'harvest gatherer broker summary object network index query attribute resource library archive'.split(' ');

function words(seed: number, count: number, separator: string): string {
  return Array.from(
    { length: count },
    (_, i) => WORDS[(seed * 7 + i * (1 + (seed % 5))) % WORDS.length],
  ).join(separator);
}

function record(i: number): BenchRecord {
  const scattered = Math.imul(i + 1, 2_654_435_761) >>> 0;
  return {
    type: 'FILE',
    url: `http://www${i % 97}.example.org/${words(i, 2, '/')}/${scattered}.html`,
    'Update-Time': String(800_000_000 + i * 13),
    'Last-Modification-Time': String(790_000_000 + i * 11),
    Type: i % 3 === 0 ? 'HTML' : 'Text',
    'File-Size': String(scattered % 100_000),
    MD5: scattered.toString(16).padStart(8, '0').repeat(4),
    Title: words(i, 3 + (i % 5), ' '),
    Keywords: `${words(i + 3, 4 + (i % 9), '\n')}\n`,
    Description: words(i + 5, 10 + (i % 20), ' '),
  };
}

/** Written by hand, so that the encoder has no part in it. */
function soifOf({ type, url, ...attributes }: BenchRecord): Buffer {
  const lines = Object.entries(attributes).map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return Buffer.from(`@${type} { ${url}\n${lines.join('')}}\n`);
}

/** The pool again and again, cut every 64 KiB wherever that falls. */
function* chunksOf(pool: Buffer, rounds: number): Generator<Uint8Array> {
  const twice = Buffer.concat([pool, pool.subarray(0, CHUNK)]);
  const total = pool.length * rounds;
  for (let at = 0; at < total; at += CHUNK) {
    const from = at % pool.length;
    yield twice.subarray(from, from + Math.min(CHUNK, total - at));
  }
}

type Look = (items: ReturnType<SoifDecoder['push']>, seen: Seen) => void;

/** What has been looked at; the sum depends on every name and every value. */
interface Seen {
  records: number;
  sum: number;
}

function readSoif(pool: Buffer, rounds: number, look: Look): Work {
  const decoder = new SoifDecoder();
  const seen: Seen = { records: 0, sum: 0 };
  for (const chunk of chunksOf(pool, rounds)) look(decoder.push(chunk), seen);
  look(decoder.end(), seen);
  return { bytes: pool.length * rounds, records: seen.records, check: seen.sum };
}

/** Compares each name with one that is wanted, and takes the first and last byte of each value from memory. */
function lookAtOffsets(items: ReturnType<SoifDecoder['push']>, seen: Seen): void {
  for (const item of items) {
    if (item.kind !== 'object') throw new Error(item.message);
    const { object } = item;
    const { memory } = object;
    seen.records++;
    for (let i = 0; i < object.size; i++) {
      const weight = object.nameAt(i) === 'Title' ? 3 : 1;
      const start = object.valueStartAt(i);
      const end = object.valueEndAt(i);
      seen.sum += weight * (end - start + memory[start]! + memory[end - 1]!);
    }
  }
}

function lookAtViews(items: ReturnType<SoifDecoder['push']>, seen: Seen): void {
  for (const item of items) {
    if (item.kind !== 'object') throw new Error(item.message);
    const { object } = item;
    seen.records++;
    for (let i = 0; i < object.size; i++) {
      const weight = object.nameAt(i) === 'Title' ? 3 : 1;
      const value = object.valueAt(i);
      seen.sum += weight * (value.length + value[0]! + value[value.length - 1]!);
    }
  }
}

function readJson(pool: Buffer, rounds: number): Work {
  const decoder = new StringDecoder('utf8');
  const seen: Seen = { records: 0, sum: 0 };
  let held = '';
  for (const chunk of chunksOf(pool, rounds)) {
    const text = held + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    let from = 0;
    for (;;) {
      const stop = text.indexOf('\n', from);
      if (stop < 0) break;
      lookAtJson(JSON.parse(text.slice(from, stop)), seen);
      from = stop + 1;
    }
    held = text.slice(from);
  }
  return { bytes: pool.length * rounds, records: seen.records, check: seen.sum };
}

function lookAtJson(parsed: Record<string, string>, seen: Seen): void {
  seen.records++;
  for (const name in parsed) {
    const value = parsed[name]!;
    const weight = name === 'Title' ? 3 : 1;
    seen.sum += weight * (value.length + value.charCodeAt(0) + value.charCodeAt(value.length - 1));
  }
}
