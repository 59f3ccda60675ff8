// Unnesting: compressions, archives and encodings, their limits, damaged files, and the four converters of object lists.

import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { EssencePool, parseTypeRules, type UnnestLimits } from '../../../servers/essence/index.js';
import { NESTED_TYPES } from '../../../servers/essence/recognize.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { decompressBzip2 } from '../../../servers/essence/unnest/bzip2.js';
import { collect } from '../../../servers/essence/unnest/chunks.js';
import { CONVERTERS } from '../../../servers/essence/unnest/converters/index.js';
import { convertPcIndex } from '../../../servers/essence/unnest/converters/pc-index.js';
import { FORMATS } from '../../../servers/essence/unnest/formats.js';
import { decompressLzw } from '../../../servers/essence/unnest/lzw.js';
import { assertProperty } from '../../helpers/property.js';
import { attributesOf, contentOf, contextOf, IDENTITY, inputOf, summarize } from './helpers.js';
import { binhex, latin1, lzw, tar } from './unnest-fixtures.js';

/** A zip file that Info-ZIP wrote, in base64: a.txt deflated, sub/b.txt stored. */
const ZIP =
  'UEsDBBQAAAAIAAAAISg7fIrfCwAAABIAAAAFAAAAYS50eHTLSM3JyVfIQJBcAFBLAwQKAAAAAABPnXVdlNLT7AcAAAAHAAAACQAAAHN1Yi9iLnR4dGlu' +
  'IHN1YgpQSwECHgMUAAAACAAAACEoO3yK3wsAAAASAAAABQAAAAAAAAABAAAApIEAAAAAYS50eHRQSwECHgMKAAAAAABPnXVdlNLT7AcAAAAHAAAACQAA' +
  'AAAAAAABAAAApIEuAAAAc3ViL2IudHh0UEsFBgAAAAACAAIAagAAAFwAAAAAAA==';

/** Returns `name (Type): first line of its text` for each component, by number. */
async function componentsIn(
  name: string,
  body: string | Uint8Array,
  options: Parameters<typeof summarize>[2] = {},
) {
  const output = await summarize(`ftp://a.test/pub/${name}`, body, options);
  const attributes = contentOf(output);
  const components: string[] = [];
  for (let n = 1; `Embed<${n}>-Nested-Filename` in attributes; n++) {
    const get = (key: string) => attributes[`Embed<${n}>-${key}`];
    const text = get('Partial-Text') ?? get('Full-Text') ?? get('title') ?? '';
    components.push(`${get('Nested-Filename')} (${get('Type')}): ${text.trim().split('\n')[0]}`);
  }
  return { type: output.type, components, warnings: output.warnings, attributes };
}

/** Yields bytes in chunks of `size`. */
async function* slices(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

t.test('E-53, E-54, E-55 a compressed PostScript paper (vector 6)', async (t) => {
  const output = await summarize(
    'ftp://a.test/pub/ECRC-93-10.ps.Z',
    // "%!PS\n" in codes of nine bits: 25 21 50 53 0a, the lowest bits first.
    latin1('\x1f\x9d\x90\x25\x42\x40\x99\xa2\x00'),
  );
  t.equal(output.type, 'Compressed');
  const text = Buffer.from(output.soif ?? '').toString('latin1');
  const embedded = text.slice(text.indexOf('Embed<1>')).split('\n');
  t.equal(
    embedded.find((line) => line.startsWith('Embed<1>-Nested')),
    'Embed<1>-Nested-Filename{13}:\tECRC-93-10.ps',
  );
  t.equal(
    embedded.find((line) => line.startsWith('Embed<1>-Type')),
    'Embed<1>-Type{10}:\tPostScript',
  );
  t.equal(
    embedded.find((line) => line.startsWith('Embed<1>-File')),
    'Embed<1>-File-Size{1}:\t5',
  );
  t.equal(
    embedded.find((line) => line.startsWith('Embed<1>-MD5')),
    'Embed<1>-MD5{32}:\tf86f4bebd8ee49cfba0bc2596ae7319f',
  );
  t.match(text, '\nType{10}:\tCompressed\nFile-Size{1}:\t9\n', 'the outer type and size');
});

t.test('E-55 embedded attributes by number, then by name; Embed<10> after Embed<2> (vector 7)', async (t) => {
  const files = Array.from({ length: 11 }, (_, i) => [`${i}.txt`, `text ${i}\n`] as const);
  const output = await summarize('ftp://a.test/x.tar', tar(files));
  const names = Object.keys(attributesOf(output.soif!)).filter((name) => name.startsWith('Embed'));
  t.same(names.slice(0, 6), [
    'Embed<1>-File-Size',
    'Embed<1>-MD5',
    'Embed<1>-Nested-Filename',
    'Embed<1>-Partial-Text',
    'Embed<1>-Type',
    'Embed<2>-File-Size',
  ]);
  t.equal(names.at(-1), 'Embed<11>-Type');
  t.ok(names.indexOf('Embed<10>-Type') > names.indexOf('Embed<9>-Type'));
  t.equal(contentOf(output)['Embed<11>-Partial-Text'], 'text 10\n');
});

t.test('E-43, E-44 the same text in each compression', async (t) => {
  const vectors: [name: string, type: string, base64: string][] = [
    ['a.txt.gz', 'GNUCompressed', 'H4sIAAAAAAAAA8tIzcnJV8hAkFwAO3yK3xIAAAA='],
    ['a.txt.bz2', 'Bzip2Compressed', 'QlpoOTFBWSZTWeW18wkAAARRAAAQQAACRKAAIbUYDAKQacKjC7kinChIctr5hIA='],
    [
      'a.txt.xz',
      'Bzip2Compressed',
      '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AARAAxdADQZSe6N6U9+ISGwAAA7fIrfAAEkEsUl1yKQQpkNAQAAAAABWVo=',
    ],
    ['a.txt.zst', 'Bzip2Compressed', 'KLUv/SQSbQAAOGhlbGxvIAoBADFKEaOqdM4='],
  ];
  for (const [name, type, base64] of vectors) {
    const got = await componentsIn(name, Buffer.from(base64, 'base64'));
    t.equal(got.type, type);
    t.same(got.components, ['a.txt (Text): hello hello hello'], name);
    t.same(got.warnings, [], name);
  }
});

t.test('E-43, E-44 the members of each archive and encoding', async (t) => {
  const zipBytes = Buffer.from(ZIP, 'base64');
  const field = (value: number, width = 8) => value.toString(16).padStart(width, '0');
  const newc = (name: string, mode: number, body: string) => {
    const head = [1, mode, 0, 0, 1, 0, body.length, 0, 0, 0, 0, name.length + 1, 0]
      .map((n) => field(n))
      .join('');
    const even = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '\0');
    return even(`070701${head}${name}\0`) + even(body);
  };
  const odc = (name: string, body: string) =>
    `070707${'000000'.repeat(2)}100644${'000000'.repeat(4)}${'0'.repeat(11)}${(name.length + 1)
      .toString(8)
      .padStart(6, '0')}${body.length.toString(8).padStart(11, '0')}${name}\0${body}`;
  const arHead = (name: string, size: number) =>
    `${name.padEnd(16)}0           0     0     100644  ${String(size).padEnd(10)}\`\n`;
  const expected: [name: string, body: string | Uint8Array, components: string[]][] = [
    ['x.zip', zipBytes, ['a.txt (Text): hello hello hello', 'sub/b.txt (Text): in sub']],
    [
      'x.cpio',
      latin1(`${newc('dir', 0o040755, '')}${newc('./a.txt', 0o100644, 'one\n')}${newc('TRAILER!!!', 0, '')}`),
      ['a.txt (Text): one'],
    ],
    ['x.cpio', `${odc('b.txt', 'two\n')}${odc('TRAILER!!!', '')}`, ['b.txt (Text): two']],
    [
      'x.cpio',
      latin1(
        '\xc7\x71\0\0\0\0\xa4\x81\0\0\0\0\x01\0\0\0\0\0\0\0\x06\0\0\0\x05\0c.txt\0four\n\0' +
          '\xc7\x71\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x0b\0\0\0\0\0TRAILER!!!\0\0',
      ),
      ['c.txt (Text): four'],
    ],
    [
      'x.deb',
      `!<arch>\n${arHead('debian-binary', 4)}2.0\n${arHead('//', 20)}a-rather-long-nam/\n\n${arHead('/0', 3)}x y\n${arHead('b.txt/', 2)}z\n`,
      ['debian-binary (Text): 2.0', 'a-rather-long-nam (Text): x y', 'b.txt (Text): z'],
    ],
    ['x.uu', 'From: me\n\nbegin 644 cat.txt\n#0V%T\n`\nend\n', ['cat.txt (Text): Cat']],
    ['x.uu', 'begin-base64 644 cat.txt\nQ2F0\n====\n', ['cat.txt (Text): Cat']],
    [
      'x.shar',
      "#!/bin/sh\n# This is a shell archive.\nrm -rf /tmp/never\nsed 's/^X//' > 'a.txt' << 'EOF'\nXfirst\nX<< second\nEOF\ncat << \\END > b.txt\nb\nEND\nexit 0\n",
      ['a.txt (Text): first', 'b.txt (Text): b'],
    ],
    ['x.hqx', binhex('note.txt', 9, latin1('ab\x90\x05c\x90\0\n')), []],
    ['x.hqx', binhex('note.txt', 7, latin1('ab\x90\x05\n')), ['note.txt (Text): abbbbb']],
  ];
  for (const [name, body, components] of expected) {
    const got = await componentsIn(name, body);
    if (components.length > 0) t.same(got.components, components, `${name}: ${got.warnings}`);
    else t.match(got.components[0], /^note\.txt /, name);
  }
});

t.test('E-44 files attached to a message are components; the message has a summary as well', async (t) => {
  const mail =
    'From: a@a.test\nSubject: Paper\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n' +
    '--B\nContent-Type: text/plain\n\nSee below.\n' +
    '--B\nContent-Type: text/plain\nContent-Disposition: attachment; filename="../n.txt"\n\nattached\n--B--\n';
  const got = await componentsIn('x.eml', mail);
  t.same(got.components, ['n.txt (Text): attached']);
  t.same((await componentsIn('y.eml', 'From: a@a.test\nSubject: x\n\nwords\n')).components, []);
});

t.test(
  'E-56, E-57 layers nest to any depth: compressions are transparent, archives add their path',
  async (t) => {
    const inner = tar([['deep/p.txt', 'deep\n']]);
    const outer = tar([
      ['dir/inner.tgz', gzipSync(inner)],
      ['dir/z.txt.gz', gzipSync('zipped\n')],
      ['last.txt', 'last\n'],
    ]);
    const got = await componentsIn('x.tar.gz', gzipSync(outer));
    t.same(got.components, [
      'dir/inner.tgz/deep/p.txt (Text): deep',
      'dir/z.txt (Text): zipped',
      'last.txt (Text): last',
    ]);
  },
);

t.test('E-40, E-46 the nested types are those with a format or a converter, and Exploder', async (t) => {
  t.same([...NESTED_TYPES].sort(), [...FORMATS.keys(), ...CONVERTERS.keys(), 'Exploder'].sort());
});

t.test('E-45 unsafe names and links are left out; the other members are intact', async (t) => {
  const got = await componentsIn(
    'x.tar',
    tar([
      ['../../etc/a.txt', 'no\n'],
      ['/etc/b.txt', 'no\n'],
      ['C:\\c.txt', 'no\n'],
      ['link.txt', '', '2'],
      ['a/..b/ok.txt', 'yes\n'],
    ]),
  );
  t.same(got.components, ['a/..b/ok.txt (Text): yes']);
  t.equal(got.warnings.filter((warning) => warning.includes('E-45')).length, 4);
});

t.test(
  'E-26 only the component on the stop list is skipped, and a nested type on it is not unpacked',
  async (t) => {
    const archive = tar([
      ['x.gif', 'GIF89a'],
      ['a.txt', 'a\n'],
    ]);
    t.same((await componentsIn('x.tar', archive)).components, ['a.txt (Text): a']);
    const context = contextOf();
    const rules = { ...context.rules, stoplist: new Set(['Tar']) };
    const output = await summarizeDocument(inputOf('ftp://a.test/x.tar', archive), { ...context, rules });
    t.ok(output.rejected);
  },
);

t.test('E-27 grouping leaves out components whose source is in the same archive', async (t) => {
  const archive = tar([
    ['p.ps', '%!PS\n'],
    ['p.tex', '\\relax\n'],
    ['q.ps', '%!PS\n'],
  ]);
  const names = async (grouping: boolean) =>
    (await componentsIn('x.tar', archive, { grouping })).components.map((line) => line.split(' ')[0]);
  t.same(await names(false), ['p.ps', 'p.tex', 'q.ps']);
  t.same(await names(true), ['p.tex', 'q.ps']);
});

t.test('E-58 a source distribution is summarized as a whole', async (t) => {
  const archive = tar([
    ['kit/README', 'The Kit\n'],
    ['kit/Makefile', '# builds it\nall:\n'],
    ['kit/main.c', '/* starts it */\nint main(void) { return 0; }\n'],
  ]);
  const got = await componentsIn('kit.tar.gz', gzipSync(archive));
  t.equal(got.type, 'SourceDistribution');
  t.equal(got.attributes.Title, 'The Kit\n');
  t.equal(got.attributes['Full-Text'], 'The Kit\n');
  t.equal(got.attributes.Description, 'builds it\nstarts it\n');
  t.equal(got.attributes.Contents, 'kit/README\nkit/Makefile\nkit/main.c\n');
  t.notOk('Embed<1>-Type' in got.attributes);
});

t.test('E-45 limits: compression ratio, bytes, components, depth, size of a component, time', async (t) => {
  const bomb = gzipSync(Buffer.alloc(40_000_000, 'a'));
  const ratio = await componentsIn('bomb.txt.gz', bomb);
  t.match(ratio.warnings.join(), /more than 200 times its size \(E-45\)/);
  const limited = (unnest: Partial<UnnestLimits>) => ({ unnest });
  const text = gzipSync('x'.repeat(5000));
  t.match(
    (await componentsIn('a.txt.gz', text, limited({ maxUnpackedBytes: 1000 }))).warnings[0],
    /more than 1000 unpacked bytes/,
  );
  const many = tar(Array.from({ length: 5 }, (_, i) => [`${i}.txt`, 'x\n'] as const));
  const limitedCount = await componentsIn('a.tar', many, limited({ maxComponents: 3 }));
  t.equal(limitedCount.components.length, 3);
  t.match(limitedCount.warnings[0], /more than 3 components \(E-45\)/);
  let nested: Uint8Array = latin1('deep\n');
  for (let i = 0; i < 12; i++) nested = gzipSync(nested);
  t.match((await componentsIn('deep.gz', nested)).warnings[0], /more than 10 nested layers \(E-45\)/);
  const cut = await componentsIn('a.txt.gz', text, limited({ maxComponentBytes: 10 }));
  t.same(cut.components, ['a.txt (Text): xxxxxxxxxx']);
  t.equal(cut.attributes['Embed<1>-File-Size'], '5000', 'the whole component is counted');
  t.match(
    (await componentsIn('a.txt.gz', text, limited({ timeLimitMs: -1 }))).warnings[0],
    /took more than -1 ms/,
  );
});

t.test('damaged and mislabeled files cause a warning, and their intact part is kept', async (t) => {
  const archive = tar([
    ['a.txt', 'first\n'],
    ['b.txt', `${'second '.repeat(500)}\n`],
  ]);
  const cut = await componentsIn('x.tar', archive.subarray(0, 2000));
  t.same(
    cut.components.map((line) => line.slice(0, 18)),
    ['a.txt (Text): firs', 'b.txt (Text): seco'],
  );
  t.notOk('Embed<2>-MD5' in cut.attributes, 'a truncated component has no checksum');
  t.match(cut.warnings[0], /"b\.txt": the file ends too early/);
  let seed = 7;
  const random = Buffer.from(
    Array.from({ length: 3000 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return 32 + ((seed >> 16) % 90);
    }),
  );
  const halfGzip = await componentsIn('a.txt.gz', gzipSync(random).subarray(0, 1500));
  t.equal(halfGzip.components.length, 1, 'the beginning of a truncated file');
  t.match(halfGzip.warnings[0], /damaged gzip data: unexpected end of file/);
  const mislabeled = await componentsIn('x.zip', gzipSync(archive));
  t.equal(mislabeled.components.length, 2);
  t.match(mislabeled.warnings[0], /says PCCompressed, but its bytes are gzip data/);
  const zip = await componentsIn('x.zip', Buffer.from(ZIP, 'base64').subarray(0, 100));
  t.same(
    zip.components,
    ['a.txt (Text): hello hello hello', 'sub/b.txt (Text): in sub'],
    'without its central directory',
  );
  t.match(zip.warnings[0], /damaged zip archive/);
  for (const name of [
    'x.Z',
    'x.bz2',
    'x.xz',
    'x.zst',
    'x.deb',
    'x.cpio',
    'x.hqx',
    'x.uu',
    'x.shar',
    'x.arj',
    'x.tar',
  ]) {
    const output = await summarize(`ftp://a.test/${name}`, 'nothing of the kind');
    t.notOk(output.rejected, name);
    t.same(contentOf(output), { Title: `${name}\n` });
    t.equal(output.warnings.length, 1, `${name}: ${output.warnings}`);
  }
});

t.test('any bytes under a name of any nested type are summarized or rejected', async () => {
  const context = contextOf();
  const intact: Uint8Array[] = [
    Buffer.from(ZIP, 'base64'),
    gzipSync(tar([['a.txt', 'a\n']])),
    Buffer.from('QlpoOTFBWSZTWeW18wkAAARRAAAQQAACRKAAIbUYDAKQacKjC7kinChIctr5hIA=', 'base64'),
    lzw(latin1('hello hello hello')),
    latin1('begin 644 cat.txt\n#0V%T\n`\nend\n'),
    latin1(binhex('n', 3, latin1('abc'))),
  ];
  const name = fc.constantFrom(
    'x.zip',
    'x.tgz',
    'x.bz2',
    'x.Z',
    'x.uu',
    'x.hqx',
    'x.deb',
    'x.cpio',
    'x.xz',
    'x.zst',
    'x.shar',
    'x.eml',
  );
  const change = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 });
  await assertProperty(
    fc.asyncProperty(name, fc.constantFrom(...intact), change, async (file, bytes, changes) => {
      const body = Uint8Array.from(bytes);
      for (const [offset, value] of changes) if (offset < body.length) body[offset] = value;
      const output = await summarizeDocument(inputOf(`ftp://a.test/${file}`, body), context);
      return output.soif !== undefined || output.rejected;
    }),
    { numRuns: 400 },
  );
});

t.test('E-43 LZW data is decompressed with any chunk boundaries', async (t) => {
  const decode = async (bytes: Uint8Array, size = 7) =>
    Buffer.from(await collect(decompressLzw(slices(bytes, size)), 1e9));
  t.equal((await decode(latin1('\x1f\x9d\x90\x41\x84\x00'))).toString(), 'AB');
  t.equal(
    (await decode(latin1('\x1f\x9d\x90\x41\x02\x02'))).toString(),
    'AAA',
    'a code whose string is not yet complete',
  );
  t.equal((await decode(latin1('\x1f\x9d\x90'))).length, 0);
  const text = fc
    .array(fc.constantFrom(0, 1, 97, 98, 255), { maxLength: 3000 })
    .map((bytes) => Uint8Array.from(bytes));
  await assertProperty(
    fc.asyncProperty(
      text,
      fc.integer({ min: 9, max: 16 }),
      fc.integer({ min: 1, max: 40 }),
      async (data, bits, size) => Buffer.from(data).equals(await decode(lzw(data, bits), size)),
    ),
    { numRuns: 100 },
  );
  const long = Uint8Array.from({ length: 200_000 }, (_, i) => (i * i * 7 + (i >> 5)) % 251);
  t.ok((await decode(lzw(long), 1000)).equals(Buffer.from(long)), 'all widths up to 16');
  const gzip = spawnSync('gzip', ['-dc'], { input: lzw(long), maxBuffer: 1e8 });
  if (gzip.error === undefined) t.ok(gzip.stdout.equals(Buffer.from(long)), 'gzip returns the same data');
});

t.test('E-44 bzip2 data of several blocks and streams is decompressed', async (t) => {
  const data = Buffer.from(Array.from({ length: 250_000 }, (_, i) => `${(i * i) % 1013} `).join(''));
  const runs = Buffer.concat([Buffer.alloc(1000, 'a'), Buffer.alloc(259, 'b'), Buffer.from('cccc'), data]);
  const bzip2 = spawnSync('bzip2', ['-1', '-c'], { input: runs, maxBuffer: 1e8 });
  if (bzip2.error !== undefined) return t.comment('bzip2 is not installed');
  const joined = Buffer.concat([bzip2.stdout, bzip2.stdout]);
  const got = Buffer.from(await collect(decompressBzip2(slices(joined, 5000)), 1e9));
  t.ok(got.equals(Buffer.concat([runs, runs])));
});

t.test('E-50: an index of one endless word is read in linear time', async (t) => {
  t.same([...convertPcIndex('x'.repeat(1_000_000))], []);
  t.same(
    [...convertPcIndex('see ftp://a.test/pub/ (x)\n(("." "b") "990101" 5 "d")')].map(({ url }) => url),
    ['ftp://a.test/pub/b'],
  );
});

t.test(
  'E-46 to E-51 four converters explode object lists; an LSM entry has Site, Path and File (vector 11)',
  async (t) => {
    const exploded = async (name: string, body: string, byName: string) => {
      const context = contextOf({ fakeMd5s: name.endsWith('.lsm') });
      const rules = { ...context.rules, byName: parseTypeRules(byName, 'byname.cf') };
      const output = await summarizeDocument(inputOf(`ftp://a.test/${name}`, body), { ...context, rules });
      t.ok(output.rejected, 'the document itself has no object');
      return (output.exploded ?? []).map(({ url, soif }) => {
        const { MD5, Type, ...rest } = attributesOf(soif);
        t.equal(Type, 'SOIFStream');
        t.equal(MD5 === undefined, !name.endsWith('.lsm'), 'G-111 --fake-md5s');
        t.equal(rest['Gatherer-Name'], 'Example Gatherer', 'E-47 missing bookkeeping');
        const contentEntries = Object.entries(rest).filter(
          ([key]) => !/^(Gatherer|Time-to|Last-M|Refresh|Update)/.test(key),
        );
        return [url, Object.fromEntries(contentEntries)];
      });
    };
    const lsm =
      'Begin3\nTitle = Kit\nDesc1 = a kit\nDesc2 = for you\nSite1 = ftp.a.test more\nPath1 = /pub/kit/\nFile1 = kit.tgz 12k\nno equals\n';
    t.same(await exploded('x.lsm', lsm, 'LSM \\.lsm$'), [
      [
        'ftp://ftp.a.test/pub/kit/kit.tgz',
        {
          Title: 'Kit',
          // SOIF-4.7: a value of several lines ends with LF.
          Description: 'a kit\nfor you\n',
          Site: 'ftp.a.test',
          Path: '/pub/kit/',
          File: 'kit.tgz',
        },
      ],
    ]);
    t.same(
      await exploded('x.iafa', 'Template-Type: SERVICE\nTitle: A\n service\nTitle: B\n', 'IAFA \\.iafa$'),
      [['ftp://a.test/x.iafa', { 'Template-Type': 'SERVICE', Title: 'A\nservice\nB\n' }]],
    );
    const index =
      '("ftp://garbo.a.test/pc/")\n(("." "arc" "a b.zip") "930102" 1234 "An \\"arc\\"")\n(("." "x") "1" 0 "")\nnoise\n';
    t.same(await exploded('x.idx', index, 'PCIndex \\.idx$'), [
      [
        'ftp://garbo.a.test/pc/arc/a%20b.zip',
        {
          'Archive-Site': 'Garbo DOS (Finland)',
          'ASCII-Date': '930102',
          'File-Size': '1234',
          Description: 'An "arc"',
        },
      ],
      ['ftp://garbo.a.test/pc/x', { 'Archive-Site': 'Garbo DOS (Finland)' }],
    ]);
    const netfind = '%D cs.a.test\n%O CS\n%H one two\n%D b.test\n%O B\n%D ee.a.test\n%O EE\n';
    t.same(await exploded('x.nf', netfind, 'Netfind \\.nf$'), [
      [
        'nop:a.test',
        {
          'Embed<1>-Domain': 'cs.a.test',
          'Embed<1>-Organization': 'CS',
          'Embed<1>-Hosts': 'one two',
          'Embed<2>-Domain': 'ee.a.test',
          'Embed<2>-Organization': 'EE',
        },
      ],
      ['nop:b.test', { Domain: 'b.test', Organization: 'B' }],
    ]);
    // Numbers of networks, which begin with the larger one; lines without a blank; what has no second level.
    const networks =
      '%D 128.138.5\n%O Boulder\n%H boulder\n\n%d 128.138.204\n%oDenver\n%h unspecified\n\n%D localhost\n%O none\n%H h\n';
    t.same(await exploded('x.nf', networks, 'Netfind \\.nf$'), [
      [
        'nop:128.138',
        {
          'Embed<1>-Domain': '128.138.5',
          'Embed<1>-Organization': 'Boulder',
          'Embed<1>-Hosts': 'boulder',
          'Embed<2>-Domain': '128.138.204',
          'Embed<2>-Organization': 'Denver',
        },
      ],
    ]);
  },
);

t.test('E-140 unnesting has the same result with any number of workers', async (t) => {
  const archive = gzipSync(tar(Array.from({ length: 20 }, (_, i) => [`${i}.txt`, `text ${i}\n`] as const)));
  const results: string[][] = [];
  for (const workers of [0, 1, 2]) {
    await using pool = await EssencePool.create({ ...IDENTITY, workers });
    const outputs = await Promise.all(
      [1, 2, 3].map((n) => pool.summarize(inputOf(`ftp://a.test/${n}.tgz`, new Uint8Array(archive)))),
    );
    results.push(outputs.map(({ soif }) => Buffer.from(soif ?? '').toString()));
  }
  t.match(results[0]![0], /Embed<20>-Type/);
  t.same(results[1], results[0]);
  t.same(results[2], results[0]);
});
