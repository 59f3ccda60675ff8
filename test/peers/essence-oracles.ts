/**
 * How much of a document's text our readers find, beside the programs that Debian has for it (6.2, E-140).
 *
 *     node .build/X/test/peers/essence-oracles.js [--type Pdf] [--files 40] [--worst] DIRECTORY
 *
 * DIRECTORY holds unpacked packages (`apt-get download P && dpkg -x P_*.deb DIRECTORY/P`): texlive-latex-base-doc,
 * texlive-extra-utils (Pdf, TeX), spooles-doc, mcl-doc, groff (PostScript), axiom-doc, pari-doc (Dvi), cxref-doc,
 * sc3-plugins-language (RTF), freebsd-manpages, manpages-dev (ManPage). Programs: pdftotext, ps2ascii, catdvi, detex,
 * unrtf, mandoc, odt2txt, catdoc. A type whose program or files are missing is passed over and said so.
 *
 * The measure: of the words the program prints, as a multiset, the share that our text has too. Prints one line a type
 * (median, tenth percentile, processor time) as TAP, and with `--worst` the files below the median goal. Exit status 1: a
 * median is below 0.95. Without files there is nothing to judge, and that is skipped.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { createEssenceContext } from '../../servers/gatherer/essence/context.js';
import { SourceDocument } from '../../servers/gatherer/essence/document.js';
import { SUMMARIZERS } from '../../servers/gatherer/essence/summarizers/index.js';

const run = promisify(execFile);

/** Medians below this fail. */
const GOAL = 0.95;
/** Words an oracle must have found in a file for it to count. */
const MIN_WORDS = 50;
/** Bytes of an unpacked file. */
const MAX_BYTES = 20_000_000;

interface Oracle {
  readonly type: string;
  /** Names of files of the type; `.gz` may follow. */
  readonly names: RegExp;
  readonly command: (file: string) => readonly [program: string, ...args: string[]];
  /** Where the packages are whose files are of the type, when the name alone does not tell. */
  readonly within?: RegExp;
}

const ORACLES: readonly Oracle[] = [
  { type: 'Pdf', names: /\.pdf$/, command: (file) => ['pdftotext', '-enc', 'UTF-8', file, '-'] },
  { type: 'PostScript', names: /\.ps$/, command: (file) => ['ps2ascii', file] },
  { type: 'Dvi', names: /\.dvi$/, command: (file) => ['catdvi', '-e', '0', file] },
  { type: 'LaTeX', names: /\.tex$/, command: (file) => ['detex', '-n', '-l', file], within: /texlive|cxref/ },
  { type: 'TeX', names: /\.tex$/, command: (file) => ['detex', '-n', file], within: /pari/ },
  { type: 'RTF', names: /\.rtf$/, command: (file) => ['unrtf', '--text', file] },
  { type: 'Troff', names: /\.[1-9]$/, command: (file) => ['mandoc', '-T', 'utf8', '-O', 'width=500', file] },
  { type: 'OpenDocument', names: /\.odt$/, command: (file) => ['odt2txt', '--width=-1', file] },
  { type: 'Word', names: /\.doc$/, command: (file) => ['catdoc', '-dutf-8', file] },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: 'string', multiple: true },
    files: { type: 'string', default: '40' },
    worst: { type: 'boolean', default: false },
  },
});
const corpus = positionals[0] ?? join(tmpdir(), 'essence-corpus');
const context = await createEssenceContext({
  gathererName: 'oracles',
  gathererHost: 'localhost',
  gathererVersion: '0',
  refreshRate: 0,
  timeToLive: 0,
  maxObjectBytes: 64 * 1024 * 1024,
});
const found = (await readdir(corpus, { recursive: true }).catch((): string[] => [])).sort();
const scratch = await mkdtemp(join(tmpdir(), 'essence-oracles-'));
let judged = 0;
try {
  for (const oracle of ORACLES) {
    if (values.type === undefined || values.type.includes(oracle.type)) await compare(oracle);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
if (judged === 0) console.log(`ok 1 - E-140 # SKIP nothing to judge under ${corpus}`);

async function compare(oracle: Oracle): Promise<void> {
  const { type, names, within } = oracle;
  const fitting = found.filter(
    (file) => names.test(file.replace(/\.gz$/, '')) && (within === undefined || within.test(file)),
  );
  // Spread over the corpus: neighbours are alike.
  const step = Math.max(1, Math.floor(fitting.length / Number(values.files)));
  const shares: { file: string; share: number }[] = [];
  let milliseconds = 0;
  for (let i = 0; i < fitting.length && shares.length < Number(values.files); i += step) {
    const file = fitting[i]!;
    const raw = await readFile(join(corpus, file)).catch(() => undefined);
    if (raw === undefined) continue;
    const body = file.endsWith('.gz') ? unpacked(raw) : raw;
    if (body === undefined) continue;
    const plain = join(scratch, 'document');
    await writeFile(plain, body);
    const theirs = await oracleText(oracle, plain);
    if (theirs === undefined) {
      console.log(`# ${type}: ${oracle.command('')[0]} is not installed`);
      return;
    }
    const wanted = wordsOf(theirs);
    if (wanted.length < MIN_WORDS) continue;
    const before = process.cpuUsage();
    const ours = await ourText(type, file.replace(/\.gz$/, ''), body);
    const spent = process.cpuUsage(before);
    milliseconds += (spent.user + spent.system) / 1000;
    shares.push({ file, share: overlap(wanted, wordsOf(ours)) });
  }
  if (shares.length === 0) {
    console.log(`# ${type}: no files under ${corpus}`);
    return;
  }
  shares.sort((a, b) => a.share - b.share);
  const at = (part: number) => shares[Math.floor((shares.length - 1) * part)]!.share;
  const verdict = at(0.5) >= GOAL ? 'ok' : 'not ok';
  console.log(
    `${verdict} ${++judged} - E-140 ${type}: ${shares.length} files, median ${at(0.5).toFixed(3)}, tenth percentile ${at(0.1).toFixed(3)}, ` +
      `${Math.round(milliseconds / shares.length)} ms of processor a file`,
  );
  if (at(0.5) < GOAL) process.exitCode = 1;
  if (values.worst) {
    for (const { file, share } of shares.slice(0, 8)) console.log(`  ${share.toFixed(3)} ${file}`);
  }
}

/** Undefined when the file is broken or too large. */
function unpacked(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    return undefined;
  }
}

/** Undefined when the program is missing; what it printed before it failed otherwise. */
async function oracleText({ command }: Oracle, file: string): Promise<string | undefined> {
  const [program, ...args] = command(file);
  try {
    return (await run(program, args, { maxBuffer: MAX_BYTES, timeout: 60_000 })).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}

async function ourText(type: string, name: string, body: Uint8Array): Promise<string> {
  const input = { url: `file:///${encodeURI(name)}`, body, lastModificationTime: 0, updateTime: 0 };
  const document = new SourceDocument(input, context.settings, false);
  const summary = await SUMMARIZERS.get(type)!(document, context);
  if (values.worst) for (const warning of document.warnings) console.log(`  # ${name}: ${warning}`);
  return summary.text ?? '';
}

/** Words divided at a line's end are joined, overstrikes undone, ligatures and accents composed: both sides alike. */
function wordsOf(text: string): string[] {
  const whole = text
    .replaceAll(/.[\b]/g, '')
    // What unrtf says about itself.
    .replaceAll(/^###.*$/gm, '')
    .normalize('NFKC')
    .replace(/(\p{L})[-‐]\n\s*(\p{Ll})/gu, '$1$2')
    .toLowerCase();
  return whole.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function overlap(wanted: readonly string[], got: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of got) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of wanted) {
    const left = counts.get(word) ?? 0;
    if (left > 0) {
      common++;
      counts.set(word, left - 1);
    }
  }
  return common / wanted.length;
}
