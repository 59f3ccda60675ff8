// `npm run fuzz`: runs the fuzz targets, each in its own process, and prints one line of TAP for each.
import { execFile, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { coverageFile, findingsFolder, writeInputs } from './corpus.js';
import { instrumentAll } from './instrument.js';
import { scratchOf } from './scratch.js';
import type { Finding, FuzzMessage, FuzzOptions, FuzzStatistics } from './shared.js';
import { TARGET_NAMES } from './targets/index.js';

const HELP = `npm run fuzz -- [TARGET...] [options]

Gives changed inputs to codecs and readers, and keeps those that execute new branches. Without names: all targets.
A name may end with *.

  --seconds N   seconds for each target (default 20)
  --runs N      executions for each target, and some more with long inputs; ends early when they are done
  --seed N      the same seed makes the same inputs (default: random)
  --budget N    seconds for all targets together: each then has less than --seconds, if they are many
  --jobs N      targets at the same time (default: the number of processors)
  --save        store the smallest inputs that cover the same in test/fuzz/corpus/coverage
  --replay FILE runs the one target with a stored input
  --list        prints the names of the targets
`;

/** Bytes of the stored inputs of one target. */
const CORPUS_BYTES = 16 * 1024;
/** A target whose process ended goes on with another seed, this often. */
const MAX_RESTARTS = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '20' },
    runs: { type: 'string', default: '0' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: String(cpus().length) },
    budget: { type: 'string', default: '0' },
    save: { type: 'boolean', default: false },
    replay: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const dist = join(import.meta.dirname, '../..');
const instrumented = join(dist, 'instrumented');
const seed = Number(values.seed ?? process.env.HARVEST_SEED ?? Math.floor(Math.random() * 1e9));

interface Outcome {
  readonly statistics: FuzzStatistics;
  readonly seconds: number;
  readonly findings: readonly string[];
  readonly unconfirmed: number;
}

function select(patterns: readonly string[]): string[] {
  if (patterns.length === 0) return [...TARGET_NAMES];
  return patterns.flatMap((pattern) => {
    const names = TARGET_NAMES.filter((name) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
    if (names.length === 0) throw new RangeError(`no target is called ${pattern}: --list prints the names`);
    return names;
  });
}

/** Runs an input in code without counters. @returns what it printed, and whether it is a finding */
async function replay(
  target: string,
  file: string,
  mode: 'run' | 'confirm' = 'run',
): Promise<{ text: string; failed: boolean }> {
  return new Promise((resolve) => {
    const script = join(import.meta.dirname, 'replay.js');
    const options = { timeout: 60_000, maxBuffer: 1 << 26 };
    execFile(
      process.execPath,
      ['--max-old-space-size=1024', script, target, file, mode],
      options,
      (error, stdout, stderr) => {
        const killed = error?.killed === true ? 'stopped after 60 s\n' : '';
        resolve({
          text: `${stdout}${killed}${stdout === '' ? stderr.slice(-2000) : ''}`,
          failed: error !== null,
        });
      },
    );
  });
}

/**
 * Stores the input. Hangs, memory and deaths count only when the input alone, in code without counters, shows
 * them.
 */
async function store(target: string, finding: Finding): Promise<string | undefined> {
  const folder = findingsFolder(target);
  await mkdir(folder, { recursive: true });
  const hash = createHash('sha256').update(finding.input).digest('hex').slice(0, 10);
  const isMeasured = finding.kind === 'hang' || finding.kind === 'memory' || finding.kind === 'death';
  const file = isMeasured ? join(dist, `${target}-${hash}.suspect`) : join(folder, `${finding.kind}-${hash}`);
  await writeFile(file, finding.input);
  if (!isMeasured) return report(file, finding.key, finding.message);
  // A busy machine makes processor time longer, too; only what is slow each time is slow.
  let text = '';
  for (let times = 0; times < 3; times++) {
    const result = await replay(target, file, finding.kind === 'hang' ? 'run' : 'confirm');
    if (!result.failed) return undefined;
    text = result.text;
  }
  const stored = join(folder, `${finding.kind}-${hash}`);
  await writeFile(stored, finding.input);
  return report(stored, finding.key, `${finding.message}\nalone: ${text}`);
}

function report(file: string, key: string, message: string): string {
  const lines = message.trimEnd().split('\n').slice(0, 12);
  return [`${relative(process.cwd(), file)}: ${key}`, ...lines]
    .map((line) => `  # ${line.slice(0, 400)}`)
    .join('\n');
}

async function fuzz(target: string, seconds: number): Promise<Outcome> {
  const begin = performance.now();
  const findings: string[] = [];
  let unconfirmed = 0;
  const total = { executions: 0, edges: 0, branches: 0, corpus: 0, phase: '', peak: 0 };
  const keys = new Set<string>();
  for (let restart = 0; restart <= MAX_RESTARTS; restart++) {
    const left = seconds - (performance.now() - begin) / 1000;
    const runs = Number(values.runs) === 0 ? 0 : Number(values.runs) - total.executions;
    if (restart > 0 && (left < 2 || runs < 0)) break;
    const options = { target, seed: seed + restart, seconds: left, runs, corpusBytes: CORPUS_BYTES };
    let last: FuzzStatistics | undefined;
    const storing: Promise<void>[] = [];
    const add = async (finding: Finding): Promise<void> => {
      if (keys.has(finding.key) && finding.kind !== 'hang') return;
      keys.add(finding.key);
      const text = await store(target, finding);
      if (text === undefined) unconfirmed++;
      else findings.push(text);
    };
    const corpus = await runProcess(options, (message) => {
      if (message.kind === 'statistics') last = message.statistics;
      else if (message.kind === 'finding') storing.push(add(message.finding));
    });
    await Promise.all(storing);
    if (last !== undefined) {
      total.executions += last.executions;
      total.edges = Math.max(total.edges, last.edges);
      total.branches = last.branches;
      total.corpus = last.corpus;
      total.peak = Math.max(total.peak, last.peak);
    }
    if (corpus !== undefined) {
      if (values.save) await writeInputs(coverageFile(target), corpus);
      break;
    }
    if (storing.length === 0) {
      findings.push('  # the process of the target ended without a message');
      break;
    }
  }
  return { statistics: total, seconds: (performance.now() - begin) / 1000, findings, unconfirmed };
}

type ProcessMessage = FuzzMessage | { readonly kind: 'statistics'; readonly statistics: FuzzStatistics };

/** Until the process ends. @returns the corpus, if it ended as it should */
async function runProcess(
  options: FuzzOptions,
  receive: (message: ProcessMessage) => void,
): Promise<readonly Uint8Array[] | undefined> {
  return new Promise((resolve) => {
    let corpus: readonly Uint8Array[] | undefined;
    const child = fork(join(instrumented, 'test/fuzz/target-process.js'), [JSON.stringify(options)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let complaints = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-4000);
    });
    child.on('message', (message: ProcessMessage) => {
      if (message.kind === 'done') corpus = message.corpus;
      receive(message);
    });
    child.on('close', () => {
      if (child.pid !== undefined) rmSync(scratchOf(child.pid), { recursive: true, force: true });
      if (corpus === undefined && complaints !== '') console.log(complaints.replaceAll(/^/gm, '  # '));
      resolve(corpus);
    });
  });
}

function lineOf(target: string, number: number, outcome: Outcome): string {
  const { statistics: s, seconds, findings, unconfirmed } = outcome;
  const rate = Math.round(s.executions / seconds);
  const notes = unconfirmed === 0 ? '' : `, ${unconfirmed} slow only with counters`;
  return (
    `${findings.length === 0 ? 'ok' : 'not ok'} ${number} - ${target}: ${s.executions} executions, ${rate}/s, ` +
    `${s.edges} of ${s.branches} branches, ${s.corpus} inputs, ${s.peak} MiB, ${findings.length} findings${notes}`
  );
}

/** Seconds that a process needs to start and to end. */
const OVERHEAD = 2;

function secondsFor(targets: number): number {
  const most = Number(values.seconds);
  if (Number(values.budget) === 0) return most;
  const share = (Number(values.budget) * Number(values.jobs)) / targets - OVERHEAD;
  return Math.max(1, Math.min(most, Math.floor(share)));
}

async function main(): Promise<number> {
  if (values.help || values.list) {
    console.log(values.help ? HELP : TARGET_NAMES.join('\n'));
    return 0;
  }
  const targets = select(positionals);
  if (values.replay !== undefined) {
    const [target] = targets;
    if (target === undefined || targets.length !== 1) throw new RangeError('--replay needs one target');
    const { text, failed } = await replay(target, values.replay);
    console.log(text.trimEnd());
    return failed ? 1 : 0;
  }
  await instrumentAll(dist, instrumented);
  const seconds = secondsFor(targets.length);
  console.log(`TAP version 14\n# seed ${seed}, ${seconds} s for each of ${targets.length} targets`);
  const queue = [...targets];
  let number = 0;
  let failures = 0;
  const work = async (): Promise<void> => {
    for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
      const outcome = await fuzz(target, seconds);
      console.log(lineOf(target, ++number, outcome));
      for (const finding of outcome.findings) console.log(finding);
      failures += outcome.findings.length;
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  console.log(`1..${number}`);
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
