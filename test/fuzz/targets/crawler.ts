// What the Gatherer and the crawler read: journals, crawl orders, WARC files, listings, and the files of
// Essence's rules.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { repairGzipMembers } from '../../../servers/crawler/journal/gzip-members.js';
import { formatJournalLine, parseJournalLine } from '../../../servers/crawler/journal/journal-line.js';
import { readJournal } from '../../../servers/crawler/journal/journal-reader.js';
import { readOrderXml } from '../../../servers/crawler/order/order-xml.js';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { examineRecords } from '../../../servers/crawler/warc/complete-records.js';
import { parseMagic } from '../../../servers/essence/recognition/magic-file.js';
import {
  parseQuickRules,
  parseTypeList,
  parseTypeRules,
} from '../../../servers/essence/recognition/type-rules.js';
import { parsePostRules } from '../../../servers/essence/rules/parse.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { CONVERTERS } from '../../../servers/essence/unnest/converters.js';
import { listedUrls } from '../../../servers/gatherer/enumerate/listing.js';
import { rawZstdFrame } from '../../helpers/zstd.js';
import { markup } from '../generators/documents.js';
import { gzipMember } from '../generators/gzip.js';
import { scratchFile } from '../scratch.js';
import { allowed, allowedAsync, assert, bytesOf, type FuzzTarget, latin1, shown, utf8 } from '../target.js';

const JOURNAL = 'F+ http://a/  \nFs http://a/ L http://b/\nFe http://c/\nT 20260101000000\nE note\n';

export const journals: FuzzTarget = {
  linear: false,
  seeds: [JOURNAL, new Uint8Array(gzipSync(JOURNAL)), new Uint8Array(gzipSync(JOURNAL).subarray(0, 50))],
  generate: (random) =>
    random.once(2)
      ? gzipMember(random)
      : bytesOf(random.list(9, () => random.pick(JOURNAL.split('\n'))).join('\n')),
  run: async (input) => {
    for (const line of utf8(input).split('\n')) {
      const event = parseJournalLine(line);
      if (event === undefined) continue;
      const again = parseJournalLine(formatJournalLine(event));
      if (event.tag !== 'E' && event.tag !== 'T')
        assert(again?.tag === event.tag, `a written event is read: ${shown(event)}`);
    }
    const path = scratchFile('journal.gz', input);
    await allowedAsync(async () => {
      for await (const event of readJournal(path, { maxLineLength: 200, onBadLine: () => undefined }))
        event.tag;
    });
    await allowedAsync(() => repairGzipMembers(path));
  },
};

const XML_ORDER = `<?xml version="1.0"?>
<crawl-order><meta><name>n</name></meta><controller>
<integer name="max-toe-threads">5</integer><newObject name="scope" class="org.archive.crawler.scope.HostScope"><boolean name="enabled">true</boolean></newObject>
<map name="http-headers"><string name="user-agent">x</string></map>
<newObject name="frontier" class="org.archive.crawler.frontier.BdbFrontier"><float name="delay-factor">4.0</float></newObject>
</controller></crawl-order>`;

export const orderXml: FuzzTarget = {
  seeds: [XML_ORDER, XML_ORDER.replaceAll('\n', '')],
  generate: (random) => markup(random, XML_ORDER.split(/(?=<)/)),
  run: (input) => {
    allowed(() =>
      readOrderXml(utf8(input), 'order.xml', [{ host: 'a.test', text: latin1(input), file: 'settings.xml' }]),
    );
  },
};

export const orderJson: FuzzTarget = {
  seeds: [
    '{ // c\n"name": "x", "seeds": ["http://a/"], "settings": {"delayFactor": 2,}, "sheets": [{"name":"s","surts":["http://(org,"]}] }',
    '{"scope":[{"rule":"all","answer":"ACCEPT"},{"rule":"matches","answer":"REJECT","patterns":["a+"]}]}',
  ],
  run: (input) => {
    allowed(() => readOrder(utf8(input), 'order.json'));
  },
};

const RECORD = 'WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n';

const CAPTURE =
  'WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:a>\r\nWARC-Date: 2001-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: application/http\r\nContent-Length: 21\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab\r\n\r\n';
const ARC =
  'filedesc://x.arc 0.0.0.0 20010101000000 text/plain 3\n1 1\nhttp://a.test/ 1.2.3.4 20010101000000 text/html 21\nHTTP/1.1 200 OK\r\n\r\nab\n';

export const warcFiles: FuzzTarget = {
  linear: false,
  seeds: [
    RECORD + RECORD,
    CAPTURE + CAPTURE,
    ARC,
    new Uint8Array(gzipSync(RECORD)),
    new Uint8Array(gzipSync(CAPTURE)),
    rawZstdFrame(Buffer.from(CAPTURE)),
  ],
  generate: gzipMember,
  run: async (input) => {
    const path = scratchFile('x.warc', input);
    await using file = await open(path, constants.O_RDONLY);
    for (const compression of ['none', 'gzip', 'zstd'] as const) {
      const { length } = await examineRecords(file, { compression });
      assert(length >= 0 && length <= input.length, `${length} of ${input.length} bytes are complete`);
    }
    for (const name of ['x.warc', 'x.warc.gz', 'x.warc.zst', 'x.arc', 'x.arc.gz']) {
      const { lines, damage } = await indexArchive(scratchFile(name, input));
      for (const line of lines) JSON.parse(line.slice(line.indexOf('{')));
      for (const { start, end } of damage)
        assert(0 <= start && start < end && end <= input.length, `${start} to ${end} of ${input.length}`);
    }
  },
};

export const listings: FuzzTarget = {
  linear: false,
  seeds: [
    '<?xml version="1.0"?><urlset><url><loc>http://a.test/x</loc><lastmod>2026-01-01</lastmod></url></urlset>',
    '<rss><channel><item><link>http://a.test/</link></item></channel></rss>',
    '<feed><entry><link href="http://a.test/"/></entry></feed>',
    'http://a.test/1\nhttp://a.test/2\n',
    'Sitemap: http://a.test/s.xml\n',
    new Uint8Array(gzipSync('http://a.test/\n')),
  ],
  run: async (input) => {
    const { urls } = await listedUrls(input, { url: 'http://a.test/x.xml', maxEntries: 20, maxBytes: 9000 });
    assert(urls.length <= 20, 'at most the entries that are allowed');
  },
};

/** Files that an administrator writes for Essence, and the lists of objects that documents may be. */
export const essenceFiles: FuzzTarget = {
  seeds: [
    'HTML\t^.*\\.html$\n',
    '0\tstring\t%PDF\tPdf\n>4\tbyte\t1\tx\n0 belong&0xff 0x5 y\n',
    'Title = "x" { delete }\n',
    '<a href>\tURL\n<title> Title,Keywords\n',
    'Text\tTitle\t^Subject: (.*)\n',
    'if URL ~ "x" then\n Title = y\n',
    'Begin3\nTitle: x\nEnd\n',
  ],
  run: (input) => {
    // Each line may be an expression, whose compilation takes a fixed price: 5000 of them, seven times, are
    // about a second.
    const text = latin1(input.subarray(0, 1 << 14));
    allowed(() => parseTypeRules(text, 'f').match('x.html'));
    allowed(() => parseTypeList(text, 'f'));
    allowed(() => parseQuickRules(text, 'f'));
    allowed(() => parseMagic(text, 'f').describe(input));
    allowed(() => parsePostRules(text, 'f'));
    allowed(() => parseExtractionTable(text, 'f'));
    for (const convert of CONVERTERS.values()) allowed(() => [...convert(text, 'http://a.test/x')]);
  },
};
