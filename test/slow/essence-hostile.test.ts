// Hostile and damaged documents: bombs, unsafe names, deep nesting, truncated and mislabeled files, endless
// lines, slow patterns.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { EssencePool } from '../../servers/essence/index.js';
import { processMs, TimeBudget } from '../../servers/essence/time-budget.js';
import type { Chunks } from '../../servers/essence/unnest/chunks.js';
import { UnnestMeter } from '../../servers/essence/unnest/meter.js';
import { type Leaf, unnest } from '../../servers/essence/unnest/walk.js';
import { ARCHIVE_FORMATS, ar, cpio, mail, shar, uuencode, zip } from '../helpers/archives.js';
import { EXCEL_FILE, WORD_FILE } from '../servers/essence/fixtures/office-files.js';
import { attributesOf, contextOf, IDENTITY, inputOf, summarize } from '../servers/essence/helpers.js';
import { latin1, tar } from '../servers/essence/unnest-fixtures.js';

const MIB = 1024 * 1024;

/** Summarizes a document and checks the attributes that no content may change. */
async function summarizeChecked(t: Pick<Test, 'fail'>, name: string, body: Uint8Array) {
  const md5 = createHash('md5').update(body).digest('hex');
  const output = await summarize(`ftp://a.test/${encodeURIComponent(name)}`, body);
  if (output.soif === undefined) return { output, attributes: {} as Record<string, string> };
  const attributes = attributesOf(output.soif);
  if (
    attributes.MD5 !== md5 ||
    attributes['File-Size'] !== String(body.length) ||
    attributes.Type !== output.type
  ) {
    t.fail(`${name}: MD5, File-Size or Type is wrong`);
  }
  return { output, attributes };
}

t.test('E-45: unpacking stops for nested zip bombs and for members that share bytes', async (t) => {
  let nested: Uint8Array = zip([['zeros.txt', new Uint8Array(8 * MIB).fill(0x61)]]);
  for (let i = 0; i < 3; i++)
    nested = zip(Array.from({ length: 20 }, (_, n) => [`${n}.zip`, nested] as const));
  const deep = await summarizeChecked(t, 'nested.zip', nested);
  t.match(deep.output.warnings.join(), /more than 200 times its size \(E-45\)/);
  t.match(deep.attributes, {
    Type: 'PCCompressed',
    'Embed<1>-Nested-Filename': '0.zip/0.zip/0.zip/zeros.txt',
  });

  const overlapping = await summarizeChecked(
    t,
    'overlapping.zip',
    zipOfSharedBytes(new Uint8Array(MIB).fill(0x61), 500),
  );
  t.match(overlapping.output.warnings.join(), /more than 200 times its size \(E-45\)/);
  t.equal(overlapping.attributes['Embed<1>-File-Size'], String(MIB));
  t.notOk('Embed<8>-Type' in overlapping.attributes, 'unpacking ends at the limit');
});

/** Returns a zip archive whose directory refers to the same bytes several times. */
function zipOfSharedBytes(body: Uint8Array, times: number): Uint8Array {
  const archive = Buffer.from(zip([['a.txt', body]]));
  const list = archive.indexOf('PK\x01\x02', 0, 'latin1');
  const end = archive.length - 22;
  const tail = Buffer.from(archive.subarray(end));
  tail.writeUInt16LE(times, 8);
  tail.writeUInt16LE(times, 10);
  tail.writeUInt32LE(times * (end - list), 12);
  return Buffer.concat([
    archive.subarray(0, list),
    ...Array.from({ length: times }, () => archive.subarray(list, end)),
    tail,
  ]);
}

t.test('E-45: members with unsafe names are left out, in every format that has names', async (t) => {
  const escapes = ['../up.txt', '/etc/root.txt', 'C:\\drive.txt', 'a/../../b.txt', '..\\back.txt'];
  const files = [...escapes, 'good.txt'].map((name) => [name, latin1('words\n')] as const);
  for (const [name, body] of [
    ['x.zip', zip(files)],
    ['x.cpio', cpio(files)],
    ['x.deb', ar(files.map(([name, body]) => [name.slice(0, 15), body] as const))],
    ['x.uu', uuencode(files)],
    ['x.shar', shar(files)],
    ['x.tar', tar(files)],
  ] as const) {
    const { attributes, output } = await summarizeChecked(t, name, body);
    t.equal(attributes['Embed<1>-Nested-Filename'], 'good.txt', name);
    t.notOk('Embed<2>-Type' in attributes, name);
    t.equal(
      output.warnings.filter((text) => text.includes('is left out (E-45)')).length,
      escapes.length,
      name,
    );
  }
  const attached = await summarizeChecked(t, 'x.eml', mail([['../../etc/up.txt', latin1('words\n')]]));
  t.equal(attached.attributes['Embed<1>-Nested-Filename'], 'up.txt', 'the last part of its name is kept');
});

t.test('E-45: links and devices in zip and cpio archives are not followed', async (t) => {
  const linked = Buffer.from(
    zip([
      ['link.txt', latin1('/etc/passwd')],
      ['good.txt', latin1('words\n')],
    ]),
  );
  linked.writeUInt32LE(0o120777 * 0x10000, linked.indexOf('PK\x01\x02', 0, 'latin1') + 38);
  const device = Buffer.from(
    cpio([
      ['tty.txt', latin1('')],
      ['good.txt', latin1('words\n')],
    ]),
  );
  device.write((0o020666).toString(16).padStart(8, '0'), 14, 'latin1');
  for (const [name, body, warning] of [
    ['x.zip', linked, /link\.txt" is a link and is not followed/],
    ['x.cpio', device, /tty\.txt" is a special file and is not followed/],
  ] as const) {
    const { attributes, output } = await summarizeChecked(t, name, new Uint8Array(body));
    t.match(output.warnings.join(), warning);
    t.equal(attributes['Embed<1>-Nested-Filename'], 'good.txt');
  }
});

t.test('E-45: nested layers and nested messages are limited', async (t) => {
  let layers: Uint8Array = latin1('words\n');
  for (let i = 0; i < 8; i++) layers = gzipSync(zip([['a.txt.zip', tar([['b.tar', layers]])]]));
  const { output } = await summarizeChecked(t, 'deep.gz', layers);
  t.match(output.warnings.join(), /more than 10 nested layers \(E-45\)/);
  let message: Uint8Array = latin1('Subject: innermost\n\nwords\n');
  for (let i = 0; i < 60; i++) message = mail([[`${i}.eml`, message]]).subarray(0, 64 * 1024);
  const mails = await summarizeChecked(t, 'deep.eml', message);
  t.equal(mails.output.type, 'Mail');
  t.ok(mails.output.warnings.length > 0);
});

t.test('truncated archives of every format give a warning and no exception', async (t) => {
  const random = createHash('sha512');
  const noise = Buffer.concat(
    Array.from({ length: 100 }, (_, i) => random.copy().update(String(i)).digest()),
  );
  const text = latin1(`${noise.toString('base64').replace(/.{70}/g, '$&\n')}\n`);
  for (const { name, pack } of ARCHIVE_FORMATS) {
    const whole = pack([
      ['a.txt', latin1('first\n')],
      ['b.txt', text],
      ['c.txt', text.subarray(0, 1501)],
    ]);
    if (whole === undefined) continue;
    let silent = 0;
    for (let tenths = 1; tenths < 9; tenths++) {
      const { output } = await summarizeChecked(
        t,
        name,
        whole.slice(0, Math.floor((whole.length * tenths) / 10)),
      );
      if (output.warnings.length === 0) silent++;
    }
    // Only messages give no warning: their last part ends with the message.
    t.equal(silent, name === 'x.eml' ? 8 : 0, name);
  }
});

t.test('any content under any name gives a valid object or none', async (t) => {
  const contents = [
    zip([['a.txt', latin1('a\n')]]),
    tar([['a.txt', 'a\n']]),
    gzipSync(latin1('words\n')),
    mail([['a.txt', latin1('a\n')]]),
    WORD_FILE,
    EXCEL_FILE.subarray(0, 5000),
    latin1('%PDF-1.4\n1 0 obj\n<< /Length 99999999 >>\nstream\nno end'),
    latin1('%!PS\n{ 1 } loop (x) show'),
    latin1('{\\rtf1 {\\fonttbl {{{{ \\bin99999999 x'),
    latin1('\xf7\x02\x01\x83\x92\xc0\x1c\x3b\0\0\0\0\xff\xff\xff\xff'),
    latin1('<html><title>x</title><a href="y">z'),
    latin1('\xff\xfeA\0B\0C'),
    latin1('\xc3\x28\xa0\xa1\xed\xa0\x80\xf4\xbf\xbf\xbf words \xff'),
    new Uint8Array(5000),
    new Uint8Array(),
  ];
  const names =
    'pdf ps rtf doc xls wpd odt docx dvi tex ltx ms 1 html xml c pl sh txt mbox bib referbib diff src fm tar tgz Z bz2 xz zst zip hqx shar uu deb cpio csv'.split(
      ' ',
    );
  let objects = 0;
  for (const ending of names) {
    for (const body of contents) {
      const { output, attributes } = await summarizeChecked(t, `x.${ending}`, new Uint8Array(body));
      if (output.soif === undefined) continue;
      objects++;
      // E-77: the values are UTF-8 for any input.
      new TextDecoder('utf-8', { fatal: true }).decode(output.soif);
      for (const name of Object.keys(attributes)) if (!/^[A-Za-z0-9<>._-]+$/.test(name)) t.fail(name);
    }
  }
  t.ok(objects > 500, `${objects} objects are checked`);
});

t.test('lines of 1 GiB pass through as a stream', async (t) => {
  const block = new Uint8Array(MIB).fill(0x61);
  const before = process.memoryUsage().rss;
  let peak = 0;
  async function* line(head: string, tail: string): Chunks {
    yield latin1(head);
    for (let i = 0; i < 1024; i++) {
      if (i % 64 === 0) peak = Math.max(peak, process.memoryUsage().rss - before);
      yield block;
    }
    yield latin1(tail);
  }
  const unpack = async (type: string, name: string, chunks: Chunks) => {
    const leaves: Leaf[] = [];
    const warnings: string[] = [];
    const { settings, rules } = contextOf();
    await unnest(type, name, chunks, {
      rules,
      meter: new UnnestMeter(settings.unnest, MIB, new TimeBudget(90_000, { processorMs: processMs })),
      warn: (message) => warnings.push(message),
      visit: async (leaf) => {
        leaves.push({ ...leaf, body: leaf.body.subarray(0, 20) });
      },
    });
    return { leaves, warnings };
  };
  const uuencoded = await unpack('Uuencoded', 'x.uu', line('', '\nbegin 644 cat.txt\n#0V%T\n`\nend\n'));
  t.same(
    uuencoded.leaves.map(({ path, whole }) => [path, whole?.size]),
    [['cat.txt', 3]],
  );
  const shellArchive = await unpack('ShellArchive', 'x.shar', line("cat > a.txt << 'E'\n", '\nlast\nE\n'));
  t.same(
    shellArchive.leaves.map(({ path, whole }) => [path, (whole?.size ?? 0) < MIB]),
    [['a.txt', true]],
    'only the start of such a line is kept',
  );
  t.ok(peak < 400 * MIB, `memory grows by at most ${Math.round(peak / MIB)} MiB`);
});

t.test('no text summarizer takes quadratic time for a long line', async (t) => {
  const patterns = [
    ' ',
    '\n',
    '\n ',
    '\\(',
    "'\\(aa",
    '\\x{',
    '{',
    '"',
    '/*',
    '. ',
    '@a{b,',
    '<',
    '=?utf-8?q?a?= ',
    '.TH a\n',
  ];
  const heads: Readonly<Record<string, string>> = {
    eml: 'From: a\nSubject: x\n\n',
    rtf: '{\\rtf1 ',
    diff: '--- a\n+++ ',
    ms: '.TL\n',
    tex: '\\input x ',
    ltx: '\\documentclass{a}\\title{',
    1: '.TH A 1\n.SH NAME\n',
    'rfc1.txt': '',
  };
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, timeLimitMs: 20_000 });
  for (const [ending, head] of Object.entries(heads)) {
    for (const pattern of patterns) {
      const body = latin1(
        `${head}${pattern.repeat(Math.ceil((ending === 'eml' ? 10_000 : 100_000) / pattern.length))}x`,
      );
      const output = await pool.summarize(
        inputOf(`ftp://a.test/${ending.includes('.') ? ending : `x.${ending}`}`, body),
      );
      t.notOk(output.rejected);
    }
  }
  t.equal(pool.statistics.replaced, 0);
});
