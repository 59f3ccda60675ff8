// A reader process: reads documents of untrusted formats in a thread, watches the memory of the whole process
// (E-45) and reports its processor time. Started by ReaderProcess; it ends itself at the limit of memory, with
// its parent, or when it is killed.
import { writeFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../../protocols/errors.js';
import { residentBytes } from '../../../storage/files/resident-memory.js';
import type { DraftPiece } from '../document.js';
import { childrenMs, processMs } from '../time-budget.js';
import { startThread, threadFailure } from './thread-worker.js';
import {
  FrameReader,
  type ReaderMessage,
  type ReaderSetup,
  transferable,
  type WorkerReply,
} from './worker-messages.js';

const MIB = 1024 * 1024;
/**
 * Milliseconds between two looks at the memory while a document is read. A decoder writes a few MiB in this
 * time.
 */
const WATCH_MS = 10;
/** Milliseconds between two reports about a document; one that is read at once needs none. */
const REPORT_MS = 100;
/**
 * MiB of the thread's young generation: documents come one by one, and memory counts more than here than speed.
 */
const YOUNG_HEAP_MB = 24;
/**
 * Share of the limit above which a process that has finished its document is replaced, because the next one
 * needs room.
 */
const WORN_SHARE = 0.6;
/**
 * Share of the limit that earlier documents must have left in memory, so that reading a document once more can
 * help.
 */
const RETRY_SHARE = 0.2;

process.once('message', (setup: ReaderSetup) => serve(setup));
// Signals to the process group are for the parent, which ends its readers itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
preferredVictim();

function serve({ worker: setup, maxMemoryMb }: ReaderSetup): void {
  const limit = maxMemoryMb * MIB;
  const thread: Worker = startThread(setup, maxMemoryMb, YOUNG_HEAP_MB);
  let pending = 0;
  /** Memory before the first document, and before the current one. */
  let unused = 0;
  let before = 0;
  let watch: NodeJS.Timeout | undefined;
  /** What the thread has read of the current document, and when the last message was sent. */
  let pieces: DraftPiece[] = [];
  let reported = 0;
  let programsMs = 0;
  const tell = (message: WithoutTime<ReaderMessage>, done?: () => void): void =>
    send({ ...message, processorMs: processMs() + programsMs }, done);
  const report = (): void => {
    reported = performance.now();
    programsMs = childrenMs();
    tell({ pieces });
    pieces = [];
  };
  const look = (): void => {
    if (residentBytes() > limit) end(`reading it takes more than ${maxMemoryMb} MiB of memory`);
    else if (performance.now() - reported >= REPORT_MS) report();
  };
  let ending = false;
  const end = (reason: string): void => {
    if (ending) return;
    ending = true;
    clearInterval(watch);
    const retry = before - unused > limit * RETRY_SHARE;
    report();
    tell({ end: retry ? { reason, retry } : { reason } }, () => process.kill(process.pid, 'SIGKILL'));
  };
  thread.on('message', (reply: WorkerReply) => {
    if ('untrusted' in reply) return;
    if ('piece' in reply) {
      pieces.push(reply.piece);
      return;
    }
    before = residentBytes();
    reported = performance.now();
    if ('ready' in reply) {
      unused = before;
      return tell(reply);
    }
    pieces = [];
    pending--;
    if (pending === 0) {
      clearInterval(watch);
      watch = undefined;
    }
    tell(reply, before > limit * WORN_SHARE ? () => end('') : undefined);
  });
  thread.on('error', (error) => end(threadFailure(error, maxMemoryMb)));
  thread.on('exit', (code) => end(`its reader ended with code ${code}`));
  const frames = new FrameReader((input) => {
    pending++;
    watch ??= setInterval(look, WATCH_MS);
    thread.postMessage({ input }, transferable(input.body));
  });
  process.stdin.on('data', (chunk: Buffer) => frames.push(chunk));
}

type WithoutTime<Message> = Message extends unknown ? Omit<Message, 'processorMs'> : never;

function send(message: ReaderMessage, done: () => void = () => undefined): void {
  try {
    process.send?.(message, done);
  } catch (error) {
    // The channel is closed: the parent is gone, and `disconnect` ends this process.
    if (messageOf(error) === '') throw error;
  }
}

/** If memory runs out on the whole machine, the kernel ends a reader before anything else. */
function preferredVictim(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // A container without /proc or with another policy: the limits of the process remain.
  }
}
