// Objects that are not held: a decoder with a log finds the objects that a decoder in memory finds, whatever
// the stream.
import t from 'tap';
import { LargeLog } from '../../../clients/connection/index.js';
import {
  attributeOf,
  decodeSoif,
  encodeSoif,
  readOutline,
  readRange,
  rewriteLarge,
  SectionDecoder,
  type SectionItem,
  type SoifOutline,
} from '../../../protocols/soif/index.js';
import { MemoryLog } from './memory-log.js';

interface Found {
  readonly section: string;
  readonly bytes: string;
  readonly exact: boolean;
  readonly values: readonly string[];
  readonly offset: number;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function* chunksOf(input: Buffer, random: (below: number) => number): Generator<Buffer> {
  for (let at = 0; at < input.length; ) {
    const length = 1 + random(40);
    yield input.subarray(at, at + length);
    at += length;
  }
}

function held(item: SectionItem): Found[] {
  if (item.kind !== 'object') return [];
  const values = item.object.attributes.map(({ name, value }) => `${name}=${text(value)}`);
  const { section, exact, offset } = item;
  return [{ section, bytes: text(item.bytes), exact, values, offset }];
}

function decodeHeld(input: Buffer): Found[] {
  const decoder = new SectionDecoder({ maxNameBytes: 60 });
  return [...decoder.push(input), ...decoder.end()].flatMap(held);
}

async function decodeWithLog(
  input: Buffer,
  random: (below: number) => number,
  largeBytes: number,
): Promise<{ found: Found[]; large: number; rewinds: number }> {
  const log = new LargeLog({ open: async () => new MemoryLog() });
  const decoder = new SectionDecoder({ largeBytes, maxNameBytes: 60 });
  const found: Found[] = [];
  let large = 0;
  let rewinds = 0;
  const feed = (bytes: Uint8Array) => {
    const items = decoder.push(bytes);
    rewinds += items.filter(({ kind }) => kind === 'rewind').length;
    return items;
  };
  const take = async (events: readonly SectionItem[]) => {
    for await (const items of log.follow(events, { itemOf: (item) => item, feed })) {
      for (const item of items) {
        found.push(...held(item));
        if (item.kind !== 'large') continue;
        large += 1;
        const source = log.sourceOf(item);
        const { outline, section, offset } = item;
        const bytes = await readRange(source, 0, source.length);
        const values = outline.attributes.map(
          ({ name, start, end }) => `${name}=${text(bytes.subarray(start, end))}`,
        );
        found.push({ section, bytes: text(bytes), exact: outline.exact, values, offset });
      }
    }
  };
  for (const chunk of chunksOf(input, random)) await take(feed(chunk));
  await take(decoder.end());
  await log.close();
  return { found, large, rewinds };
}

/** A generator of numbers below a bound, by a seed. */
function randomFrom(start: number): (below: number) => number {
  let seed = start;
  return (below) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
}

function objectOf(random: (below: number) => number): string {
  const lines = Array.from({ length: random(6) }, (_, i) => {
    const value = 'words in a line\n}\n@FILE { http://inside.test/\n'.repeat(5).slice(0, random(120));
    const name = ['Title', 'Update-Time', 'Description', 'a', `b-${i}`][random(5)] ?? '';
    // Sometimes a wrong size, or an odd layout.
    const size = random(12) === 0 ? value.length + random(400) : value.length;
    return `${name}{${size}}:${random(15) === 0 ? ' ' : '\t'}${value}\n`;
  });
  const end = random(15) === 0 ? '' : '}\n';
  return `@FILE { http://a.test/${random(1000)}\n${lines.join('')}${end}`;
}

t.test('the objects are those of a decoder in memory, also after malformed ones', async (t) => {
  let large = 0;
  let rewinds = 0;
  for (let seed = 1; seed < 300; seed++) {
    const random = randomFrom(seed * 7919);
    const sections = ['DELETE', 'REFRESH', 'UPDATE'].map(
      (name) => `@${name} {\n${Array.from({ length: random(5) }, () => objectOf(random)).join('')}}\n`,
    );
    // Text at the end, because an object that the end cuts is not searched for others.
    const whole = `${sections.join('')}\n@FILE { http://last.test/\na{1}:\tx\n}\n${'x'.repeat(1000)}`;
    const input = Buffer.from(whole, 'latin1');
    const result = await decodeWithLog(input, random, 1 + random(100));
    large += result.large;
    rewinds += result.rewinds;
    const expected = decodeHeld(input);
    if (JSON.stringify(result.found) !== JSON.stringify(expected)) {
      t.same(result.found, expected, `seed ${seed}`);
      return;
    }
  }
  t.ok(large > 500, `${large} large objects`);
  t.ok(rewinds > 50, `${rewinds} rewinds`);
});

t.test('a stream that nests malformed large objects is read a bounded number of times', async (t) => {
  const nested = '@FILE { x\na{5000}:\t'.repeat(2000);
  const input = Buffer.from(`${nested}\n@FILE { http://last.test/\na{1}:\tx\n}\n`, 'latin1');
  const decoder = new SectionDecoder({ largeBytes: 100 });
  const log = new LargeLog({ open: async () => new MemoryLog(1000) });
  let fed = 0;
  const feed = (bytes: Uint8Array) => {
    fed += bytes.length;
    return decoder.push(bytes);
  };
  const urls: string[] = [];
  for (const chunk of chunksOf(input, randomFrom(1)))
    for await (const items of log.follow(feed(chunk), { itemOf: (item) => item, feed }))
      for (const item of items) if (item.kind === 'object') urls.push(item.object.url);
  t.ok(fed < 12 * input.length, `${fed} bytes were read of ${input.length}`);
});

t.test('a large object is rewritten like one in memory', async (t) => {
  const sourceOf = (bytes: Uint8Array) => ({
    length: bytes.length,
    async *pieces(start = 0, end = bytes.length) {
      const log = new MemoryLog(7);
      await log.append(bytes);
      yield* log.pieces(start, end);
    },
  });
  const changes = [
    ['Update-Time', '12345'],
    ['New', 'value'],
  ] as const;
  for (let seed = 1; seed < 800; seed++) {
    const bytes = Buffer.from(objectOf(randomFrom(seed * 104_729)), 'latin1');
    let object: ReturnType<typeof decodeSoif>;
    try {
      object = decodeSoif(bytes, {});
    } catch (error) {
      // The outline is that of the first object; stores hold one.
      if (error instanceof Error && error.message.startsWith('a second object')) continue;
      await t.rejects(readOutline(sourceOf(bytes)), { code: 'ERR_PROTOCOL' });
      continue;
    }
    const source = sourceOf(bytes);
    let outline: SoifOutline;
    try {
      outline = await readOutline(source);
    } catch (error) {
      // In memory, an object inside the malformed one is found.
      t.match(error, { code: 'ERR_PROTOCOL' });
      continue;
    }
    t.equal(outline.head.url, object.url);
    t.equal(outline.head.text('Update-Time'), object.text('Update-Time'));
    const last = attributeOf(outline, 'title');
    t.equal(
      last === undefined ? undefined : text(await readRange(source, last.start, last.end)),
      object.text('Title'),
    );
    for (const change of [[], changes]) {
      const rewritten = rewriteLarge(source, outline, change);
      const expected = change.length === 0 ? object : object.with(change);
      t.equal(text(await readRange(rewritten, 0, rewritten.length)), text(encodeSoif(expected)));
      const middle = await readRange(rewritten, 5, Math.min(60, rewritten.length));
      t.equal(text(middle), text(encodeSoif(expected).subarray(5, 60)));
    }
  }
});
