import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ProgramLimits, type ProgramSettings, programLimits } from './limits.js';

/** One run of a program. */
export interface ProgramCall {
  /** An absolute path, or a name that is looked up in the settings' directories and path. */
  readonly program: string;
  readonly arguments: readonly string[];
  /** Bytes for its standard input; default none: it reads an end of file. */
  readonly input?: Uint8Array;
  /** Its working directory. */
  readonly directory: string;
  /** Its `TMPDIR`; default {@link directory}. */
  readonly temporaryDirectory?: string;
  /** The program and all it has started are killed when this is aborted. */
  readonly signal?: AbortSignal;
}

/** How a program ended, and what it said. */
export interface ProgramResult {
  readonly output: Buffer;
  /** Why it is a failure, as a sentence's end (`exit status 3: no such word`); undefined when it ended well (E-70). */
  readonly failure?: string;
  /** What it wrote to standard error, cut. */
  readonly complaint: string;
}

/** `wrapit` and `FullText.sum` for the scripts of users (E-62, E-66). */
const SHIPPED = fileURLToPath(new URL('bin', import.meta.resolve('#essence-lib/byname.cf')));

type Verdict = 'time' | 'output' | 'abort';

/**
 * Runs a program without a shell (E-70, E-135): nothing that a document says is ever interpreted. It runs in a process group of
 * its own, which is killed as a whole at a limit or when the call is aborted. Never throws for what the program does.
 * @throws the signal's reason when aborted
 */
export async function runProgram(call: ProgramCall, settings: ProgramSettings): Promise<ProgramResult> {
  call.signal?.throwIfAborted();
  const limits = programLimits(settings.limits);
  const path = [...settings.directories, SHIPPED, settings.path].join(delimiter);
  const program = await executable(call.program, path);
  if (program === undefined) {
    return { output: Buffer.alloc(0), complaint: '', failure: 'there is no such program' };
  }
  call.signal?.throwIfAborted();
  const words = [...(await guards(settings.path, limits)), program, ...call.arguments];
  const result = await supervise(words, call, limits, {
    ...settings.environment,
    PATH: path,
    LC_ALL: 'C',
    TMPDIR: call.temporaryDirectory ?? call.directory,
  });
  call.signal?.throwIfAborted();
  return result;
}

function supervise(
  words: readonly string[],
  call: ProgramCall,
  limits: Required<ProgramLimits>,
  environment: Readonly<Record<string, string>>,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let complaint = '';
    let verdict: Verdict | undefined;
    const child = spawn(words[0]!, words.slice(1), {
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: call.directory,
      env: environment,
      detached: true,
    });
    const kill = (why: Verdict): void => {
      verdict ??= why;
      killGroup(child.pid);
      // A grandchild that left the group may hold the pipes: we do not wait for it.
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
    };
    const timer = setTimeout(() => kill('time'), limits.timeMs);
    const onAbort = (): void => kill('abort');
    call.signal?.addEventListener('abort', onAbort, { once: true });
    // The signal may have fired between the check and this line.
    if (call.signal?.aborted === true) kill('abort');
    const finish = (failure: string | undefined): void => {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', onAbort);
      const output = Buffer.concat(chunks);
      resolve({ output, complaint, ...(failure === undefined ? {} : { failure }) });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      const room = limits.outputBytes - size;
      chunks.push(chunk.length <= room ? chunk : chunk.subarray(0, Math.max(0, room)));
      size += chunk.length;
      if (size > limits.outputBytes) kill('output');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < limits.complaintCharacters) {
        complaint = (complaint + text).slice(0, limits.complaintCharacters);
      }
    });
    // A program that ends before it has read everything is judged by its exit status.
    child.stdin.on('error', () => undefined);
    child.stdin.end(call.input);
    child.once('error', (error) => finish(`it cannot be started: ${error.message}`));
    // What it left running in its group ends with it, and with that its hold on the pipes.
    child.once('exit', () => killGroup(child.pid));
    child.once('close', (code, signal) => finish(failureOf(verdict, code, signal, complaint, limits)));
  });
}

function failureOf(
  verdict: Verdict | undefined,
  code: number | null,
  signal: NodeJS.Signals | null,
  complaint: string,
  limits: Required<ProgramLimits>,
): string | undefined {
  if (verdict === 'time') return `it took more than ${limits.timeMs} ms and was killed`;
  if (verdict === 'output') return `its output was cut at ${limits.outputBytes} bytes`;
  if (verdict === 'abort') return 'it was killed on request';
  if (code === 0) return undefined;
  const said = complaint.trim().split('\n')[0] ?? '';
  const how = signal === null ? `exit status ${code}` : `killed by ${signal}`;
  return said === '' ? how : `${how}: ${said}`;
}

/** The group whose leader the program is; it may be gone already. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of it is left.
  }
}

/**
 * Debian's own guards, where they are there: the kernel keeps the limits, and the program gets SIGTERM when our thread ends
 * without having come to an end with it (a worker replaced, a process killed).
 */
async function guards(path: string, limits: Required<ProgramLimits>): Promise<string[]> {
  const [setpriv, prlimit] = await Promise.all([executable('setpriv', path), executable('prlimit', path)]);
  const words: string[] = [];
  if (setpriv !== undefined) words.push(setpriv, '--pdeathsig', 'TERM');
  if (prlimit !== undefined) {
    words.push(
      prlimit,
      `--cpu=${Math.max(1, Math.ceil(limits.cpuSeconds))}`,
      `--data=${limits.memoryBytes}`,
      `--fsize=${limits.fileBytes}`,
      '--core=0',
    );
  }
  return words;
}

/** Found once a path and name: programs do not come and go while a Gatherer runs. */
const found = new Map<string, Promise<string | undefined>>();

function executable(name: string, path: string): Promise<string | undefined> {
  if (isAbsolute(name)) return firstExecutable([name]);
  const key = `${path}\0${name}`;
  let place = found.get(key);
  if (place === undefined) {
    // An empty or relative directory of a path would mean wherever we happen to stand.
    const directories = path.split(delimiter).filter((directory) => isAbsolute(directory));
    place = name.includes('/')
      ? Promise.resolve(undefined)
      : firstExecutable(directories.map((directory) => join(directory, name)));
    found.set(key, place);
  }
  return place;
}

async function firstExecutable(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    try {
      await access(place, constants.X_OK);
      return place;
    } catch {
      // The next place.
    }
  }
  return undefined;
}
