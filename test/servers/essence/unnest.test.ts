// Unnesting: names, limits, damaged files, decompressors with any chunk boundaries.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { EssencePool, type UnnestLimits } from '../../../servers/essence/index.js';
import { NESTED_TYPES } from '../../../servers/essence/recognition/types.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { decompressBzip2 } from '../../../servers/essence/unnest/bzip2.js';
import { collect } from '../../../servers/essence/unnest/chunks.js';
import { CONVERTERS, convertPcIndex } from '../../../servers/essence/unnest/converters.js';
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

t.test(
  'E-52, E-55 embedded attributes by number, then by name; Embed<10> after Embed<2> (vector 7)',
  async (t) => {
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
  },
);

t.test('E-53, E-111 the object has the type, the size and the checksum of the gathered bytes', async (t) => {
  const body = tar([['a.txt', 'a\n']]);
  const object = attributesOf((await summarize('ftp://a.test/x.tar', body)).soif!);
  t.equal(object.Type, 'Tar');
  t.equal(object['File-Size'], String(body.length));
  t.equal(object.MD5, createHash('md5').update(body).digest('hex'));
});

t.test('E-40, E-46 the nested types are those with a format or a converter, and Exploder', async (t) => {
  t.same([...NESTED_TYPES].sort(), [...FORMATS.keys(), ...CONVERTERS.keys(), 'Exploder'].sort());
});

t.test('E-26 only what is on the stop list is skipped, and a nested type on it stays packed', async (t) => {
  const archive = tar([
    ['x.gif', 'GIF89a'],
    ['a.txt', 'a\n'],
  ]);
  t.same((await componentsIn('x.tar', archive)).components, ['a.txt (Text): a']);
  const context = contextOf();
  const rules = { ...context.rules, stoplist: new Set(['Tar']) };
  const output = await summarizeDocument(inputOf('ftp://a.test/x.tar', archive), { ...context, rules });
  t.ok(output.rejected);
});

t.test(
  'E-42, E-45 limits: compression ratio, bytes, components, depth, size of a component, time',
  async (t) => {
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
  },
);

t.test('the beginning of a truncated compressed file is kept', async (t) => {
  const text = Array.from({ length: 40 }, (_, i) => createHash('sha512').update(`${i}`).digest('hex')).join(
    '\n',
  );
  const cut = await componentsIn('a.txt.gz', gzipSync(text).subarray(0, 1500));
  t.equal(cut.components.length, 1);
  t.match(cut.warnings[0], /damaged gzip data: unexpected end of file/);
});

t.test('E-40 a file with only the name of a nested type has a summary and a warning', async (t) => {
  for (const name of 'x.Z x.bz2 x.xz x.zst x.deb x.cpio x.hqx x.uu x.shar x.arj x.tar'.split(' ')) {
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
    ...'x.zip x.tgz x.bz2 x.Z x.uu x.hqx x.deb x.cpio x.xz x.zst x.shar x.eml'.split(' '),
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
    'a string that is incomplete',
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
