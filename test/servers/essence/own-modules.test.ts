// Modules of one's own instead of programs TypeName.sum and TypeName.unnest (E-46, E-60 to E-70).
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError, UsageError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { EssencePool } from '../../../servers/essence/index.js';
import { IDENTITY, inputOf } from './helpers.js';

/** A pool with modules in `bin`; their types are recognized by name. */
async function poolOf(t: Test, modules: Record<string, string>, byName: string) {
  const directory = t.testdir({ bin: modules, lib: { 'byname.cf': byName } });
  const pool = await EssencePool.create({
    ...IDENTITY,
    keywords: false,
    workers: 1,
    libDirectory: join(directory, 'lib'),
    programs: { directories: [join(directory, 'bin')], path: '' },
  });
  t.teardown(() => pool.close());
  return pool;
}

const attributesOf = (soif: Uint8Array | undefined): Record<string, string> =>
  Object.fromEntries(
    decodeSoif(soif ?? new Uint8Array()).attributes.map(({ name, value }) => [
      name,
      Buffer.from(value).toString(),
    ]),
  );

t.test('E-60, E-61, E-149 a module summarizes: attributes, description, links, messages', async (t) => {
  const pool = await poolOf(
    t,
    {
      'Note.sum.mjs': `export async function summarize({ url, fileName, contentType, body, text, warn }) {
        warn('short');
        return {
          attributes: [['Title', text.trim()], ['Facts', [url, fileName, contentType, body.length].join(' ')], ['Facts', 'two']],
          description: 'Of a note',
          linkedUrls: ['next.note', 'mailto:a@b.test'],
        };
      }`,
    },
    'Note ^.*\\.note$\n',
  );
  const { soif, links, type, warnings } = await pool.summarize(
    inputOf('http://a.test/d/a%20b.note', 'Grüße\n', { contentType: 'text/x-note' }),
  );
  t.equal(type, 'Note');
  const attributes = attributesOf(soif);
  t.equal(attributes.Title, 'Grüße\n');
  t.equal(attributes.Facts, 'http://a.test/d/a%20b.note a b.note text/x-note 8\ntwo\n', 'E-95: two lines');
  t.equal(attributes.Description, 'Of a note\n');
  t.same(links, [{ url: 'http://a.test/d/next.note', hop: 'L' }], 'G-60');
  t.same(warnings, ['short']);
});

t.test('E-46 a module unpacks: its objects keep their URLs, what cannot be one is left out', async (t) => {
  const pool = await poolOf(
    t,
    {
      'Cards.unnest.mjs': `export async function* unnest({ text }) {
        for (const name of text.trim().split(' ')) yield { url: 'http://b.test/' + name, attributes: [['Title', name], ['no name', 'x']] };
        yield { attributes: [] };
        yield { url: 'http://b.test/last', template: 'PERSON', attributes: [['Title', 'last']] };
        throw new Error('the end');
      }`,
    },
    'Cards ^.*\\.cards$\n',
  );
  const {
    exploded = [],
    soif,
    warnings,
  } = await pool.summarize(inputOf('http://a.test/x.cards', 'ann bob\n'));
  t.equal(soif, undefined, 'E-46: no object of its own');
  t.same(
    exploded.map(({ url }) => url),
    ['http://b.test/ann', 'http://b.test/bob', 'http://b.test/last'],
  );
  t.equal(attributesOf(exploded[0]?.soif).Title, 'ann');
  t.equal(decodeSoif(exploded[2]?.soif ?? new Uint8Array()).type, 'PERSON');
  t.match(warnings.join('\n'), /"no name","x".*E-69[\s\S]*without "url"[\s\S]*the end \(E-70\)/);
});

t.test('E-70, E-45 a module that throws, lies, hangs or takes all memory costs one document', async (t) => {
  const directory = t.testdir({
    'Note.sum.mjs': `const kept = [];
      export function summarize({ text }) {
        if (text === 'throw') throw new Error('no');
        if (text === 'nothing') return undefined;
        if (text === 'names') return { attributes: [['a b', 'x'], ['Good', 'y'], 'z', ['Number', 1]], linkedUrls: [7] };
        if (text === 'hang') for (;;);
        if (text === 'memory') for (;;) kept.push(new Uint8Array(1 << 22).fill(1));
        return { attributes: [['Title', text]] };
      }`,
  });
  await using pool = await EssencePool.create({
    ...IDENTITY,
    keywords: false,
    workers: 1,
    timeLimitMs: 2000,
    maxReaderMemoryMb: 300,
    programs: {
      directories: [],
      path: '',
      modules: { summarizers: { README: join(directory, 'Note.sum.mjs') } },
    },
  });
  const summarize = (text: string) => pool.summarize(inputOf('http://a.test/README', text));
  t.match((await summarize('throw')).warnings, [/Note\.sum\.mjs failed: no \(E-70\)/]);
  t.match((await summarize('nothing')).warnings, [/returned no list "attributes" \(E-70\)/]);
  const { soif, warnings } = await summarize('names');
  t.equal(attributesOf(soif).Good, 'y\n');
  t.equal(warnings.length, 3);
  t.match((await summarize('hang')).warnings.join(), /by its name \(E-45\)/);
  t.match((await summarize('memory')).warnings.join(), /by its name \(E-45\).*memory/);
  t.equal(attributesOf((await summarize('well')).soif).Title, 'well\n', 'the next document');
});

t.test('E-61 a module that cannot be used is told when the pool is created', async (t) => {
  const create = (name: string, text: string) => poolOf(t, { [name]: text }, '');
  await t.rejects(create('A.sum.mjs', 'export const x = ;'), ConfigError);
  await t.rejects(create('B.sum.mjs', 'export const other = 1;'), {
    message: /exports no function summarize/,
  });
  await t.rejects(create('A.unnest.mjs', ''), { message: /A\.unnest\.mjs.*exports no function unnest/ });
  await t.rejects(create('C.sum.mjs', 'throw new Error("not today")'), {
    message: /cannot be loaded: not today/,
  });
  const modules = { summarizers: { A: '/bin/program' } };
  await t.rejects(
    EssencePool.create({ ...IDENTITY, programs: { directories: [], path: '', modules } }),
    UsageError,
    'a program is no module',
  );
});
