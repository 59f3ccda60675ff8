/**
 * Summarizes real files of every type in the pool. Checks that no file crashes it or takes too long, memory is
 * bounded, every object is strict SOIF, archives of the files yield them byte for byte, and the texts match
 * those of Debian's programs.
 *
 *     node dist/test/peers/essence-corpora.js [--all] [--files 120] [--oracle-files 25] [--worst] [DIRECTORY]
 *
 * DIRECTORY (default: `essence-corpus` in the folder of test data) contains unpacked packages
 * (`apt-get download P && dpkg -x P_*.deb DIRECTORY/P`): texlive-latex-base-doc, texlive-extra-utils (Pdf,
 * TeX), spooles-doc, mcl-doc, groff (PostScript), axiom-doc, pari-doc (Dvi), cxref-doc, sc3-plugins-language
 * (RTF), freebsd-manpages, manpages-dev (ManPage); other useful ones are libcurl4-doc (Pdf, HTML, C),
 * libpython3.11-testsuite (mail, archives, sound, broken files), python3-docutils (HTML), spamassassin (mail),
 * postgresql-doc-15 (HTML). Of each type at most `--files` are read, and at most `--oracle-files` compared;
 * `--all` uses all. Prints TAP: one line per property, and the peak of memory.
 *
 * The measure is the share of the words of the other program, as a multiset, that the full text contains. It
 * must be at least 0.95 in the median of each type (0.9 for WordPerfect), and at least 0.7 for each file that
 * is not among KNOWN_DIFFERENCES.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from 'cheerio';
import { decodeSoif } from '../../protocols/soif/index.js';
import {
  type EssenceInput,
  type EssenceOptions,
  type EssenceOutput,
  EssencePool,
  typeByUrl,
} from '../../servers/essence/index.js';
import { ARCHIVE_FORMATS, type ArchiveMember } from '../helpers/archives.js';
import { gunzip, oracleText, overlap, sampleEvenly, TEXT_ORACLES, wordsOf } from '../helpers/text-oracles.js';
import { TEST_DATA } from '../run/needs.js';

/** Minimum number of files of a complete corpus. */
const MIN_FILES = 1000;
const MIN_MEDIAN = 0.95;
const MIN_SHARE = 0.7;
/** A file counts only if the other program finds at least this many words. */
const MIN_WORDS = 50;
/** Maximum size of a file. A Gatherer has such a limit too. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Limit of the peak memory of the process with two workers. */
const MAX_RSS_MIB = 1500;
/** Number of files in one archive, and maximum size of each. */
const MEMBERS = 12;
const MAX_MEMBER_BYTES = 150_000;

/** Files whose text differs from the other program's for a known reason. */
const KNOWN_DIFFERENCES: readonly (readonly [file: RegExp, reason: string])[] = [
  [/\/(?:parimacro|pdfmacs)\.tex$/, 'detex prints definitions of macros, which are not text'],
  [/\/bookmark-example\.tex$/, 'most of it is settings before the document, which detex prints'],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    files: { type: 'string', default: '120' },
    'oracle-files': { type: 'string', default: '25' },
    worst: { type: 'boolean', default: false },
  },
});
const maxFiles = values.all ? Number.POSITIVE_INFINITY : Number(values.files);
const maxCompared = values.all ? Number.POSITIVE_INFINITY : Number(values['oracle-files']);
const corpus = positionals[0] ?? join(TEST_DATA, 'essence-corpus');
const COMMON_OPTIONS: EssenceOptions = {
  gathererName: 'corpora',
  gathererHost: 'localhost',
  gathererVersion: '0',
  refreshRate: 0,
  timeToLive: 0,
  stoplist: '/dev/null',
};

let tests = 0;
const found = await listCorpus();
if (found.length === 0) {
  console.log(`ok 1 - E-140 real files # SKIP no files below ${corpus}`);
} else {
  const chosen = await checkFiles();
  await checkArchives(chosen);
  await checkTexts();
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  check(peak <= MAX_RSS_MIB, `E-140 memory is bounded: the peak is ${peak} MiB of at most ${MAX_RSS_MIB}`);
  console.log(`1..${tests}`);
}

/** Prints the result of a test as TAP. */
function check(passed: boolean, title: string): void {
  console.log(`${passed ? 'ok' : 'not ok'} ${++tests} - ${title}`);
  if (!passed) process.exitCode = 1;
}

async function listCorpus(): Promise<string[]> {
  const entries = await readdir(corpus, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Summarizes files of each type with the default options except the stop list. Returns the names of the files.
 */
async function checkFiles(): Promise<string[]> {
  await using pool = await EssencePool.create({ ...COMMON_OPTIONS, workers: 2 });
  const byType = new Map<string, string[]>();
  for (const file of found) {
    const type = typeByUrl(urlOf(plainName(file)), pool.rules) ?? 'by content';
    byType.set(type, [...(byType.get(type) ?? []), file]);
  }
  const chosen: string[] = [];
  const failures: string[] = [];
  for (const [type, files] of [...byType].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sample = sampleEvenly(files, maxFiles);
    const before = performance.now();
    let warned = 0;
    let bytes = 0;
    await forEachConcurrently(sample, async (file) => {
      const input = await inputOf(file);
      bytes += input.body.length;
      const output = await pool.summarize(input).catch((error: unknown) => {
        failures.push(`${file}: ${String(error)}`);
      });
      if (output === undefined) return;
      if (output.warnings.length > 0) warned++;
      if (values.worst) for (const warning of output.warnings) console.log(`  # ${file}: ${warning}`);
      if (!isStrict(output)) failures.push(`${file}: not strict SOIF`);
    });
    chosen.push(...sample);
    const perFile = Math.round((performance.now() - before) / sample.length);
    console.log(
      `# ${type}: ${sample.length} files, ${Math.round(bytes / 1024)} KiB, ${perFile} ms each, ${warned} with warnings`,
    );
  }
  for (const failure of failures.slice(0, 40)) console.log(`# ${failure}`);
  check(chosen.length >= MIN_FILES, `${chosen.length} real files are read, of at least ${MIN_FILES}`);
  check(failures.length === 0, `E-70, E-140 no file fails: ${failures.length}`);
  check(pool.statistics.replaced === 0, `E-70 no worker was replaced: ${pool.statistics.replaced}`);
  return chosen;
}

/** Packs files into archives of all formats and checks that unpacking yields them byte for byte, in order. */
async function checkArchives(chosen: readonly string[]): Promise<void> {
  await using pool = await EssencePool.create({ ...COMMON_OPTIONS, workers: 2 });
  const bodies: (readonly [file: string, body: Uint8Array])[] = [];
  for (const file of sampleEvenly(chosen, 400)) {
    const body = await readFile(file);
    const nested =
      /\.(gz|zip|tar|bz2|xz|tgz|eml|lsm|uue?|zst|hqx)$/i.test(file) ||
      /^(From |Path: |Received: )/.test(body.toString('latin1', 0, 20));
    if (body.length > 0 && body.length <= MAX_MEMBER_BYTES && !nested) bodies.push([file, body]);
  }
  for (const { name, textOnly, pack } of ARCHIVE_FORMATS) {
    const candidates = textOnly ? bodies.filter(([, body]) => isPlainText(body)) : bodies;
    let mismatches = 0;
    let members = 0;
    let missing = false;
    for (let start = 0; start < candidates.length && start < 5 * MEMBERS && !missing; start += MEMBERS) {
      const files = candidates
        .slice(start, start + MEMBERS)
        .map(
          ([file, body], i): ArchiveMember => [
            `m${i}${/^\.[A-Za-z0-9]{1,9}$/.exec(extname(file))?.[0] ?? ''}`,
            body,
          ],
        );
      const packed = pack(files);
      if (packed === undefined) missing = true;
      else {
        const output = await pool.summarize({
          url: `ftp://a.test/${name}`,
          body: packed,
          lastModificationTime: 0,
          updateTime: 0,
        });
        const sums = digestsIn(output);
        files.forEach(([member, body]) => {
          members++;
          if (sums.get(member) !== createHash('md5').update(body).digest('hex')) {
            mismatches++;
            console.log(`# ${name}: ${member} is missing or differs; ${output.warnings.join('; ')}`);
          }
        });
      }
    }
    if (missing) console.log(`# ${name}: the program that creates it is not installed`);
    else
      check(
        mismatches === 0 && members > 0,
        `E-43, E-44 ${name}: ${members} members are unpacked byte for byte, ${mismatches} are not`,
      );
  }
}

/** Reads the MD5 digests of the members by name from the object. */
function digestsIn(output: EssenceOutput): Map<string, string> {
  const sums = new Map<string, string>();
  if (output.soif === undefined) return sums;
  const object = decodeSoif(output.soif);
  for (let n = 1; ; n++) {
    const name = object.text(`Embed<${n}>-Nested-Filename`);
    if (name === undefined) return sums;
    sums.set(name, object.text(`Embed<${n}>-MD5`) ?? '');
  }
}

/** Compares full texts with those of other programs, and of HTML with those of another parser. */
async function checkTexts(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'essence-corpora-'));
  await using pool = await EssencePool.create({
    ...COMMON_OPTIONS,
    workers: 2,
    fullText: true,
    maxObjectBytes: 64 * 1024 * 1024,
    timeLimitMs: 120_000,
  });
  try {
    for (const oracle of TEXT_ORACLES) {
      const candidates = found.filter(
        (file) => oracle.names.test(plainName(file)) && oracle.within?.test(file) !== false,
      );
      await compare(pool, oracle, candidates, async (body, i) => {
        const plain = join(scratch, `document-${i}`);
        await writeFile(plain, body);
        const text = await oracleText(oracle, plain);
        await rm(plain);
        return text;
      });
    }
    await compare(
      pool,
      { type: 'HTML' },
      found.filter((file) => /\.html?$/.test(plainName(file))),
      async (body) => {
        const page = load(Buffer.from(body));
        page('script, style, template, noscript, iframe, noframes').remove();
        // Block elements end words.
        page('*').append(' ').prepend(' ');
        return page.root().text();
      },
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Compares the texts of one type. */
async function compare(
  pool: EssencePool,
  { type, minMedian = MIN_MEDIAN }: { readonly type: string; readonly minMedian?: number },
  candidates: readonly string[],
  extractText: (body: Uint8Array, i: number) => Promise<string | undefined>,
): Promise<void> {
  const shares: { readonly file: string; readonly share: number }[] = [];
  let missing = false;
  let number = 0;
  await forEachConcurrently(sampleEvenly(candidates, maxCompared), async (file) => {
    const raw = await readFile(file);
    const body = file.endsWith('.gz') ? gunzip(raw) : raw;
    if (body === undefined || body.length > MAX_BYTES || missing) return;
    const text = await extractText(body, number++);
    if (text === undefined) missing = true;
    const expected = wordsOf(text ?? '');
    if (expected.length < MIN_WORDS) return;
    const output = await pool.summarize({ ...(await inputOf(plainName(file), body)) }).catch(() => undefined);
    const ours = output?.soif === undefined ? '' : (decodeSoif(output.soif).text('Full-Text') ?? '');
    shares.push({ file, share: overlap(expected, wordsOf(ours)) });
  });
  if (missing || shares.length === 0) {
    console.log(`# ${type}: ${missing ? 'its program is not installed' : `no files below ${corpus}`}`);
    return;
  }
  shares.sort((a, b) => a.share - b.share);
  const median = shares[Math.floor((shares.length - 1) / 2)]!.share;
  const low = shares.filter(({ share }) => share < MIN_SHARE);
  const unexplained = low.filter(({ file }) => !KNOWN_DIFFERENCES.some(([pattern]) => pattern.test(file)));
  for (const { file, share } of values.worst ? shares.slice(0, 8) : low) {
    const reason = KNOWN_DIFFERENCES.find(([pattern]) => pattern.test(file))?.[1];
    console.log(`#   ${share.toFixed(3)} ${file}${reason === undefined ? '' : `: ${reason}`}`);
  }
  check(
    median >= minMedian,
    `E-140 ${type}: the median share of common words of ${shares.length} files is ${median.toFixed(3)}`,
  );
  check(
    unexplained.length === 0,
    `E-140 ${type}: no file is below ${MIN_SHARE} without a known reason: ${unexplained.length} (with one: ${low.length - unexplained.length})`,
  );
}

/** Processes the items, four at a time: the workers process two while two are read. */
async function forEachConcurrently<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const each of rest) await work(each);
    }),
  );
}

async function inputOf(file: string, body?: Uint8Array): Promise<EssenceInput> {
  const bytes = body ?? ((await stat(file)).size > MAX_BYTES ? new Uint8Array() : await readFile(file));
  return { url: urlOf(file), body: new Uint8Array(bytes), lastModificationTime: 0, updateTime: 0 };
}

function urlOf(file: string): string {
  return `file://localhost${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}`;
}

function plainName(file: string): string {
  return file.replace(/\.gz$/, '');
}

/** Whether the object is strict SOIF, or the rules of its type reject the document. */
function isStrict(output: EssenceOutput): boolean {
  if (output.soif === undefined) return output.rejected;
  return decodeSoif(output.soif).text('Type') === output.type;
}

/** Whether a shell archive can contain the file. */
function isPlainText(body: Uint8Array): boolean {
  return !body.includes(0) && !body.includes(0x0d) && body.at(-1) === 0x0a;
}
