// What clients read: HTTP bodies, gzip members of updates, bulk replies, cache entries, JSON lines, SOIF
// checks.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { readReply } from '../../../clients/bulk/reply.js';
import { LargeLog, ReceiveBudget } from '../../../clients/connection/index.js';
import { MemberInflater } from '../../../clients/connection/member-inflater.js';
import { decodeEntry } from '../../../clients/fetch/cache/entry.js';
import { decodeBody } from '../../../clients/fetch/decode-body.js';
import { parseListing } from '../../../clients/fetch/ftp-listing.js';
import { basicRealm, parseHttpDate, splitContentType } from '../../../clients/fetch/headers.js';
import { InflateBudget } from '../../../clients/gatherd/inflater.js';
import { checkSoif } from '../../../clients/soif-tools/check.js';
import { readJsonLines } from '../../../clients/soif-tools/json-lines.js';
import { checkAsOriginal } from '../../../clients/soif-tools/original-check.js';
import { MemoryLog } from '../../clients/connection/memory-log.js';
import { GREETING, VERSION } from '../../protocols/bulk/replies.js';
import { gzipMember } from '../generators/gzip.js';
import { soifSections, soifStream } from '../generators/soif.js';
import { allowed, allowedAsync, assert, cut, type FuzzTarget, latin1, randomOf, wordsIn } from '../target.js';

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const TEXT = Buffer.from('<html>text</html>'.repeat(9));

export const httpBodies: FuzzTarget = {
  linear: false,
  seeds: [gzipSync(TEXT), deflateSync(TEXT), brotliCompressSync(TEXT), gzipSync(Buffer.alloc(100_000))].map(
    (bytes) => new Uint8Array(bytes),
  ),
  generate: gzipMember,
  run: async (input) => {
    const encoding = randomOf(input).pick([
      ...wordsIn('gzip|deflate|br|x-gzip|gzip, br|identity|zstd'),
      undefined,
    ]);
    const decoded = await allowedAsync(() =>
      decodeBody(input, encoding, { maxBytes: 50_000, maxRatio: 200 }),
    );
    assert((decoded?.body.length ?? 0) <= 50_000, 'a body has at most the bytes that are allowed');
    const header = latin1(input.subarray(0, 200));
    splitContentType(header);
    parseHttpDate(header);
    basicRealm(header);
  },
};

export const updateMembers: FuzzTarget = {
  linear: false,
  generate: gzipMember,
  run: async (input) => {
    const inflater = new MemberInflater(
      new InflateBudget({ maxInflatedBytes: 100_000, maxInflateRatio: 1000 }),
    );
    let size = 0;
    await allowedAsync(async () => {
      for (const piece of cut(input, randomOf(input))) {
        if (inflater.ended) break;
        for await (const output of inflater.push(piece)) size += output.length;
      }
    });
    inflater.close();
    assert(size <= 200_000, `inflated ${size} bytes`);
  },
};

export const bulkClient: FuzzTarget = {
  linear: false,
  generate: (random) => {
    const plain = soifSections(random);
    if (random.once(2)) return Buffer.concat([Buffer.from(GREETING), plain]);
    const start = Buffer.from(`${VERSION}150 - gzip begin\n`, 'latin1');
    return Buffer.concat([start, gzipSync(plain), Buffer.from('151 - gzip end\n144 - \0\0\0\x01')]);
  },
  run: async (input) => {
    const decoder = { soif: { largeBytes: 1 + (input.length % 200) } };
    const options = { maxInflatedBytes: 100_000, maxInflateRatio: 1000, decoder, signal: undefined };
    await allowedAsync(async () => {
      const budget = new ReceiveBudget({});
      const large = new LargeLog({ open: async () => new MemoryLog() });
      const chunks = each(cut(input, randomOf(input)));
      for await (const events of readReply(chunks, { ...options, budget, large })) events.at(0);
    });
  },
};

export const cacheEntries: FuzzTarget = {
  linear: false,
  seeds: ['HARVEST-CACHE 1 30\n{"url":"http://a/","fetched":1}\nbody'],
  run: (input) => {
    allowed(() => decodeEntry(input, 'http://a/'));
  },
};

export const jsonLines: FuzzTarget = {
  linear: false,
  seeds: [
    '{"type":"FILE","url":"u","attributes":[{"name":"a","value":"b"}]}\n',
    '{"type":"X","urlBase64":"dQ==","section":"delete","attributes":[{"name":"a","base64":"Yg=="}]}\n',
  ],
  run: async (input) => {
    await allowedAsync(async () => {
      for await (const { bytes } of readJsonLines(each(cut(input, randomOf(input))), { maxLineBytes: 300 }))
        bytes.at(0);
    });
  },
};

export const soifChecks: FuzzTarget = {
  corpus: ['soif'],
  linear: false,
  generate: soifStream,
  run: async (input) => {
    for await (const { warnings } of checkSoif(each(cut(input, randomOf(input))))) warnings.at(0);
    for await (const { number } of checkAsOriginal(each([input])))
      assert(number > 0, 'attempts have numbers');
  },
};

export const ftpListings: FuzzTarget = {
  linear: false,
  seeds: [
    'drwxr-xr-x 2 ftp ftp 4096 Jan 01 1998 pub\r\n-rw-r--r-- 1 ftp ftp 5 Jan 01 12:00 a b\r\nlrwxrwxrwx 1 f f 1 Jan 1 1998 l -> a\r\n',
    '01-01-98  12:00AM       <DIR>          pub\r\n01-01-98  12:00AM                  5 a.txt\r\n',
    'type=dir;modify=19980101000000; pub\r\ntype=file;size=5;modify=19980101000000; a.txt\r\n',
    'total 5\n',
  ],
  run: async (input) => {
    const listing = await allowedAsync(() => parseListing(latin1(input), 3, 'h'));
    assert(listing === undefined || listing.files.length <= 3, 'at most the files that are allowed');
  },
};
