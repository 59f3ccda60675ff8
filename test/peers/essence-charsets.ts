/**
 * Compares the character sets that Essence finds in texts without a declaration with those of uchardet and
 * Apache Tika: at least 500 texts of 35 languages in the character sets in which they were written, and pages
 * that are mostly Latin markup. Essence must be right more often than either.
 *
 *     node dist/test/peers/essence-charsets.js [--worst] [DIRECTORY]
 *
 * DIRECTORY (default: `charset-corpus` in the folder of test data) contains the unpacked packages
 * gnome-user-docs and gnome-control-center-data, which are not among the texts of the models. Needs iconv and
 * uchardet; Tika is compared if its jar is in `tika` in the temporary directory. Prints TAP, and the number of
 * texts that each reader decodes rightly.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { decodeBytes } from '../../servers/essence/charset/decode.js';
import { tikaReader } from '../bench/summaries/tika-reader.js';
import { catalogMessages } from '../helpers/message-catalogs.js';
import { overlap, wordsOf } from '../helpers/text-oracles.js';
import { TEST_DATA } from '../run/needs.js';
import { containersOf, ENCODINGS } from '../servers/essence/charset/containers.js';
import { contentOf, summarize } from '../servers/essence/helpers.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { worst: { type: 'boolean', default: false }, per: { type: 'string', default: '8' } },
});
const corpus = positionals[0] ?? join(TEST_DATA, 'charset-corpus');
const MANUAL = join('..', 'shared', 'seeds', 'harvest-gatherer-manual-ru.txt');
const JAR = join(TEST_DATA, 'tika', 'tika-app-2.9.2.jar');
/** Texts of a language in one character set. */
const TEXTS = Number(values.per);
/** Characters of a text, without markup. */
const LENGTHS = [150, 300, 600, 1500, 4000];

/** Languages, and the character sets of their texts, as iconv names them. */
const CHARSETS: Readonly<Record<string, string>> = {
  ru: 'KOI8-R CP1251 CP866 ISO-8859-5 MAC-CYRILLIC CP855 UTF-16LE UTF-16BE UTF-32LE',
  uk: 'KOI8-U CP1251 ISO-8859-5 CP866',
  bg: 'CP1251 ISO-8859-5',
  be: 'CP1251',
  mk: 'CP1251',
  sr: 'CP1251 ISO-8859-5',
  el: 'ISO-8859-7 CP1253 CP737',
  he: 'ISO-8859-8 CP1255',
  ar: 'ISO-8859-6 CP1256',
  th: 'TIS-620',
  vi: 'CP1258',
  tr: 'ISO-8859-9 CP857',
  lt: 'CP1257 ISO-8859-13',
  lv: 'CP1257 ISO-8859-4',
  et: 'CP1257',
  pl: 'ISO-8859-2 CP1250 CP852',
  cs: 'ISO-8859-2 CP1250 CP852',
  sk: 'CP1250 ISO-8859-2',
  hu: 'ISO-8859-2 CP1250',
  ro: 'ISO-8859-2 CP1250',
  hr: 'ISO-8859-2 CP1250',
  sl: 'CP1250',
  de: 'ISO-8859-1 CP1252 CP850 MACINTOSH UTF-16LE',
  fr: 'ISO-8859-1 CP1252 MACINTOSH',
  es: 'ISO-8859-1 CP850',
  pt: 'CP1252 MACINTOSH',
  it: 'ISO-8859-1',
  sv: 'ISO-8859-1 CP437',
  da: 'CP1252 CP850',
  nb: 'ISO-8859-1',
  fi: 'ISO-8859-15',
  is: 'ISO-8859-1',
  ca: 'CP1252',
  ja: 'SHIFT_JIS EUC-JP ISO-2022-JP UTF-16LE',
  ko: 'EUC-KR ISO-2022-KR',
  zh_CN: 'GBK ISO-2022-CN UTF-16BE',
  zh_TW: 'BIG5',
};

interface Sample {
  readonly kind: string;
  readonly bytes: Uint8Array;
  readonly text: string;
}

let tests = 0;
function check(ok: boolean, name: string): void {
  tests++;
  console.log(`${ok ? 'ok' : 'not ok'} ${tests} - E-77 ${name}`);
  if (!ok) process.exitCode = 1;
}

/** Runs of text of a language, in the order of the files. */
function texts(language: string): string[] {
  const found: string[] = [];
  const help = join(corpus, 'gnome-user-docs', 'usr', 'share', 'help', language, 'gnome-help');
  const pages = existsSync(help) ? readdirSync(help).sort() : [];
  for (const page of pages.filter((name) => name.endsWith('.page'))) {
    const text = readFileSync(join(help, page), 'utf8').replace(/<info>[\s\S]*?<\/info>|<[^<>]*>/g, '');
    // Pages that are not translated are in English.
    if (text.replace(/[^\u0080-\uffff]/g, '').length > text.length / 80)
      found.push(text.replace(/\s+/g, ' ').trim());
  }
  const catalog = join(
    corpus,
    'gnome-control-center-data/usr/share/locale',
    language,
    'LC_MESSAGES/gnome-control-center-2.0.mo',
  );
  if (existsSync(catalog)) {
    const messages = [...catalogMessages(readFileSync(catalog))].map(([, message]) => message);
    for (let i = 0; i + 40 < messages.length; i += 40) found.push(messages.slice(i, i + 40).join('\n'));
  }
  return found;
}

/** Encodes; undefined if many characters are not in the set. */
function encode(text: string, charset: string): Sample | undefined {
  // iconv knows the letters of Romanian with cedillas, and those of Vietnamese without tones, in the old sets.
  const input = text.replaceAll('ș', 'ş').replaceAll('ț', 'ţ').replaceAll('Ș', 'Ş').replaceAll('Ț', 'Ţ');
  const bytes = execFileSync('sh', ['-c', `iconv -c -f UTF-8 -t ${charset} || true`], { input });
  const back = execFileSync('iconv', ['-f', charset, '-t', 'UTF-8'], { input: bytes }).toString('utf8');
  const complete = lettersOf(back).length >= lettersOf(input).length * 0.97;
  const high = /^(?:UTF|ISO-2022|HZ)/.test(charset) || bytes.some((byte) => byte >= 0x80);
  return complete && high ? { kind: charset, bytes, text: back } : undefined;
}

/** A page whose markup and navigation are in ASCII. */
function page(text: string): string {
  const links = Array.from(
    { length: 60 },
    (_, i) => `<li class="menu-item item-${i}"><a href="/archive/${i}.html">Download ${i}</a></li>`,
  );
  return `<html><head><title>${text.slice(0, 30)}</title></head><body><ul>\n${links.join('\n')}\n</ul><p>${text}</p></body></html>`;
}

function makeSamples(): Sample[] {
  const samples: Sample[] = [];
  for (const [language, charsets] of Object.entries(CHARSETS)) {
    const all = texts(language);
    for (const [i, charset] of charsets.split(' ').entries()) {
      let made = 0;
      for (
        let at = i;
        made < TEXTS && at < all.length;
        at += Math.max(1, Math.floor(all.length / (3 * TEXTS)))
      ) {
        const text = (all[at] ?? '').slice(0, LENGTHS[made % LENGTHS.length]);
        const sample = text.length < 100 ? undefined : encode(text, charset);
        if (sample === undefined) continue;
        samples.push({ ...sample, kind: `${language} ${charset}` });
        made++;
      }
    }
  }
  for (const charset of ['KOI8-R', 'CP1251', 'CP866', 'ISO-8859-5', 'MAC-CYRILLIC']) {
    for (const [i, text] of texts('ru')
      .slice(5, 5 + TEXTS)
      .entries()) {
      const sample = encode(page(text.slice(0, LENGTHS[i % LENGTHS.length])), charset);
      if (sample !== undefined) samples.push({ ...sample, kind: 'ru, page of Latin markup' });
    }
    if (!existsSync(MANUAL)) continue;
    const manual = readFileSync(MANUAL, 'utf8').split('\n');
    for (let i = 0; i < 9; i++) {
      const part = manual
        .slice(Math.floor((i * manual.length) / 9), Math.floor(((i + 1) * manual.length) / 9))
        .join('\n');
      const sample = encode(page(part), charset);
      if (sample !== undefined) samples.push({ ...sample, kind: 'ru, manual' });
    }
  }
  return samples;
}

/** What is compared: signs and spaces are decoded in different ways. */
function lettersOf(text: string): string {
  return text.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** Without the markup of the pages, which Tika leaves out. */
function isRight(sample: Sample, found: string): boolean {
  const bare = (text: string) => lettersOf(text.replace(/<title>[^<]*<\/title>|<[^<>]*>/g, ' '));
  return bare(found) === bare(sample.text);
}

async function readAll(samples: readonly Sample[], directory: string): Promise<Map<string, boolean[]>> {
  const results = new Map<string, boolean[]>();
  const files = samples.map((sample, i) => {
    const path = join(directory, `${i}.txt`);
    writeFileSync(path, sample.bytes);
    return path;
  });
  const begin = process.cpuUsage();
  const found = samples.map(({ bytes }) => decodeBytes(bytes, { html: false }));
  const used = process.cpuUsage(begin);
  console.log(`# ${((used.user + used.system) / 1000 / samples.length).toFixed(2)} ms a text`);
  results.set(
    'Essence',
    samples.map((sample, i) => isRight(sample, found[i] ?? '')),
  );
  if (values.worst) {
    for (const [i, sample] of samples.entries())
      if (!isRight(sample, found[i] ?? ''))
        console.log(`# ${sample.kind} ${files[i]}: ${found[i]?.slice(0, 100).replace(/\s+/g, ' ')}`);
  }
  const labels = execFileSync('uchardet', files, { encoding: 'utf8', maxBuffer: 1 << 24 })
    .trim()
    .split('\n')
    .map((line) => line.replace(/^.*: /, ''));
  results.set(
    'uchardet',
    samples.map((sample, i) => isRight(sample, recode(sample.bytes, labels[i] ?? ''))),
  );
  if (existsSync(JAR)) {
    const tika = tikaReader(JAR, join('test', 'bench', 'summaries', 'TikaReader.java'));
    const right: boolean[] = [];
    for (const [i, sample] of samples.entries())
      right.push(isRight(sample, (await tika.read(files[i] ?? '')).text));
    await tika[Symbol.asyncDispose]();
    results.set('Tika', right);
  }
  return results;
}

/**
 * The manual in twelve encodings and eight containers: the share of its words in the full text of the summary.
 */
async function checkContainers(): Promise<void> {
  const text = readFileSync(MANUAL, 'utf8').slice(0, 30_000);
  const content = { text, title: 'Руководство', name: 'Руководство по сборщику' };
  const bad: string[] = [];
  let files = 0;
  for (const encoding of ENCODINGS) {
    for (const [file, body] of containersOf(content, encoding)) {
      files++;
      const output = await summarize(`ftp://a.test/${file}`, body, { fullText: true });
      const found = Object.values(contentOf(output)).join('\n');
      const share = overlap(wordsOf(text), wordsOf(found));
      if (share < 0.98) bad.push(`${encoding.name} ${file} ${share.toFixed(2)}`);
    }
  }
  check(
    bad.length === 0,
    `the manual in ${files} files of twelve encodings and eight containers: ${bad.join(', ') || 'all read'}`,
  );
}

function recode(bytes: Uint8Array, label: string): string {
  try {
    return execFileSync(
      'iconv',
      ['-c', '-f', label.replace(/^MAC-CENTRALEUROPE$/, 'MACCENTRALEUROPE'), '-t', 'UTF-8'],
      {
        input: bytes,
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    ).toString('utf8');
  } catch {
    return '';
  }
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (!isInstalled('uchardet') || texts('ru').length === 0) {
  console.log(`ok 1 - E-77 character sets # SKIP no uchardet, or no gnome-user-docs below ${corpus}`);
} else {
  const samples = makeSamples();
  const directory = mkdtempSync(join(tmpdir(), 'charsets-'));
  try {
    const results = await readAll(samples, directory);
    const kinds = [...new Set(samples.map(({ kind }) => kind))];
    for (const kind of kinds) {
      const of = samples.flatMap((sample, i) => (sample.kind === kind ? [i] : []));
      const counts = [...results].map(([name, right]) => `${name} ${of.filter((i) => right[i]).length}`);
      console.log(`# ${kind.padEnd(26)} ${of.length} texts: ${counts.join(', ')}`);
    }
    if (existsSync(MANUAL)) await checkContainers();
    const count = (name: string) => results.get(name)?.filter(Boolean).length ?? 0;
    const ours = count('Essence');
    check(samples.length >= 500, `${samples.length} texts of ${kinds.length} kinds are compared`);
    for (const name of results.keys()) {
      if (name !== 'Essence')
        check(ours > count(name), `${ours} of them are decoded rightly; by ${name} ${count(name)}`);
    }
  } finally {
    if (!values.worst) rmSync(directory, { recursive: true });
  }
}
console.log(`1..${Math.max(tests, 1)}`);
