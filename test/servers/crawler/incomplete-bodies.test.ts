// A body that is not complete never equals another one: whatever cut it, and in every store of digests.
import t from 'tap';
import type { FetchResult } from '../../../clients/fetch/index.js';
import type { CrawlUri } from '../../../servers/crawler/crawl-uri.js';
import { ContentDigest } from '../../../servers/crawler/processors/content-digest.js';
import { DigestHistory, type DigestRecord } from '../../../servers/crawler/processors/digest-history.js';
import {
  FetchHistory,
  type FetchRecord,
  type JsonTable,
} from '../../../servers/crawler/processors/fetch-history.js';
import { WarcWriter } from '../../../servers/crawler/processors/warc-writer.js';
import { captureRecords, type Revisit } from '../../../servers/crawler/warc/captures.js';
import type { NewWarcRecord } from '../../../servers/crawler/warc/new-record.js';
import { BEGIN, fetchedUri } from './uri-scene.js';

const wire = (body: string) => ({
  request: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  head: Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
  body: Buffer.from(body),
  truncated: false,
});

/** Everything that can cut a body, and the value of WARC-Truncated. */
const CUTS: readonly (readonly [name: string, extra: Partial<FetchResult>, field: string])[] = [
  ['length', { truncated: true }, 'length'],
  ['length, with its framing', { wire: { ...wire('begin'), truncated: true } }, 'length'],
  ['time', { truncated: true, late: 'not done within 5 ms' }, 'time'],
  [
    'disconnect',
    { lenient: { deviations: ['cut-body'], head: Buffer.from(''), problem: 'the last chunk is missing' } },
    'disconnect',
  ],
];

/** A store of JSON values in memory. */
class MemoryTable<T> implements JsonTable<T> {
  readonly rows = new Map<string, T>();
  async get(key: string): Promise<T | undefined> {
    return this.rows.get(key);
  }
  put(key: string, value: T): void {
    this.rows.set(key, value);
  }
}

/** The processors of an archive with both histories. */
class Archive {
  readonly fetches = new MemoryTable<readonly FetchRecord[]>();
  readonly digests = new MemoryTable<DigestRecord>();
  readonly records: NewWarcRecord[] = [];
  readonly #history = new FetchHistory(this.fetches);
  readonly #digestHistory = new DigestHistory(this.digests);
  readonly #writer: WarcWriter;

  constructor(format: 'warc' | 'arc', skipIdenticalDigests = false) {
    const files = {
      write: async (records: readonly NewWarcRecord[]) => {
        this.records.push(...records);
        return records.map(({ id }) => ({ file: 'x.warc', offset: 0, length: 1, recordId: id }));
      },
    };
    const revisits = [this.#history, this.#digestHistory];
    this.#writer = new WarcWriter({ files, format, skipIdenticalDigests, revisits });
  }

  async crawl(body: string, extra: Partial<FetchResult> = {}, url?: string): Promise<CrawlUri> {
    const uri = fetchedUri(body, extra, url);
    await this.#history.loader.process(uri);
    new ContentDigest().process(uri);
    this.#history.process(uri);
    await this.#digestHistory.process(uri);
    await this.#writer.process(uri);
    await this.#history.keeper.process(uri);
    await this.#digestHistory.keeper.process(uri);
    return uri;
  }
}

for (const format of ['warc', 'arc'] as const)
  for (const skip of [false, true])
    for (const [name, extra, field] of CUTS)
      t.test(`CRAWL-18.9: a body cut by ${name} (${format}, skip ${skip})`, async (t) => {
        const archive = new Archive(format, skip);
        const types = () => archive.records.flatMap(({ type }) => (type === 'request' ? [] : type));
        await archive.crawl('begin', extra);
        t.same([archive.fetches.rows.size, archive.digests.rows.size], [0, 0], 'nothing is stored');
        await archive.crawl('begin', extra);
        await archive.crawl('begin', extra, 'http://example.org/other');
        t.same(types(), ['response', 'response', 'response'], 'equal beginnings are not equal bodies');
        if (extra.wire === undefined)
          for (const { fields } of archive.records) t.equal(new Map(fields).get('WARC-Truncated'), field);
        archive.records.length = 0;
        const whole = await archive.crawl('begin');
        t.same(types(), ['response'], 'the document that is no longer than that is another one');
        t.same(whole.annotations, []);
        const cut = await archive.crawl('begin', extra);
        t.same(types(), ['response', 'response'], 'and the beginning of a longer one is not it');
        t.equal(cut.digest, '');
        await archive.crawl('begin', extra, 'http://example.org/other');
        t.same(types(), ['response', 'response', 'response'], 'under any URI');
        const again = await archive.crawl('begin');
        t.match(again.annotations, ['duplicate:digest'], 'the history still has the whole one');
      });

t.test('CRAWL-18.9: the records of an incomplete body are never those of a revisit', async (t) => {
  const { fetched } = fetchedUri('begin');
  const revisit: Revisit = {
    kind: 'identical-payload-digest',
    url: fetched!.url,
    date: BEGIN,
    recordId: '<urn:uuid:00000000-0000-4000-8000-000000000000>',
    payloadDigest: captureRecords(fetched!).payloadDigest,
  };
  t.equal(captureRecords(fetched!, revisit).kind, 'identical-payload-digest');
  for (const [name, extra] of CUTS)
    t.equal(captureRecords({ ...fetched!, ...extra }, revisit).kind, 'response', name);
});
