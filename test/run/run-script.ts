// Runs one script in a session, a working directory and a directory for temporary files of its own.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { mountsBelow, processesWith, processorSeconds } from './processes.js';
import type { Outcome, Script } from './script.js';

/**
 * A script may take so many times the processor seconds of its row before it counts as hanging; in `verify` it
 * does several times the work.
 */
const MAX_TIMES = 5;
const MAX_TIMES_VERIFY = 20;
/** The least such limit, for scripts of a second. */
const MIN_LIMIT_SECONDS = 60;
/** A script that neither prints nor works for so long waits for something that does not come. */
const IDLE_SECONDS = 120;
/** Less than this many processor seconds in {@link IDLE_SECONDS} is no work: timers of idle processes. */
const IDLE_PROCESSOR_SECONDS = 0.6;
/**
 * A script that has failed may be silent for so long between its tests, working or not: a timer or a poll that the
 * failed test left keeps it from its end, and TAP prints no plan before that.
 */
const GRACE_SECONDS = 30;
const LOOK_MS = 1_000;
/** Tells the processes of a script from others, even those that left its session. */
const MARK = 'HARVEST_TEST_SCRIPT';

const root = fileURLToPath(new URL('.', import.meta.resolve('#package.json')));
const compiled = join(root, 'dist', 'test');

/** What all scripts of a run share. */
export interface RunContext {
  /** An empty directory of the run, with a short path: sockets lie below it. */
  readonly directory: string;
  /** Where the output is kept. */
  readonly logDirectory: string;
  /** More variables of the environment: seed, tier. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Replaces {@link GRACE_SECONDS}. */
  readonly graceSeconds?: number;
}

/** The compiled file of a script; undefined if absent. */
export function fileOf({ name }: Pick<Script, 'name'>): string | undefined {
  return [`${name}.test.js`, `${name}.js`].map((file) => join(compiled, file)).find(existsSync);
}

function commandOf(script: Script): readonly string[] {
  if (script.command !== undefined) return script.command;
  const file = fileOf(script);
  if (file === undefined) throw new Error(`test/run: ${script.name} is not compiled`);
  return [process.execPath, file, ...(script.args ?? [])];
}

/** Numbers the directories of scripts: their names are cut, and may then be equal. */
let homes = 0;

/** Runs a script to its end. Its failure is an outcome; only a missing file rejects. */
export async function runScript(script: Script, context: RunContext, attempt = 1): Promise<Outcome> {
  const slug = script.name.replaceAll('/', '-');
  const mark = `${slug}-${attempt}-${process.pid}`;
  const home = join(context.directory, `${slug.slice(0, 20)}.${++homes}`);
  const [work, temporary, timesFile] = [join(home, 'w'), join(home, 't'), join(home, 'times')];
  mkdirSync(work, { recursive: true });
  mkdirSync(temporary);
  const logFile = join(context.logDirectory, `${slug}${attempt === 1 ? '' : `.${attempt}`}.log`);
  const log = createWriteStream(logFile);
  const begin = performance.now();
  // The shell says how much processor time all of the script's processes took, which Node does not.
  const words = ['-c', `"$@"; status=$?; times >'${timesFile}'; exit $status`, 'sh', ...commandOf(script)];
  const child = spawn('sh', words, {
    cwd: script.command === undefined ? work : root,
    detached: true,
    // tap would remove the fixtures of a test before its teardown, while a store in them may still be open and write.
    env: {
      ...process.env,
      ...context.variables,
      TMPDIR: temporary,
      TAP_TIMEOUT: '0',
      TAP_SAVE_FIXTURE: '1',
      [MARK]: mark,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const count = new TapCount();
  let printed = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.length;
      if (stream === child.stdout) count.push(chunk);
    });
    stream.pipe(log, { end: false });
  }
  const times = context.variables.HARVEST_TIER === 'verify' ? MAX_TIMES_VERIFY : MAX_TIMES;
  const limitSeconds = Math.max(times * script.seconds, MIN_LIMIT_SECONDS);
  const watch = new Watch(child.pid ?? 0, limitSeconds, context.graceSeconds, () => ({
    bytes: printed,
    failed: count.hasFailed,
    isBetweenTests: count.isBetweenTests,
  }));
  const stop = (): void => watch.end('interrupted');
  context.signal.addEventListener('abort', stop);
  const status = await new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(127));
  });
  context.signal.removeEventListener('abort', stop);
  watch.close();
  const remarks = [...watch.reasons, ...clean(mark, home)];
  // Ends the pipes that a process which was left held open.
  child.stdout.destroy();
  child.stderr.destroy();
  log.end();
  await finished(log).catch(() => undefined);
  const own = readTimes(timesFile);
  rmSync(home, { recursive: true, force: true });
  const isCommand = script.command !== undefined;
  const { passed, failed } = isCommand ? resultOfCommand(status) : count.result(status);
  return {
    name: script.name,
    status: failed > 0 ? 'failed' : 'passed',
    passed,
    failed,
    seconds: (performance.now() - begin) / 1_000,
    processorSeconds: own ?? watch.seconds,
    remarks,
    logs: [logFile],
  };
}

function resultOfCommand(status: number | null): { passed: number; failed: number } {
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Ends what a script left behind, and says what it was. */
function clean(mark: string, home: string): string[] {
  const remarks: string[] = [];
  for (const { pid, command } of processesWith(MARK, mark)) {
    try {
      process.kill(pid, 'SIGKILL');
      remarks.push(`left a process: ${command.slice(0, 120)}`);
    } catch {
      // It has just ended.
    }
  }
  for (const path of mountsBelow(home)) {
    remarks.push(`left a mount: ${path.slice(home.length + 1)}`);
    spawn('umount', ['-l', path]).once('error', () => undefined);
  }
  return remarks;
}

/** The processor seconds that the shell wrote: its children's time of users and of the system. */
function readTimes(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const line = readFileSync(file, 'utf8').split('\n')[1] ?? '';
  const seconds = [...line.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return seconds.reduce((sum, part) => sum + part, 0);
}

/** What a script has printed. */
interface Printed {
  readonly bytes: number;
  /** A test has failed. */
  readonly failed: boolean;
  /** The last test has its result, and no other has begun. */
  readonly isBetweenTests: boolean;
}

/**
 * Ends a script that works for too long, or that does nothing at all, or whose failed test keeps it running. The
 * clock alone ends nothing that has not failed: a busy machine is slow.
 */
class Watch {
  readonly reasons: string[] = [];
  /** Processor seconds of the processes that live, at the last look. */
  seconds = 0;
  readonly #timer: NodeJS.Timeout;
  #idleSince = performance.now();
  #secondsThen = 0;
  #printedAt = performance.now();
  #printedThen = 0;

  constructor(
    readonly group: number,
    readonly limitSeconds: number,
    readonly graceSeconds = GRACE_SECONDS,
    readonly printed: () => Printed,
  ) {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    this.seconds = Math.max(this.seconds, processorSeconds([this.group]).get(this.group) ?? 0);
    if (this.seconds > this.limitSeconds)
      this.end(`ended after ${Math.round(this.seconds)} s of processor time`);
    const worked = this.seconds - this.#secondsThen > IDLE_PROCESSOR_SECONDS;
    const now = performance.now();
    const { bytes, failed, isBetweenTests } = this.printed();
    const hasPrinted = bytes !== this.#printedThen;
    if (hasPrinted) this.#printedAt = now;
    const silentSeconds = (now - this.#printedAt) / 1_000;
    if (failed && silentSeconds > (isBetweenTests ? this.graceSeconds : IDLE_SECONDS)) {
      this.end(
        `ended: a test failed, then nothing was printed for ${Math.round(silentSeconds)} s; what the test began keeps the script running`,
      );
    } else if (worked || hasPrinted) {
      this.#idleSince = now;
      this.#secondsThen = this.seconds;
      this.#printedThen = bytes;
    } else if (now - this.#idleSince > IDLE_SECONDS * 1_000) {
      this.end(`ended: no output and no work for ${IDLE_SECONDS} s`);
    }
  }

  end(reason: string): void {
    if (this.reasons.length > 0) return;
    this.reasons.push(reason);
    try {
      process.kill(-this.group, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Counts the assertions of TAP as it is printed. */
export class TapCount {
  #passed = 0;
  #failed = 0;
  #rest = '';
  #isOk = false;
  #isBetweenTests = false;

  get hasFailed(): boolean {
    return this.#failed > 0;
  }

  /** Whether the last line of the script's own level is the result of a test. */
  get isBetweenTests(): boolean {
    return this.#isBetweenTests;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString('latin1')).split('\n');
    // A line of a hostile document can be of any length; only its beginning counts.
    this.#rest = (lines.pop() ?? '').slice(0, 1_000);
    for (const line of lines) this.#count(line);
  }

  #count(line: string): void {
    if (/^(?:not )?ok \d+ /.test(line)) this.#isBetweenTests = true;
    else if (line.startsWith('# Subtest: ')) this.#isBetweenTests = false;
    if (/^ *ok \d+ /.test(line)) this.#passed++;
    else if (/^ *not ok \d+ /.test(line)) this.#failed++;
    // A script that is one check prints `ok` alone.
    else if (line === 'ok') this.#isOk = true;
  }

  /** The counts; a script that ended badly, or without an assertion, has one failure. */
  result(status: number | null): { passed: number; failed: number } {
    this.#count(this.#rest);
    const passed = this.#passed === 0 && this.#isOk ? 1 : this.#passed;
    if (this.#failed > 0) return { passed, failed: this.#failed };
    return { passed, failed: status === 0 && passed > 0 ? 0 : 1 };
  }
}
