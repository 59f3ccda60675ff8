// ARC 1.1: a line with five fields, the document, a line end; documents only. test/peers/archive-tools.ts has
// warcio read it.
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { orderProblems } from '../../../servers/crawler/order/check-order.js';
import { ignoredSettings } from '../../../servers/crawler/order/ignored-settings.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { arcFileRecord } from '../../../servers/crawler/warc/arc-records.js';
import { indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { captureRecords, dnsRecord } from '../../../servers/crawler/warc/captures.js';
import { examineRecords } from '../../../servers/crawler/warc/complete-records.js';
import { type NewWarcRecord, newRecordId } from '../../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import { assertProperty } from '../../helpers/property.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const BEGIN = Date.UTC(2026, 10, 21, 21, 50, 4, 123);

function response(url: string, head: string, body: string): NewWarcRecord {
  return {
    type: 'response',
    id: newRecordId(),
    date: BEGIN,
    contentType: 'application/http; msgtype=response',
    fields: [
      ['WARC-Target-URI', url],
      ['WARC-IP-Address', '192.0.2.7'],
    ],
    block: [Buffer.from(head, 'latin1'), Buffer.from(body, 'latin1')],
  };
}

/** Reads records by their lengths alone. @throws Error if they are not exactly one after the other */
function readArc(bytes: Buffer): { line: string; content: string; offset: number }[] {
  const records: { line: string; content: string; offset: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\n', at);
    const line = bytes.toString('latin1', at, lineEnd);
    const fields = line.split(' ');
    const end = lineEnd + 1 + Number(fields[4]);
    if (fields.length !== 5 || bytes[end] !== 0x0a) throw new Error(`no record at ${at}: ${line}`);
    records.push({ line, content: bytes.toString('latin1', lineEnd + 1, end), offset: at });
    at = end + 1;
  }
  return records;
}

t.test('ARC 1.1: a file begins with its description; documents follow, others do not', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({
    directory,
    prefix: 'TEST',
    host: 'h',
    format: 'arc',
    now: () => BEGIN,
    info: { isPartOf: 'a & <b>\u0001', robots: 'classic', order: '{}' },
  });
  const written = await files.write([
    response(
      'http://a.test/x y',
      'HTTP/1.1 200 OK\r\ncontent-type:  Text/HTML; charset=x\r\n\r\n',
      'hello\n',
    ),
    { ...response('http://a.test/', 'GET / HTTP/1.1\r\n\r\n', ''), type: 'request' },
    { ...response('http://a.test/', '', 'via: x\r\n'), type: 'metadata' },
    dnsRecord('a.test', ['192.0.2.1'], BEGIN),
    response('http://a.test/none', 'HTTP/1.0 204 No\r\n\r\n', ''),
  ]);
  await files.close();
  const [name = ''] = readdirSync(directory);
  t.equal(name, 'TEST-20261121215004123-00000-h.arc.gz');
  const bytes = readFileSync(join(directory, name));
  const [description, ...documents] = readArc(gunzipSync(bytes));
  t.match(description?.line, new RegExp(`^filedesc://${name} 0\\.0\\.0\\.0 20261121215004 text/plain \\d+$`));
  const [version, definition, ...xml] = description?.content.split('\n') ?? [];
  t.equal(version, '1 1 InternetArchive');
  t.equal(definition, 'URL IP-address Archive-date Content-type Archive-length');
  t.match(xml.join('\n'), '<dcterms:isPartOf>a &#38; &#60;b&#62; </dcterms:isPartOf>');
  t.match(xml.join('\n'), '<arc:robots>classic</arc:robots>');
  t.match(xml.join('\n'), '<dc:description>order: {}</dc:description>');
  t.same(
    documents.map(({ line }) => line),
    [
      'http://a.test/x%20y 192.0.2.7 20261121215004 Text/HTML 62',
      'dns:a.test 0.0.0.0 20261121215004 text/dns 24',
      'http://a.test/none 192.0.2.7 20261121215004 no-type 20',
    ].map((line, i) => line.replace(/\d+$/, String(documents[i]?.content.length))),
  );
  t.match(documents[0]?.content, /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nhello\n$/s);
  t.equal(written.length, 3, 'a position for each document');
  for (const [i, { offset, length, recordId }] of written.entries()) {
    const member = gunzipSync(bytes.subarray(offset, offset + length));
    t.same(readArc(member)[0]?.line, documents[i]?.line, 'a gzip member of its own');
    t.equal(recordId, `arc:${name}/${offset}`);
  }
});

t.test('CRAWL-12.6 the record of a look-up: text/dns, the time in 14 digits, then the records', (t) => {
  const { type, contentType, fields, block } = dnsRecord('a.test', ['192.0.2.1', '2001:db8::1'], BEGIN);
  t.same([type, contentType, fields], ['resource', 'text/dns', [['WARC-Target-URI', 'dns:a.test']]]);
  t.equal(
    Buffer.concat(block).toString(),
    '20261121215004\na.test.\tIN\tA\t192.0.2.1\na.test.\tIN\tAAAA\t2001:db8::1\n',
  );
  t.end();
});

t.test('any document is read back, its index says where it is', async (t) => {
  const directory = await temporaryDirectory(t);
  const body = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  // Documents that look like records, and heads without an end.
  const tricky = fc.constantFrom(
    'http://a.test/ 1.2.3.4 20010101000000 text/html 5\nhello\n',
    '\n\n\n',
    'HTTP/1.1 200 OK\r\n',
    '',
  );
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.oneof(body, tricky), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      fc.boolean(),
      async (bodies, compress, isHttp) => {
        rmSync(directory, { recursive: true });
        const files = await WarcFiles.open({
          directory,
          format: 'arc',
          compression: compress ? 'gzip' : 'none',
          maxFileBytes: 3000,
          poolMaxActive: 2,
        });
        const head = isHttp ? 'HTTP/1.1 203 Fine\r\nContent-Type: a/b\r\n\r\n' : '';
        const positions = await Promise.all(
          bodies.map(async (text, i) => {
            const record = response(`${isHttp ? 'http' : 'gopher'}://a.test/${i}`, head, text);
            return (
              await files.write([isHttp ? record : { ...record, type: 'resource', contentType: 'a/b' }])
            )[0];
          }),
        );
        await files.close();
        const found: Record<string, string>[] = [];
        for (const name of readdirSync(directory)) {
          const { lines, damage } = await indexArchive(join(directory, name));
          t.same(damage, []);
          const raw = readFileSync(join(directory, name));
          t.equal(readArc(compress ? gunzipSync(raw) : raw).length, lines.length + 1);
          for (const line of lines)
            found.push(JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>);
        }
        t.equal(found.length, bodies.length);
        for (const { url = '', offset, length, filename, mime, status, digest } of found) {
          const i = Number(url.split('/').at(-1));
          t.same(
            { offset, length, filename },
            {
              offset: String(positions[i]?.offset),
              length: String((positions[i]?.length ?? 0) - (compress ? 0 : 1)),
              filename: positions[i]?.file,
            },
          );
          t.equal(mime, 'a/b');
          t.equal(status, isHttp ? '203' : undefined);
          const sha1 = createHash('sha1')
            .update(bodies[i] ?? '', 'latin1')
            .digest();
          t.equal(digest, `sha1:${base32(sha1)}`);
        }
      },
    ),
    { numRuns: 12 },
  );
});

/** Encodes bytes as base32 of RFC 4648, bit by bit. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five, 2)])
    .join('');
}

t.test('the documents of a killed writer are kept; the index goes on after damage', async (t) => {
  for (const compression of ['gzip', 'none'] as const) {
    const directory = await temporaryDirectory(t);
    const options = { directory, prefix: 'P', host: 'h', compression };
    const files = await WarcFiles.open({ ...options, format: 'arc' });
    const text = 'http://not a record\n'.repeat(3000);
    const positions = await files.write(
      [0, 1, 2, 3].map((i) => response(`http://a.test/${i}`, 'HTTP/1.1 200 OK\r\n\r\n', `${i}${text}`)),
    );
    await files.close();
    const [name = ''] = readdirSync(directory);
    const path = join(directory, name);
    const bytes = readFileSync(path);
    const last = positions[3]?.offset ?? 0;
    for (const cut of [last, last + 5, bytes.length - 1, bytes.length]) {
      writeFileSync(`${path}.open`, bytes.subarray(0, cut));
      rmSync(path, { force: true });
      const kept = cut === bytes.length ? cut : last;
      await using next = await WarcFiles.open(options);
      t.same(
        next.recovered,
        [{ file: name, bytes: kept, cut: cut - kept, damaged: [] }],
        `${compression}, ${cut}`,
      );
    }
    const { offset = 0, length = 0 } = positions[1] ?? {};
    // In the compressed bytes, or in the first line.
    const damaged = Buffer.from(bytes);
    const at = offset + (compression === 'gzip' ? 40 : 2);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0x80, at);
    writeFileSync(path, damaged);
    const { lines, damage } = await indexArchive(path);
    t.equal(lines.length, 3);
    t.match(damage, [{ start: offset, end: offset + length }]);
    await using file = await openRegular(path);
    t.same(await examineRecords(file, { compression, format: 'arc' }), {
      length: bytes.length,
      damage: [offset],
    });
    renameSync(path, `${path}.open`);
    appendFileSync(`${path}.open`, 'http://a.test/ 1.2.3.4 20010101000000 text/html 50\nshort');
    await using again = await WarcFiles.open(options);
    t.match(again.recovered, [{ bytes: bytes.length, damaged: [offset] }]);
  }
});

t.test('an order writes ARC files; bodies that are known are written again, or skipped', async (t) => {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start({
    '/': page('Start', ['/a']),
    '/a': ({ headers }, response) => {
      if (headers['if-none-match'] === '"1"') response.writeHead(304, { etag: '"1"' }).end();
      else response.writeHead(200, { etag: '"1"', 'content-type': 'text/html' }).end(page('A', []));
    },
  });
  const documents = async (skipIdenticalDigests: boolean, round: number) => {
    const arcs = join(directory, String(skipIdenticalDigests));
    await crawlOrdered(join(directory, `g${skipIdenticalDigests}`), `${site.url}/`, {
      profile: 'archive',
      warc: {
        directory: arcs,
        format: 'arc',
        compress: false,
        skipIdenticalDigests,
        digestHistory: skipIdenticalDigests,
      },
    });
    const names = readdirSync(arcs)
      .filter((name) => name.endsWith('.arc'))
      .sort();
    t.equal(names.length, round);
    return readArc(readFileSync(join(arcs, names.at(-1) ?? '')))
      .slice(1)
      .map(({ line, content }) =>
        [line.split(' ')[0]?.replace(site.url, ''), / (\d{3}) /.exec(content)?.[1]].join(' '),
      )
      .filter((text) => !text.startsWith('/robots.txt'))
      .sort();
  };
  for (const skip of [false, true]) {
    t.same(await documents(skip, 1), ['/ 200', '/a 200']);
    t.same(await documents(skip, 2), skip ? ['/a 304'] : ['/ 200', '/a 304']);
  }
});

t.test('an order for ARC files is checked', async (t) => {
  const order = (warc: object) =>
    crawlOrderSchema.parse({ warc: { directory: 'arcs', format: 'arc', ...warc } });
  t.match(orderProblems(order({ compression: 'zstd' })), [
    { path: ['warc', 'compression'], problem: /^ARC files/ },
  ]);
  t.match(ignoredSettings(order({ digestHistory: true })), [{ path: ['warc', 'digestHistory'] }]);
  t.same(ignoredSettings(order({ digestHistory: true, skipIdenticalDigests: true })), []);
  const directory = await temporaryDirectory(t);
  await t.rejects(WarcFiles.open({ directory, format: 'arc', compression: 'zstd' }), { code: 'ERR_USAGE' });
});

t.test('WARC 1.1, 6.7: a revisit of a body in an ARC file names its URI and date', async (t) => {
  const body = Buffer.from('x');
  const fetched = {
    url: 'http://a.test/',
    status: 200,
    headers: {},
    lastModified: 0,
    etag: '',
    body,
    truncated: false,
    local: false,
    beginTime: BEGIN,
    endTime: BEGIN,
  };
  const { records, kind } = captureRecords(fetched, {
    kind: 'identical-payload-digest',
    url: 'http://a.test/first',
    date: BEGIN,
    recordId: 'arc:x.arc.gz/100',
    payloadDigest: captureRecords(fetched).payloadDigest,
  });
  t.equal(kind, 'identical-payload-digest');
  const fields = new Map(records[0]?.fields);
  t.notOk(fields.has('WARC-Refers-To'));
  t.equal(fields.get('WARC-Refers-To-Target-URI'), 'http://a.test/first');
});

t.test('the description has no characters that XML cannot have', async (t) => {
  const { begin } = arcFileRecord('x', 0, [['order', '\u0000\ud800\u{1f600}\ufffe<&>']]);
  const text = Buffer.concat(begin).toString();
  t.match(text, '<dc:description>order:   \u{1f600} &#60;&#38;&#62;</dc:description>');
});
