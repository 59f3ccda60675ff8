import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { TimeBudget, TimeWatch, treeMs } from '../time-budget.js';
import { type ProgramLimits, type ProgramSettings, programLimits } from './limits.js';

/** One run of a program. */
export interface ProgramCall {
  /** An absolute path, or a name that is looked up in the settings' directories and path. */
  readonly program: string;
  readonly arguments: readonly string[];
  /** Bytes of its standard input. Default none. */
  readonly input?: Uint8Array;
  /** Its working directory. */
  readonly directory: string;
  /** Its `TMPDIR`; default {@link directory}. */
  readonly temporaryDirectory?: string;
  /** An abort kills the program's whole process group. */
  readonly signal?: AbortSignal | undefined;
  /** How its time is measured. Default: by this machine. */
  readonly measures?: ProgramMeasures;
}

/** The clock of programs and their processor time, which a test can replace. */
interface ProgramMeasures {
  readonly clock: Clock;
  /** Milliseconds of processor time of a program and its descendants; undefined if that is not known. */
  readonly processorMs: (pid: number) => number | undefined;
}

const MEASURES: ProgramMeasures = { clock: monotonicClock, processorMs: treeMs };

/** The result of a program. */
export interface ProgramResult {
  readonly output: Buffer;
  /** The reason of a failure, e.g. `exit status 3: no such word`; undefined after a success (E-70). */
  readonly failure?: string | undefined;
  /** Its standard error, truncated. */
  readonly stderr: string;
}

/** Directory of `wrapit` and `FullText.sum`, for the scripts of users (E-62, E-66). */
const SHIPPED = fileURLToPath(new URL('bin', import.meta.resolve('#essence-lib/byname.cf')));

/**
 * Runs a program without a shell (E-70, E-135), so that no text of a document is interpreted. It runs in its
 * own process group, which is killed at a limit or an abort. A failing program does not throw.
 * @throws the signal's reason when aborted
 */
export async function runProgram(call: ProgramCall, settings: ProgramSettings): Promise<ProgramResult> {
  call.signal?.throwIfAborted();
  const limits = programLimits(settings.limits);
  const path = [...settings.directories, SHIPPED, settings.path].join(delimiter);
  const program = await findExecutable(call.program, path);
  if (program === undefined) {
    return { output: Buffer.alloc(0), stderr: '', failure: 'there is no such program' };
  }
  call.signal?.throwIfAborted();
  const argv = [...(await limitCommand(settings.path, limits)), program, ...call.arguments];
  const result = await supervise(argv, call, limits, {
    ...settings.environment,
    PATH: path,
    LC_ALL: 'C',
    TMPDIR: call.temporaryDirectory ?? call.directory,
  });
  call.signal?.throwIfAborted();
  return result;
}

function supervise(
  argv: readonly string[],
  call: ProgramCall,
  limits: Required<ProgramLimits>,
  environment: Readonly<Record<string, string>>,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    let killed: string | undefined;
    const child = spawn(argv[0]!, argv.slice(1), {
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: call.directory,
      env: environment,
      detached: true,
    });
    const kill = (reason: string): void => {
      killed ??= reason;
      killGroup(child.pid);
      // A grandchild that left the group may hold the pipes open: do not wait for it.
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
    };
    const measures = call.measures ?? MEASURES;
    const budget = new TimeBudget(limits.timeMs, {
      processorMs: programTime(child.pid, measures),
      now: () => measures.clock.now(),
    });
    const watch = new TimeWatch(budget, measures.clock, (clause) => kill(`it took ${clause} and was killed`));
    const onAbort = (): void => kill('it was killed on request');
    call.signal?.addEventListener('abort', onAbort, { once: true });
    // The signal may have fired between the check and this line.
    if (call.signal?.aborted === true) onAbort();
    const finish = (failure: string | undefined): void => {
      watch.stop();
      call.signal?.removeEventListener('abort', onAbort);
      const output = Buffer.concat(chunks);
      resolve({ output, stderr, failure });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      const available = limits.outputBytes - size;
      chunks.push(chunk.length <= available ? chunk : chunk.subarray(0, Math.max(0, available)));
      size += chunk.length;
      if (size > limits.outputBytes) kill(`its output was cut at ${limits.outputBytes} bytes`);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < limits.stderrCharacters) {
        stderr = (stderr + text).slice(0, limits.stderrCharacters);
      }
    });
    // EPIPE: a program may exit before it has read everything; its exit status decides.
    child.stdin.on('error', () => undefined);
    child.stdin.end(call.input);
    child.once('error', (error) => finish(`it cannot be started: ${error.message}`));
    // Child processes left in its group would hold the pipes open.
    child.once('exit', () => killGroup(child.pid));
    child.once('close', (code, signal) => finish(killed ?? failureOf(code, signal, stderr)));
  });
}

/** Returns a function that measures a program: by the clock if its processor time is not known. */
function programTime(pid: number | undefined, { clock, processorMs }: ProgramMeasures): () => number {
  const first = pid === undefined ? undefined : processorMs(pid);
  if (pid === undefined || first === undefined) return () => clock.now();
  let used = first;
  return () => {
    // What a process has used is not known after its end if no process waited for it.
    used = Math.max(used, processorMs(pid) ?? 0);
    return used;
  };
}

function failureOf(code: number | null, signal: NodeJS.Signals | null, stderr: string): string | undefined {
  if (code === 0) return undefined;
  const message = stderr.trim().split('\n')[0] ?? '';
  const how = signal === null ? `exit status ${code}` : `killed by ${signal}`;
  return message === '' ? how : `${how}: ${message}`;
}

/** Kills the process group that the program leads, unless it has ended. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: all processes of the group have ended.
  }
}

/**
 * Returns the command prefix of the util-linux programs that set limits, if they are installed. prlimit makes
 * the kernel enforce the limits; setpriv makes it send SIGTERM to the program when this thread ends first (a
 * replaced worker, a killed process).
 */
async function limitCommand(path: string, limits: Required<ProgramLimits>): Promise<string[]> {
  const [setpriv, prlimit] = await Promise.all([
    findExecutable('setpriv', path),
    findExecutable('prlimit', path),
  ]);
  const argv: string[] = [];
  if (setpriv !== undefined) argv.push(setpriv, '--pdeathsig', 'TERM');
  if (prlimit !== undefined) {
    argv.push(
      prlimit,
      `--cpu=${Math.max(1, Math.ceil(limits.cpuSeconds))}`,
      `--data=${limits.memoryBytes}`,
      `--fsize=${limits.fileBytes}`,
      '--core=0',
    );
  }
  return argv;
}

/** Cache by path and name: programs are not installed while a Gatherer runs. */
const executables = new Map<string, Promise<string | undefined>>();

/** Returns the absolute path of a program; undefined if it is not found. */
function findExecutable(name: string, path: string): Promise<string | undefined> {
  if (isAbsolute(name)) return firstExecutable([name]);
  const key = `${path}\0${name}`;
  let file = executables.get(key);
  if (file === undefined) {
    // Empty and relative directories would depend on the current directory.
    const directories = path.split(delimiter).filter((directory) => isAbsolute(directory));
    file = name.includes('/')
      ? Promise.resolve(undefined)
      : firstExecutable(directories.map((directory) => join(directory, name)));
    executables.set(key, file);
  }
  return file;
}

async function firstExecutable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not executable here: try the next path.
    }
  }
  return undefined;
}
