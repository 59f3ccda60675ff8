/**
 * Compares the text that the kit's readers extract from documents with that of Debian's programs (6.2, E-140).
 *
 *     node dist/test/peers/essence-oracles.js [--type Pdf] [--files 40] [--worst] DIRECTORY
 *
 * DIRECTORY contains unpacked packages (`apt-get download P && dpkg -x P_*.deb DIRECTORY/P`): texlive-latex-base-doc,
 * texlive-extra-utils (Pdf, TeX), spooles-doc, mcl-doc, groff (PostScript), axiom-doc, pari-doc (Dvi), cxref-doc,
 * sc3-plugins-language (RTF), freebsd-manpages, manpages-dev (ManPage). Programs: pdftotext, ps2ascii, catdvi, detex,
 * unrtf, mandoc, odt2txt, catdoc. A type without its program or files is skipped with a note.
 *
 * The measure is the share of the words of the program, as a multiset, that the kit's text contains. Prints one line per type
 * (median, tenth percentile, processor time) as TAP, and with `--worst` the files with the lowest shares. Exit status 1: a
 * median is below 0.95 (0.9 for WordPerfect, whose notes are not read). Skipped without files.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createEssenceContext } from '../../servers/essence/context.js';
import { SourceDocument } from '../../servers/essence/document.js';
import { SUMMARIZERS } from '../../servers/essence/summarizers/index.js';
import {
  gunzip,
  oracleText,
  overlap,
  sampleEvenly,
  TEXT_ORACLES,
  type TextOracle,
  wordsOf,
} from '../helpers/text-oracles.js';
import { TEST_DATA } from '../run/needs.js';

/** Medians below this fail. */
const MIN_MEDIAN = 0.95;
/** A file counts only if the other program finds at least this many words. */
const MIN_WORDS = 50;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: 'string', multiple: true },
    files: { type: 'string', default: '40' },
    worst: { type: 'boolean', default: false },
  },
});
const corpus = positionals[0] ?? join(TEST_DATA, 'essence-corpus');
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
let compared = 0;
try {
  for (const oracle of TEXT_ORACLES) {
    if (values.type === undefined || values.type.includes(oracle.type)) await compare(oracle);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
if (compared === 0) console.log(`ok 1 - E-140 # SKIP no files below ${corpus}`);

async function compare(oracle: TextOracle): Promise<void> {
  const { type, names, within, minMedian = MIN_MEDIAN } = oracle;
  const candidates = found.filter(
    (file) => names.test(file.replace(/\.gz$/, '')) && (within === undefined || within.test(file)),
  );
  const shares: { file: string; share: number }[] = [];
  let milliseconds = 0;
  for (const file of sampleEvenly(candidates, Number(values.files))) {
    const raw = await readFile(join(corpus, file)).catch(() => undefined);
    if (raw === undefined) continue;
    const body = file.endsWith('.gz') ? gunzip(raw) : raw;
    if (body === undefined) continue;
    const plain = join(scratch, 'document');
    await writeFile(plain, body);
    const theirs = await oracleText(oracle, plain);
    if (theirs === undefined) {
      console.log(`# ${type}: ${oracle.command('')[0]} is not installed`);
      return;
    }
    const expected = wordsOf(theirs);
    if (expected.length < MIN_WORDS) continue;
    const before = process.cpuUsage();
    const ours = await ourText(type, file.replace(/\.gz$/, ''), body);
    const spent = process.cpuUsage(before);
    milliseconds += (spent.user + spent.system) / 1000;
    shares.push({ file, share: overlap(expected, wordsOf(ours)) });
  }
  if (shares.length === 0) {
    console.log(`# ${type}: no files below ${corpus}`);
    return;
  }
  shares.sort((a, b) => a.share - b.share);
  const quantile = (rank: number) => shares[Math.floor((shares.length - 1) * rank)]!.share;
  const verdict = quantile(0.5) >= minMedian ? 'ok' : 'not ok';
  console.log(
    `${verdict} ${++compared} - E-140 ${type}: ${shares.length} files, median ${quantile(0.5).toFixed(3)}, tenth percentile ${quantile(0.1).toFixed(3)}, ` +
      `${Math.round(milliseconds / shares.length)} ms of processor time per file`,
  );
  if (quantile(0.5) < minMedian) process.exitCode = 1;
  if (values.worst) {
    for (const { file, share } of shares.slice(0, 8)) console.log(`  ${share.toFixed(3)} ${file}`);
  }
}

async function ourText(type: string, name: string, body: Uint8Array): Promise<string> {
  const input = { url: `file:///${encodeURI(name)}`, body, lastModificationTime: 0, updateTime: 0 };
  const document = new SourceDocument(input, context.settings, false);
  const summary = await SUMMARIZERS.get(type)!(document, context);
  if (values.worst) for (const warning of document.warnings) console.log(`  # ${name}: ${warning}`);
  return summary.text ?? '';
}
