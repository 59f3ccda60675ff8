// The pool of worker threads that summarize documents: results, transfers, stuck workers, memory, abort and
// close.
import t from 'tap';
import { OriginCharsets } from '../../../servers/essence/charset/decode.js';
import { EssencePool } from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { encodeEightBit } from './charset/encode.js';
import { attributesOf, contextOf, IDENTITY, inputOf } from './helpers.js';

t.test('E-140 the pool returns the same results as the calling thread', async (t) => {
  const inputs = Array.from({ length: 40 }, (_, i) =>
    inputOf(
      `http://a.test/${i}.${i % 4 === 0 ? 'gif' : 'html'}`,
      `<title>Page ${i}</title><a href="${i + 1}.html">next</a>`,
    ),
  );
  const expected = await Promise.all(inputs.map((input) => summarizeDocument(input, contextOf())));
  for (const workers of [0, 2]) {
    await using pool = await EssencePool.create({
      ...IDENTITY,
      keywords: false,
      description: false,
      workers,
    });
    t.equal(pool.workers, workers);
    const outputs = await Promise.all(
      inputs.map((input) => pool.summarize({ ...input, body: input.body.slice() })),
    );
    t.same(
      outputs.map((output) => ({ ...output, soif: output.soif && Buffer.from(output.soif).toString() })),
      expected.map((output) => ({ ...output, soif: output.soif && Buffer.from(output.soif).toString() })),
      `${workers} workers`,
    );
    t.same(pool.statistics, { summarized: 30, rejected: 10, nested: 0, failed: 0, replaced: 0 });
  }
});

t.test(
  'E-77, E-151 a page of a few letters is read in the character set of the server’s other pages',
  async (t) => {
    await using pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
    const summarize = async (url: string, text: string, charset: string) => {
      const output = await pool.summarize(inputOf(url, encodeEightBit(`<title>${text}</title>`, charset)));
      return { title: attributesOf(output.soif ?? new Uint8Array()).title?.trim(), charset: output.charset };
    };
    const long = 'Сборщик обходит серверы, читает документы и составляет их описания. '.repeat(4).trim();
    const short = { title: 'Дв', charset: undefined };
    t.not(
      (await summarize('http://a.test/1.html', 'Дв', 'ibm866')).title,
      'Дв',
      'two letters are not enough',
    );
    t.same(await summarize('http://a.test/2.html', long, 'ibm866'), { title: long, charset: 'ibm866' });
    t.same(await summarize('http://a.test/3.html', 'Дв', 'ibm866'), short, 'the same server');
    t.not((await summarize('http://b.test/', 'Дв', 'ibm866')).title, 'Дв', 'another server');
    t.same(
      await summarize('http://a.test/4.html', long, 'koi8-r'),
      { title: long, charset: 'koi8-r' },
      'a clear text is read in its own character set',
    );
  },
);

t.test('E-77 the pool remembers the character sets of a bounded number of servers', async (t) => {
  const charsets = new OriginCharsets(2);
  charsets.remember('http://a.test/x', 'koi8-r');
  charsets.remember('http://b.test/x', 'ibm866');
  t.equal(charsets.likely('http://a.test/y'), 'koi8-r', 'and is used');
  charsets.remember('http://c.test:8080/x', 'euc-kr');
  t.same(
    ['http://a.test/', 'http://b.test/', 'http://c.test:8080/', 'http://c.test/', 'mailto:a'].map((url) =>
      charsets.likely(url),
    ),
    ['koi8-r', undefined, 'euc-kr', undefined, undefined],
  );
});

t.test('the body still belongs to the caller after the call', async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
  const shared = Buffer.from('......<title>x</title>').subarray(6);
  const own = new TextEncoder().encode('%!PS\n(y) show showpage').slice();
  t.equal((await pool.summarize(inputOf('http://a.test/', shared))).type, 'HTML');
  t.equal((await pool.summarize(inputOf('http://a.test/y.ps', own))).type, 'PostScript');
  t.equal(shared.toString(), '<title>x</title>');
  t.equal(Buffer.from(own).toString(), '%!PS\n(y) show showpage');
});

t.test('E-70 a stuck worker is replaced; only its document is summarized by its name', async (t) => {
  const directory = t.testdir({ 'Stuck.sum.mjs': 'export function summarize() { for (;;); }' });
  const modules = { summarizers: { README: `${directory}/Stuck.sum.mjs` } };
  await using pool = await EssencePool.create({
    ...IDENTITY,
    workers: 1,
    timeLimitMs: 300,
    programs: { directories: [], path: '', modules },
  });
  const stuck = pool.summarize(inputOf('http://a.test/README', 'x'));
  const after = pool.summarize(inputOf('http://a.test/after.html', '<title>after</title>'));
  const byName = await stuck;
  t.same(byName.warnings, [
    'the README document is summarized by its name (E-45): reading it takes more than 300 ms of processor time (E-70)',
  ]);
  t.match(attributesOf(byName.soif!), { Type: 'README', Title: 'README\n', 'File-Size': '1' });
  t.equal((await after).type, 'HTML');
  t.equal(pool.statistics.replaced, 1);
  t.equal(pool.statistics.failed, 1);
});

t.test('a document that needs too much memory ends only its worker', async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, maxReaderMemoryMb: 128 });
  const hungry = await pool.summarize(
    inputOf('http://a.test/x.html', '<a href=x>y</a><p>word '.repeat(400_000)),
  );
  t.match(hungry.warnings.join(), /summarized by its name \(E-45\): reading it takes more than 128 MiB of/);
  t.equal((await pool.summarize(inputOf('http://a.test/y.html', '<p>x'))).type, 'HTML');
});

t.test('abort and close reject pending documents', async (t) => {
  const pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
  const abort = new AbortController();
  const first = pool.summarize(inputOf('http://a.test/1', 'x'));
  const second = pool.summarize(inputOf('http://a.test/2', 'x'), abort.signal);
  const third = pool.summarize(inputOf('http://a.test/3', 'x'), abort.signal);
  abort.abort(new Error('enough'));
  await t.rejects(second, { message: 'enough' });
  await t.rejects(third, { message: 'enough' });
  await first;
  const open = pool.summarize(inputOf('http://a.test/4', 'x'));
  const closing = pool.close();
  await t.rejects(open, { code: 'ERR_STATE' });
  await closing;
  await t.rejects(pool.summarize(inputOf('http://a.test/5', 'x')), { code: 'ERR_STATE' });
  await pool.close();
});
