// Benchmark `summaries`: what the summarizers find, beside Apache Tika, over files of many types: the share of
// known words, right titles, authors, dates and languages, and the processor time of a file. Prints a line for
// each type and writes all figures as JSON.
//   npm run bench -- summaries [--packages DIRECTORY] [--tika JAR] [--type TYPE]... [--files N] [--passes N]
//   [--worst]
// DIRECTORY contains unpacked Debian packages: installation-guide-amd64, whose pages pandoc writes in twenty
// formats, and those of test/peers/essence-corpora.ts. Needs pandoc; ffmpeg, exiftool, universal-ctags and
// Debian's text programs for the types that they make or read. JAR is tika-app (Maven:
// org.apache.tika:tika-app); without it only the kit is measured. Both sides read every file of a type five
// times (--passes); the last pass counts, so that both are warm. The time of one type is summed over its files;
// the ratio of the whole is over all files, that of a usual type is the median over the types.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { overlap } from '../helpers/text-oracles.js';
import { TEST_DATA } from '../run/needs.js';
import { median, print, writeResult } from './harness.js';
import { type CorpusFile, makeCorpus } from './summaries/corpus.js';
import { kitReader } from './summaries/kit-reader.js';
import { type Found, isDay, isSame, names, type Reader, unitsOf } from './summaries/reader.js';
import { tikaReader } from './summaries/tika-reader.js';

/** The least share of Tika's words, and the least ratio of the processor time. */
const GOALS = { words: 0.98, speed: 5 };
/** The least processor time of a type from which a ratio is made. */
const MIN_TICKS_MS = 50;

interface Scores {
  readonly files: number;
  /** Median share of the known words; undefined if no words are known. */
  readonly words: number | undefined;
  /** Shares of the files of which the attribute is known. */
  readonly title: number | undefined;
  readonly author: number | undefined;
  readonly date: number | undefined;
  readonly language: number | undefined;
  readonly cpuMillisecondsPerFile: number;
  readonly worst: readonly string[];
}

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      packages: { type: 'string', default: join(TEST_DATA, 'essence-corpus') },
      corpus: { type: 'string', default: join(tmpdir(), 'summaries-corpus') },
      tika: { type: 'string', default: join(TEST_DATA, 'tika', 'tika-app-2.9.2.jar') },
      type: { type: 'string', multiple: true },
      files: { type: 'string', default: '40' },
      passes: { type: 'string', default: '5' },
      worst: { type: 'boolean', default: false },
    },
  });
  const corpus = await makeCorpus({
    packages: values.packages,
    directory: values.corpus,
    files: Number(values.files),
    print,
  });
  const byType = new Map<string, CorpusFile[]>();
  for (const file of corpus) byType.set(file.type, [...(byType.get(file.type) ?? []), file]);
  print(`${corpus.length} files of ${byType.size} types`);
  const readers: Reader[] = [];
  // The Java source stands beside this file's source, not beside its compiled form.
  const source = join('test', 'bench', 'summaries', 'TikaReader.java');
  if (existsSync(values.tika)) readers.push(tikaReader(values.tika, source));
  else print(`skipped: Tika: no ${values.tika}`);
  readers.unshift(await kitReader(readers.flatMap(({ pid }) => pid ?? [])));
  const rows: { type: string; kit: Scores; tika?: Scores | undefined }[] = [];
  try {
    for (const [type, files] of byType) {
      if (values.type !== undefined && !values.type.includes(type)) continue;
      const [kit, tika] = await readAll(readers, files, Number(values.passes) - 1);
      if (kit === undefined) continue;
      rows.push({ type, kit, tika });
      printRow(type, kit, tika);
      if (values.worst) for (const line of kit.worst) print(`    ${line}`);
    }
  } finally {
    for (const reader of readers) await reader[Symbol.asyncDispose]();
  }
  await writeResult('summaries', { files: corpus.length, goals: GOALS, types: rows });
  summarize(rows);
}

async function readAll(
  readers: readonly Reader[],
  files: readonly CorpusFile[],
  warmingPasses: number,
): Promise<Scores[]> {
  const scores: Scores[] = [];
  for (const reader of readers) {
    for (let pass = 0; pass < warmingPasses; pass++) for (const { path } of files) await reader.read(path);
    scores.push(await score(reader, files));
  }
  return scores;
}

async function score(reader: Reader, files: readonly CorpusFile[]): Promise<Scores> {
  const shares: { share: number; path: string }[] = [];
  const right = {
    title: [] as boolean[],
    author: [] as boolean[],
    date: [] as boolean[],
    language: [] as boolean[],
  };
  const begin = await reader.cpuMilliseconds();
  const answers: (readonly [CorpusFile, Found])[] = [];
  for (const file of files) answers.push([file, await reader.read(file.path)]);
  const milliseconds = (await reader.cpuMilliseconds()) - begin;
  for (const [{ path, text, title, author, date, language }, whole] of answers) {
    if (text !== undefined) shares.push({ share: overlap(unitsOf(text), unitsOf(whole.text)), path });
    const found = (await reader.attributes?.(path)) ?? whole;
    if (title !== undefined) right.title.push(isSame(title, found.title));
    if (author !== undefined) right.author.push(names(author, found.author));
    if (date !== undefined) right.date.push(isDay(date, found.date));
    if (language !== undefined)
      right.language.push(found.language?.toLowerCase().startsWith(language) ?? false);
  }
  const shareOf = (answers: readonly boolean[]) =>
    answers.length === 0 ? undefined : answers.filter(Boolean).length / answers.length;
  shares.sort((a, b) => a.share - b.share);
  return {
    files: files.length,
    words: shares.length === 0 ? undefined : median(shares.map(({ share }) => share)),
    title: shareOf(right.title),
    author: shareOf(right.author),
    date: shareOf(right.date),
    language: shareOf(right.language),
    cpuMillisecondsPerFile: milliseconds / files.length,
    worst: shares.slice(0, 3).map(({ share, path }) => `${share.toFixed(3)} ${path}`),
  };
}

function printRow(type: string, kit: Scores, tika: Scores | undefined): void {
  const pair = (ours: number | undefined, theirs: number | undefined) =>
    ours === undefined ? '    -    ' : `${ours.toFixed(2)}/${theirs?.toFixed(2) ?? ' -  '}`;
  const parts = (['words', 'title', 'author', 'date', 'language'] as const).map(
    (field) => `${field} ${pair(kit[field], tika?.[field])}`,
  );
  const cpu = `${kit.cpuMillisecondsPerFile.toFixed(1)}/${tika?.cpuMillisecondsPerFile.toFixed(1) ?? '-'} ms`;
  print(`${type.padEnd(22)} ${String(kit.files).padStart(4)}  ${parts.join('  ')}  ${cpu}`);
}

function summarize(rows: readonly { type: string; kit: Scores; tika?: Scores | undefined }[]): void {
  const ratios: { type: string; ratio: number }[] = [];
  let ours = 0;
  let theirs = 0;
  const speeds: number[] = [];
  for (const { type, kit, tika } of rows) {
    if (tika === undefined) continue;
    ours += kit.cpuMillisecondsPerFile * kit.files;
    theirs += tika.cpuMillisecondsPerFile * tika.files;
    // Times are counted in ticks of 10 ms: a few small files have none.
    const total = kit.cpuMillisecondsPerFile * kit.files;
    if (total >= MIN_TICKS_MS && (tika.words ?? 1) > 0)
      speeds.push(tika.cpuMillisecondsPerFile / kit.cpuMillisecondsPerFile);
    if (kit.words !== undefined && tika.words !== undefined)
      ratios.push({ type, ratio: kit.words / tika.words });
  }
  if (ratios.length === 0) return;
  const below = ratios
    .filter(({ ratio }) => ratio < GOALS.words)
    .map(({ type, ratio }) => `${type} ${ratio.toFixed(3)}`);
  print(`words, kit / Tika: median ${median(ratios.map(({ ratio }) => ratio)).toFixed(3)} (goal: over 1)`);
  print(`types below ${GOALS.words}: ${below.length === 0 ? 'none' : below.join(', ')}`);
  print(
    `processor time, Tika / kit: ${(theirs / ours).toFixed(2)} over all files, ${median(speeds).toFixed(2)} median of ${speeds.length} types that both read (goal ${GOALS.speed})`,
  );
}
