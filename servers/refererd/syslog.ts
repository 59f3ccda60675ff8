// Writes to syslog.
import { type ChildProcess, spawn } from 'node:child_process';
import { LEVEL } from './level.js';

/** Bytes that may wait for the program to read them; further lines are lost. */
const MAX_PENDING_BYTES = 256 * 1024;

/**
 * writes to syslog through the system's program `logger`, because Node has no Unix datagram sockets. If
 * the program is missing, nothing is written.
 */
export class Syslog implements Disposable {
  readonly #logger: ChildProcess;
  #usable = true;

  /** @param command the program and its arguments */
  constructor(command: readonly [string, ...string[]] = ['logger', '--prio-prefix']) {
    this.#logger = spawn(command[0], command.slice(1), { stdio: ['pipe', 'ignore', 'ignore'] });
    const lost = () => {
      this.#usable = false;
    };
    this.#logger.on('error', lost);
    this.#logger.stdin?.on('error', lost);
    this.#logger.unref();
  }

  write(level: number, line: string): void {
    const { stdin } = this.#logger;
    if (!this.#usable || stdin === null || stdin.writableLength > MAX_PENDING_BYTES) return;
    stdin.write(`<${priority(level)}>${line}\n`);
  }

  [Symbol.dispose](): void {
    this.#logger.stdin?.end();
  }
}

/** Facility daemon (3) and the severity of our levels. */
function priority(level: number): number {
  const severity =
    level <= LEVEL.critical
      ? 2
      : level <= LEVEL.error
        ? 3
        : level <= LEVEL.warning
          ? 4
          : level <= LEVEL.notice
            ? 5
            : 7;
  return 3 * 8 + severity;
}
