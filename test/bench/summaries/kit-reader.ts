// The kit as a reader: a pool with its reader processes, as a Gatherer has.
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { BOOKKEEPING_NAMES, decodeSoif } from '../../../protocols/soif/index.js';
import { EssencePool } from '../../../servers/essence/index.js';
import type { Found, Reader } from './reader.js';

/** Clock ticks of /proc a second, in milliseconds. */
const TICK_MS = 10;
const BOOKKEEPING = new Set(BOOKKEEPING_NAMES.map((name) => name.toLowerCase()));
const OPTIONS = {
  gathererName: 'bench',
  gathererHost: 'localhost',
  gathererVersion: '0',
  refreshRate: 1,
  timeToLive: 1,
  workers: 1,
  language: true,
  // Sounds, films and pictures are not indexed by default.
  stoplist: '/dev/null',
  maxObjectBytes: 64 * 1024 * 1024,
  maxAttributeLength: 16 * 1024 * 1024,
};

/**
 * The kit: text by a pool with `--full-text`, attributes by one with the default settings, whose tables name
 * more of them.
 * @param others - processes whose time is not that of the kit
 */
export async function kitReader(others: readonly number[] = []): Promise<Reader> {
  const texts = await EssencePool.create({ ...OPTIONS, fullText: true });
  const summaries = await EssencePool.create(OPTIONS);
  return {
    name: 'kit',
    read: (path) => readWith(texts, path),
    attributes: (path) => readWith(summaries, path),
    cpuMilliseconds: async () => cpuOfTree(process.pid, others),
    async [Symbol.asyncDispose]() {
      await texts.close();
      await summaries.close();
    },
  };
}

async function readWith(pool: EssencePool, path: string): Promise<Found> {
  const { soif } = await pool.summarize({
    url: pathToFileURL(path).href,
    body: await readFile(path),
    lastModificationTime: 0,
    updateTime: 1,
  });
  if (soif === undefined) return { text: '' };
  const object = decodeSoif(soif);
  const values = object.attributes.filter(({ name }) => !BOOKKEEPING.has(name.toLowerCase()));
  return {
    text: values.map(({ name }) => object.text(name) ?? '').join('\n'),
    title: object.text('Title')?.trim(),
    author: object.text('Author')?.trim(),
    date: object.text('Date')?.trim(),
    language: object.text('Language')?.trim(),
  };
}

/** Processor time of a process, its ended children and its running descendants without some. */
function cpuOfTree(root: number, without: readonly number[]): number {
  const children = new Map<number, number[]>();
  const times = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || without.includes(Number(name))) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [, parent = 0] = fields;
      times.set(Number(name), fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const sum = (pid: number): number =>
    (times.get(pid) ?? 0) + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(root);
}
