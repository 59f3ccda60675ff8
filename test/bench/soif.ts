// Benchmark `soif`: SoifDecoder compared with JSON.parse.
//   npm run bench -- soif [--megabytes N] [--runs N]
import { StringDecoder } from 'node:string_decoder';
import { parseArgs } from 'node:util';
import { SoifDecoder } from '../../protocols/soif/index.js';
import { compare, print, type Work } from './harness.js';

const CHUNK_BYTES = 64 * 1024;
const ATTRIBUTES = 8;

/**
 * Decodes the same records, as a stream of SOIF objects and as JSON with one record per line. Both arrive in
 * chunks of 64 KiB, and both sides read every name and every value.
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
    chunkBytes: CHUNK_BYTES,
    soifBytesPerRecord: Math.round(soif.length / records.length),
    jsonBytesPerRecord: Math.round(json.length / records.length),
  };
  print(`records of ${setup.soifBytesPerRecord} bytes as SOIF, ${setup.jsonBytesPerRecord} bytes as JSON`);
  await compare({
    name: 'soif',
    runs: Number(values.runs),
    setup,
    ours: { label: 'SoifDecoder, offsets', run: () => readSoif(soif, rounds, readOffsets) },
    rival: { label: 'JSON.parse', run: () => readJson(json, rounds) },
    variants: [{ label: 'SoifDecoder, a view of each value', run: () => readSoif(soif, rounds, readViews) }],
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

/** Encodes a record by hand, so that the benchmark does not depend on the encoder. */
function soifOf({ type, url, ...attributes }: BenchRecord): Buffer {
  const lines = Object.entries(attributes).map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return Buffer.from(`@${type} { ${url}\n${lines.join('')}}\n`);
}

/** Yields the pool repeatedly, in chunks of 64 KiB that ignore the borders of records. */
function* chunksOf(pool: Buffer, rounds: number): Generator<Uint8Array> {
  const twice = Buffer.concat([pool, pool.subarray(0, CHUNK_BYTES)]);
  const total = pool.length * rounds;
  for (let offset = 0; offset < total; offset += CHUNK_BYTES) {
    const start = offset % pool.length;
    yield twice.subarray(start, start + Math.min(CHUNK_BYTES, total - offset));
  }
}

type ReadItems = (items: ReturnType<SoifDecoder['push']>, totals: Totals) => void;

/** Totals of the records read; the sum depends on every name and every value. */
interface Totals {
  records: number;
  sum: number;
}

function readSoif(pool: Buffer, rounds: number, readItems: ReadItems): Work {
  const decoder = new SoifDecoder();
  const totals: Totals = { records: 0, sum: 0 };
  for (const chunk of chunksOf(pool, rounds)) readItems(decoder.push(chunk), totals);
  readItems(decoder.end(), totals);
  return { bytes: pool.length * rounds, records: totals.records, check: totals.sum };
}

/** Compares each name with a given one, and reads the first and the last byte of each value from memory. */
function readOffsets(items: ReturnType<SoifDecoder['push']>, totals: Totals): void {
  for (const item of items) {
    if (item.kind !== 'object') throw new Error(item.message);
    const { object } = item;
    const { memory } = object;
    totals.records++;
    for (let i = 0; i < object.size; i++) {
      const weight = object.nameAt(i) === 'Title' ? 3 : 1;
      const start = object.valueStartAt(i);
      const end = object.valueEndAt(i);
      totals.sum += weight * (end - start + memory[start]! + memory[end - 1]!);
    }
  }
}

function readViews(items: ReturnType<SoifDecoder['push']>, totals: Totals): void {
  for (const item of items) {
    if (item.kind !== 'object') throw new Error(item.message);
    const { object } = item;
    totals.records++;
    for (let i = 0; i < object.size; i++) {
      const weight = object.nameAt(i) === 'Title' ? 3 : 1;
      const value = object.valueAt(i);
      totals.sum += weight * (value.length + value[0]! + value[value.length - 1]!);
    }
  }
}

function readJson(pool: Buffer, rounds: number): Work {
  const decoder = new StringDecoder('utf8');
  const totals: Totals = { records: 0, sum: 0 };
  let incomplete = '';
  for (const chunk of chunksOf(pool, rounds)) {
    const text = incomplete + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    let from = 0;
    for (;;) {
      const stop = text.indexOf('\n', from);
      if (stop < 0) break;
      readRecord(JSON.parse(text.slice(from, stop)), totals);
      from = stop + 1;
    }
    incomplete = text.slice(from);
  }
  return { bytes: pool.length * rounds, records: totals.records, check: totals.sum };
}

function readRecord(parsed: Record<string, string>, totals: Totals): void {
  totals.records++;
  for (const name in parsed) {
    const value = parsed[name]!;
    const weight = name === 'Title' ? 3 : 1;
    totals.sum += weight * (value.length + value.charCodeAt(0) + value.charCodeAt(value.length - 1));
  }
}
