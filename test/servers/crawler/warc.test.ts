// WARC files: their records, rolling, and recovery after a crash. zcat, warcio and an independent checker read
// the output of the writer.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { WARCParser } from 'warcio';
import { type FetchResult, HttpFetcher } from '../../../clients/fetch/index.js';
import { captureRecords, metadataRecord } from '../../../servers/crawler/warc/captures.js';
import { sha1Base32 } from '../../../servers/crawler/warc/digest.js';
import { type NewWarcRecord, newRecordId } from '../../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { assertProperty } from '../../helpers/property.js';
import { Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** 2026-11-21T21:50:04.123Z, in milliseconds. */
const BEGIN = Date.UTC(2026, 10, 21, 21, 50, 4, 123);

/** Returns the result of a fetch of a small text. */
function fetched(extra: Partial<FetchResult> & { readonly text?: string } = {}): FetchResult {
  const { text = 'hello\n', ...rest } = extra;
  return {
    url: 'http://example.org/a',
    status: 200,
    headers: { 'content-type': 'text/plain', 'content-length': '6', 'x-name': 'caf\xe9' },
    contentType: 'text/plain',
    lastModified: 0,
    etag: '',
    body: Buffer.from(text, 'latin1'),
    truncated: false,
    local: false,
    beginTime: BEGIN,
    endTime: BEGIN + 42,
    remoteAddress: '192.0.2.7',
    ...rest,
  };
}

/** A record that the checker has read. */
interface CheckedRecord {
  readonly fields: ReadonlyMap<string, string>;
  readonly block: Buffer;
}

/**
 * Reads records and throws if one violates ISO 28500, 4: version, fields, empty line, block of Content-Length
 * bytes, two empty lines, and nothing else.
 */
function checkRecords(bytes: Buffer): CheckedRecord[] {
  const records: CheckedRecord[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', offset);
    const [version, ...lines] = bytes.subarray(offset, headEnd).toString('utf8').split('\r\n');
    if (version !== 'WARC/1.1') throw new Error(`no record at ${offset}: ${version}`);
    const fields = new Map<string, string>();
    for (const line of lines) {
      const [, name = '', value = ''] = /^([!-9;-~]+): ([^\r\n]*)$/.exec(line) ?? [];
      if (name === '' || fields.has(name))
        throw new Error(`the field ${JSON.stringify(line)} is malformed or repeated`);
      fields.set(name, value);
    }
    const blockEnd = headEnd + 4 + Number(fields.get('Content-Length'));
    const block = bytes.subarray(headEnd + 4, blockEnd);
    if (bytes.subarray(blockEnd, blockEnd + 4).toString('latin1') !== '\r\n\r\n')
      throw new Error('no end of the record');
    if (!/^<urn:uuid:[-0-9a-f]{36}>$/.test(fields.get('WARC-Record-ID') ?? '')) throw new Error('no ID');
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(fields.get('WARC-Date') ?? ''))
      throw new Error('no date');
    const digest = fields.get('WARC-Block-Digest');
    if (digest !== undefined && digest !== `sha1:${base32(createHash('sha1').update(block).digest())}`)
      throw new Error('the digest of the block is wrong');
    records.push({ fields, block });
    offset = blockEnd + 4;
  }
  return records;
}

/** Encodes bytes as base32 of RFC 4648, bit by bit. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five, 2)])
    .join('');
}

/** Returns the name of the only file in a directory. */
function onlyFile(directory: string): string {
  const names = readdirSync(directory);
  if (names.length !== 1) throw new Error(`one file was expected: ${names}`);
  return names[0]!;
}

/** Returns a resource record of a text. */
function plainRecord(text: string): NewWarcRecord {
  return {
    type: 'resource',
    id: newRecordId(),
    date: BEGIN,
    contentType: 'text/plain',
    fields: [['WARC-Target-URI', 'gopher://example.org/0/a']],
    block: [Buffer.from(text)],
  };
}

t.test('CRAWL-16.1 field 10: a digest is sha1: and 32 letters of base32', async (t) => {
  t.equal(sha1Base32(new Uint8Array()), 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
  t.equal(sha1Base32(Buffer.from('hello\n')), 'sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP');
  assertProperty(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      return sha1Base32(bytes) === `sha1:${base32(createHash('sha1').update(bytes).digest())}`;
    }),
    { numRuns: 100 },
  );
});

t.test('WARC 1.1: a file has a warcinfo record, then captures, one gzip member each', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({
    directory,
    prefix: 'TEST',
    host: 'crawl er/1',
    now: () => BEGIN,
    info: { isPartOf: 'crawl\r\nWARC-Bad: 1' },
  });
  const wire = {
    request: Buffer.from(
      'GET /a HTTP/1.1\r\nhost: example.org\r\nAuthorization: Basic secret\r\nproxy-authorization: secret\r\nCookie: c=1\r\n\r\n',
    ),
    head: Buffer.from(
      'HTTP/1.0 200 Fine\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Name: caf\xe9\r\n\r\n',
      'latin1',
    ),
    body: Buffer.from('hello\n'),
    truncated: false,
  };
  const capture = captureRecords(fetched({ url: 'http://u:secret@example.org/a,,,b', wire }));
  const [responseLocation, requestLocation] = await files.write(capture.records);
  t.match(onlyFile(directory), /^TEST-20261121215004123-00000-crawl-er-1\.warc\.gz\.open$/);
  const [metadataLocation] = await files.write([
    metadataRecord({
      url: 'http://example.org/a,,,b',
      date: BEGIN,
      concurrentTo: capture.id,
      via: 'http://u:secret@example.org/',
      hopsFromSeed: 'LE',
      sourceTag: '',
      fetchTimeMs: 42,
      outLinks: [{ url: 'http://example.org/c', hop: 'L' }],
    }),
  ]);
  await files.close();
  t.match(onlyFile(directory), /^TEST-20261121215004123-00000-crawl-er-1\.warc\.gz$/);

  const path = join(directory, responseLocation!.file);
  const bytes = readFileSync(path);
  const unpacked = spawnSync('zcat', [path]).stdout;
  const records = checkRecords(unpacked);
  t.same(
    records.map(({ fields }) => fields.get('WARC-Type')),
    ['warcinfo', 'response', 'request', 'metadata'],
  );
  // Each record is a separate gzip member at the offset that the writer reports.
  t.equal(responseLocation!.offset + responseLocation!.length, requestLocation!.offset);
  t.equal(metadataLocation!.offset + metadataLocation!.length, bytes.length);
  for (const [index, location] of [responseLocation!, requestLocation!, metadataLocation!].entries()) {
    const [record, ...more] = checkRecords(
      gunzipSync(bytes.subarray(location.offset, location.offset + location.length)),
    );
    t.same(more, []);
    t.same(record, records[index + 1]);
    t.equal(record?.fields.get('WARC-Record-ID'), location.recordId);
  }

  const [info, response, request, metadata] = records;
  t.equal(info?.fields.get('WARC-Filename'), responseLocation!.file);
  t.match(info?.block.toString(), /^software: harvest-kit\r\nformat: WARC File Format 1\.1\r\n/);
  t.match(info?.block.toString(), '\r\nisPartOf: crawl WARC-Bad: 1\r\n', 'line ends in values are replaced');
  t.equal(
    response?.fields.get('WARC-Target-URI'),
    'http://example.org/a,,,b',
    'as fetched, without credentials',
  );
  t.equal(response?.fields.get('WARC-Date'), '2026-11-21T21:50:04.123Z');
  t.equal(response?.fields.get('WARC-IP-Address'), '192.0.2.7');
  t.equal(response?.fields.get('Content-Type'), 'application/http; msgtype=response');
  t.equal(response?.fields.get('WARC-Payload-Digest'), 'sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP');
  t.equal(response?.fields.get('WARC-Warcinfo-ID'), info?.fields.get('WARC-Record-ID'));
  t.equal(
    response?.block.toString('latin1'),
    'HTTP/1.0 200 Fine\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Name: caf\xe9\r\n\r\nhello\n',
    'as it was sent',
  );
  t.equal(
    request?.block.toString(),
    'GET /a HTTP/1.1\r\nhost: example.org\r\nCookie: c=1\r\n\r\n',
    'without logins',
  );
  t.equal(request?.fields.get('WARC-Concurrent-To'), capture.id);
  t.equal(metadata?.fields.get('WARC-Concurrent-To'), capture.id);
  t.equal(
    metadata?.block.toString(),
    'via: http://example.org/\r\nhopsFromSeed: LE\r\nfetchTimeMs: 42\r\noutlink: http://example.org/c L\r\n',
  );
  t.notMatch(unpacked.toString('latin1'), 'secret');

  // warcio reads the same records.
  const seen: string[] = [];
  for await (const record of new WARCParser([bytes])) {
    const text = Buffer.from(await record.readFully(true)).toString('latin1');
    seen.push(`${record.warcType} ${record.httpHeaders?.statusCode ?? ''} ${text.length}`);
  }
  t.same(seen, [
    `warcinfo  ${info?.block.length}`,
    'response 200 6',
    // warcio takes the second word of the request line for the status code.
    'request NaN 0',
    `metadata  ${metadata?.block.length}`,
  ]);
});

t.test('WARC 1.1, 6.4: a document of another scheme is a resource; a truncated body is marked', async (t) => {
  const gopher = captureRecords(fetched({ url: 'gopher://example.org/0/a', headers: {} }));
  t.equal(gopher.kind, 'resource');
  t.equal(gopher.records[0]?.contentType, 'text/plain');
  t.equal(Buffer.concat(gopher.records[0]!.block).toString(), 'hello\n');
  t.equal(captureRecords(fetched({ local: true })).kind, 'resource', 'a local file has no HTTP head');
  const wire = { request: Buffer.from(''), head: Buffer.from(''), body: Buffer.from('x'), truncated: true };
  // The second one is a document whose chunks alone were too long.
  for (const cut of [fetched({ truncated: true }), fetched({ wire, truncated: false })]) {
    const fields = captureRecords(cut).records[0]?.fields;
    t.ok(fields?.some(([name, value]) => name === 'WARC-Truncated' && value === 'length'));
  }
});

t.test('the head of a decoded body has the decoded length and x-orig fields', async (t) => {
  const headers = { 'content-encoding': 'gzip', 'content-length': '26', 'transfer-encoding': 'chunked' };
  const { records } = captureRecords(fetched({ headers }));
  t.equal(
    Buffer.concat(records[0]!.block).toString(),
    'HTTP/1.1 200 OK\r\nx-orig-content-encoding: gzip\r\nx-orig-content-length: 26\r\n' +
      'x-orig-transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\nhello\n',
  );
  const undecoded = captureRecords(fetched({ headers, undecoded: 'incorrect header check' })).records[0];
  t.equal(
    Buffer.concat(undecoded!.block).toString(),
    'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nx-orig-content-length: 26\r\n' +
      'x-orig-transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\nhello\n',
    'a body that cannot be decoded keeps its coding',
  );
});

t.test('a page that was transferred in gzip is read back decoded', async (t) => {
  const directory = await temporaryDirectory(t);
  const body = '<html><title>d\u00e9j\u00e0 vu</title></html>';
  await using site = await Site.start({
    '/page': (_, response) => {
      const headers = { 'Content-Encoding': 'gzip', 'X-Name': 'caf\xe9', 'Content-Type': 'text/html' };
      response.writeHead(200, headers).end(gzipSync(body));
    },
  });
  await using fetcher = new HttpFetcher({ userAgent: 'test/1' });
  const result = await fetcher.fetch({ url: `${site.url}/page` });
  await using files = await WarcFiles.open({ directory });
  const [location] = await files.write(captureRecords(result).records);
  await files.roll();
  const path = join(directory, location!.file);
  const record = checkRecords(spawnSync('zcat', [path]).stdout)[1];
  t.equal(record?.fields.get('WARC-IP-Address'), '127.0.0.1');
  const [head = '', text = ''] = record?.block.toString('latin1').split('\r\n\r\n') ?? [];
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/);
  t.match(head, '\r\nx-orig-content-encoding: gzip\r\n');
  t.match(head, '\r\nx-name: caf\xe9\r\n', 'the byte is that of the server');
  t.match(head, new RegExp(`\r\ncontent-length: ${Buffer.byteLength(body)}$`));
  t.equal(Buffer.from(text, 'latin1').toString('utf8'), body);
  // warcio must not try to decode the body again.
  const texts: string[] = [];
  for await (const read of new WARCParser([readFileSync(path)])) {
    const content = await read.contentText();
    if (read.warcType === 'response') texts.push(content);
  }
  t.same(texts, [body]);
});

t.test('WARC 1.1, 6.3, 6.5: messages as they went over the wire, for other programs', async (t) => {
  const directory = await temporaryDirectory(t);
  const body = '<html><title>d\u00e9j\u00e0 vu</title></html>';
  const coded = gzipSync(body);
  await using site = await Site.start({
    // Without a length, so that it is sent in chunks.
    '/page': (_, response) => {
      response.writeHead(200, {
        'Content-Encoding': 'gzip',
        'Content-Type': 'text/html',
        'Set-Cookie': ['a=1', 'b=2'],
      });
      response.write(coded.subarray(0, 10));
      response.end(coded.subarray(10));
    },
  });
  await using fetcher = new HttpFetcher({ userAgent: 'test/1' });
  for (const keepWire of ['framing', 'messages'] as const) {
    await using files = await WarcFiles.open({ directory: join(directory, keepWire) });
    const result = await fetcher.fetch({ url: `${site.url}/page`, keepWire });
    t.equal(Buffer.from(result.body).toString(), body);
    const { records, payloadDigest } = captureRecords(result);
    t.equal(payloadDigest, sha1Base32(coded), 'WARC 1.1, 2.2: the payload has its content coding');
    const [location] = await files.write(records);
    await files.roll();
    const path = join(directory, keepWire, location!.file);
    const [, response, request] = checkRecords(spawnSync('zcat', [path]).stdout);
    const block = response?.block.toString('latin1') ?? '';
    t.match(block, /\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
    t.match(block, /\r\nContent-Encoding: gzip\r\n/);
    const transferCoding = keepWire === 'framing' ? 'Transfer-Encoding' : 'x-orig-transfer-encoding';
    t.match(block, `\r\n${transferCoding}: chunked\r\n`);
    const content = block.slice(block.indexOf('\r\n\r\n') + 4);
    if (keepWire === 'framing') t.match(content, /^a\r\n.*\r\n0\r\n\r\n$/s);
    else t.equal(content, coded.toString('latin1'));
    t.equal(
      request?.block.toString(),
      `GET /page HTTP/1.1\r\nhost: 127.0.0.1:${site.port}\r\nconnection: keep-alive\r\nuser-agent: test/1\r\naccept: */*\r\naccept-encoding: gzip, br, deflate\r\n\r\n`,
    );
    const texts: string[] = [];
    for await (const read of new WARCParser([readFileSync(path)])) {
      const text = await read.contentText();
      if (read.warcType === 'response') texts.push(text);
    }
    t.same(texts, [body], `warcio, ${keepWire}`);
  }
});

t.test('CRAWL-18.6, WARC 1.1, 6.7: an identical payload is a revisit of a known record', async (t) => {
  const earlier = {
    url: 'http://example.org/first',
    date: BEGIN - 1000,
    recordId: '<urn:uuid:00000000-0000-4000-8000-000000000000>',
    payloadDigest: 'sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP',
  };
  const same = captureRecords(fetched(), { ...earlier, kind: 'identical-payload-digest' });
  t.equal(same.kind, 'identical-payload-digest');
  const fields = new Map(same.records[0]?.fields);
  t.equal(fields.get('WARC-Profile'), 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest');
  t.equal(fields.get('WARC-Refers-To'), earlier.recordId);
  t.equal(fields.get('WARC-Refers-To-Target-URI'), 'http://example.org/first');
  t.equal(fields.get('WARC-Refers-To-Date'), '2026-11-21T21:50:03.123Z');
  t.equal(fields.get('WARC-Payload-Digest'), earlier.payloadDigest);
  t.match(Buffer.concat(same.records[0]!.block).toString(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/);

  const unwritten = { ...earlier, recordId: '', kind: 'identical-payload-digest' as const };
  t.equal(captureRecords(fetched(), unwritten).kind, 'response', 'no earlier record: written again');
  const other = { ...earlier, payloadDigest: 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ' };
  t.equal(
    captureRecords(fetched(), { ...other, kind: 'identical-payload-digest' }).kind,
    'response',
    'CRAWL-18.7: only the stripped digest is equal, not the payload',
  );
  const unmodified = captureRecords(fetched({ status: 304, text: '', headers: { etag: '"1"' } }), {
    ...earlier,
    kind: 'server-not-modified',
  });
  const profile = new Map(unmodified.records[0]?.fields).get('WARC-Profile');
  t.equal(profile, 'http://netpreserve.org/warc/1.1/revisit/server-not-modified');
  t.equal(
    Buffer.concat(unmodified.records[0]!.block).toString(),
    'HTTP/1.1 304 Not Modified\r\netag: "1"\r\n\r\n',
  );
});

t.test('files are rolled, one write at a time, and every record can be read', async (t) => {
  const directory = await temporaryDirectory(t);
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.array(fc.string({ maxLength: 400 }), { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      fc.boolean(),
      async (groups, compress) => {
        rmSync(directory, { recursive: true });
        const files = await WarcFiles.open({
          directory,
          compression: compress ? 'gzip' : 'none',
          maxFileBytes: 2000,
          now: () => BEGIN,
        });
        const locations = await Promise.all(groups.map((texts) => files.write(texts.map(plainRecord))));
        await files.close();
        const names = readdirSync(directory).sort();
        if (names.some((name) => name.endsWith('.open'))) return false;
        const found: string[] = [];
        for (const name of names) {
          const bytes = readFileSync(join(directory, name));
          const [info, ...records] = checkRecords(compress ? gunzipSync(bytes) : bytes);
          if (info?.fields.get('WARC-Type') !== 'warcinfo') return false;
          if (info.fields.get('WARC-Filename') !== name) return false;
          for (const { block } of records) found.push(block.toString());
        }
        const inOneFile = locations.every((group) => new Set(group.map(({ file }) => file)).size === 1);
        return inOneFile && JSON.stringify(found) === JSON.stringify(groups.flat());
      },
    ),
    { numRuns: 30 },
  );
});

t.test('a waiting write can be aborted, too many are rejected, a closed writer rejects', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory, maxWaiting: 2 });
  const aborting = new AbortController();
  const first = files.write([plainRecord('one')]);
  const second = files.write([plainRecord('two')], aborting.signal);
  await t.rejects(files.write([plainRecord('three')]), { code: 'ERR_STATE' });
  aborting.abort(new Error('enough'));
  await t.rejects(second, { message: 'enough' });
  await first;
  await files.roll();
  await files.write([plainRecord('four')]);
  await files.close();
  await files.close();
  await t.rejects(files.write([plainRecord('five')]), { code: 'ERR_STATE' });
  const texts = readdirSync(directory)
    .sort()
    .map((name) =>
      checkRecords(gunzipSync(readFileSync(join(directory, name))))
        .at(-1)
        ?.block.toString(),
    );
  t.same(texts, ['one', 'four']);
});

t.test('a record that cannot be written leaves no bytes', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory });
  await files.write([plainRecord('one')]);
  const invalid = { ...plainRecord('invalid'), date: Number.NaN };
  await t.rejects(files.write([plainRecord('two'), invalid]), { code: 'ERR_STORAGE' });
  await files.write([plainRecord('three')]);
  await files.close();
  const records = checkRecords(gunzipSync(readFileSync(join(directory, onlyFile(directory)))));
  t.same(
    records.slice(1).map(({ block }) => block.toString()),
    ['one', 'three'],
  );
  const fresh = await WarcFiles.open({ directory: join(directory, 'fresh') });
  await t.rejects(fresh.write([invalid]), { code: 'ERR_STORAGE' });
  await fresh.close();
  await t.rejects(WarcFiles.open({ directory: join(directory, finishedWarc(directory), 'x') }), {
    code: 'ERR_STORAGE',
  });
  await t.rejects(WarcFiles.open({ directory, prefix: '../x' }), TypeError);
});

/** Returns the name of the finished WARC file of a directory. */
function finishedWarc(directory: string): string {
  return readdirSync(directory).find((name) => name.endsWith('.gz'))!;
}

t.test('the complete records of an .open file are kept, whatever follows them', async (t) => {
  for (const compress of [true, false]) {
    const source = await temporaryDirectory(t);
    const files = await WarcFiles.open({
      directory: source,
      prefix: 'P',
      host: 'h',
      compression: compress ? 'gzip' : 'none',
      now: () => BEGIN,
    });
    const [one] = await files.write([plainRecord('one'.repeat(100))]);
    const [two] = await files.write([plainRecord('two'.repeat(100))]);
    await files.close();
    const name = onlyFile(source);
    const bytes = readFileSync(join(source, name));
    const directory = await temporaryDirectory(t);
    const cuts = [0, 5, one!.offset, one!.offset + 3, two!.offset - 1, two!.offset, two!.offset + 12];
    cuts.push(two!.offset + two!.length - 9, two!.offset + two!.length - 1, bytes.length);
    for (const cut of cuts) {
      writeFileSync(join(directory, `${name}.open`), bytes.subarray(0, cut));
      const next = await WarcFiles.open({
        directory,
        prefix: 'P',
        host: 'h',
        compression: compress ? 'gzip' : 'none',
      });
      const ends = [0, one!.offset, two!.offset, bytes.length];
      const kept = Math.max(...ends.filter((end) => end <= cut));
      t.same(next.recovered, [{ file: name, bytes: kept, cut: cut - kept, damaged: [] }], `cut at ${cut}`);
      t.same(readdirSync(directory), kept === 0 ? [] : [name]);
      if (kept > 0) t.ok(readFileSync(join(directory, name)).equals(bytes.subarray(0, kept)));
      await next.close();
      rmSync(join(directory, name), { force: true });
    }
    // A power failure may leave bytes that were never written: zeros, or others.
    for (const garbage of [
      Buffer.alloc(5000),
      Buffer.from('WARC/1.1\r\n\r\n'),
      gzipSync('x').subarray(0, 18),
    ]) {
      writeFileSync(join(directory, `${name}.open`), bytes);
      appendFileSync(join(directory, `${name}.open`), garbage);
      const next = await WarcFiles.open({
        directory,
        prefix: 'P',
        host: 'h',
        compression: compress ? 'gzip' : 'none',
      });
      t.same(next.recovered, [{ file: name, bytes: bytes.length, cut: garbage.length, damaged: [] }]);
      await next.close();
    }
    // A file with another prefix belongs to another crawl.
    writeFileSync(join(directory, `Q-20261121215004123-00000-h.warc.gz.open`), 'x');
    const last = await WarcFiles.open({
      directory,
      prefix: 'P',
      host: 'h',
      compression: compress ? 'gzip' : 'none',
    });
    t.same(last.recovered, []);
    await last.close();
  }
});

t.test('the recovery of an .open file keeps complete records of any length', async (t) => {
  const source = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory: source, prefix: 'P', host: 'h' });
  // Some records fit in one read, some span two, and one is longer than any read.
  const texts = [
    'short',
    'x'.repeat(17 << 20),
    ...Array.from({ length: 6 }, () => randomHex(300_000)),
    randomHex(3e6),
  ];
  const locations = await files.write([...texts.map(plainRecord), plainRecord('last')]);
  await files.close();
  const name = onlyFile(source);
  const bytes = readFileSync(join(source, name));
  const last = locations.at(-1)!;
  const long = locations.at(-2)!;
  const directory = await temporaryDirectory(t);
  for (const [cut, kept] of [
    [bytes.length, bytes.length],
    [bytes.length - 1, last.offset],
    [last.offset - 1, long.offset],
  ] as const) {
    writeFileSync(join(directory, `${name}.open`), bytes.subarray(0, cut));
    await using next = await WarcFiles.open({ directory, prefix: 'P', host: 'h' });
    t.same(next.recovered, [{ file: name, bytes: kept, cut: cut - kept, damaged: [] }]);
  }
});

/** Returns random text that compresses to about half its length. */
function randomHex(length: number): string {
  return randomBytes(length / 2).toString('hex');
}

t.test('after kill -9 the next start finds complete records only', async (t) => {
  const directory = await temporaryDirectory(t);
  const warc = new URL('../../../servers/crawler/warc/', import.meta.url).href;
  const program = `
    import { randomBytes } from 'node:crypto';
    import { WarcFiles } from ${JSON.stringify(`${warc}warc-files.js`)};
    import { newRecordId } from ${JSON.stringify(`${warc}new-record.js`)};
    const files = await WarcFiles.open({ directory: process.argv[1], maxFileBytes: 1e9 });
    for (let n = 0; ; n++) {
      const block = [randomBytes(50_000)];
      const fields = [['WARC-Target-URI', 'http://example.org/' + n]];
      await files.write([{ type: 'resource', id: newRecordId(), date: 0, contentType: 'a/b', fields, block }]);
      if (n === 20) process.stdout.write('enough');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const openFile = onlyFile(directory);
  t.match(openFile, /\.warc\.gz\.open$/);
  await using next = await WarcFiles.open({ directory });
  const [file] = next.recovered;
  t.equal(`${file?.file}.open`, openFile);
  const records = checkRecords(gunzipSync(readFileSync(join(directory, file!.file))));
  t.ok(records.length > 20);
  t.same(
    records.slice(1).map(({ fields }) => fields.get('WARC-Target-URI')),
    records.slice(1).map((_, n) => `http://example.org/${n}`),
  );
});
