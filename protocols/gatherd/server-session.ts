// The server's end of a session: client bytes in, effects out.
import { StateError, UsageError } from '../errors.js';
import { urlOfBytes } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import {
  type AgreedSettings,
  type CommandOf,
  type DataRequest,
  type DataResults,
  endOf,
  type GatherdCommand,
  parseCommand,
  replyTo,
} from './commands.js';
import { LineCollector } from './line-collector.js';
import { SERVER_STATES, type ServerState } from './states.js';
import {
  BUSY_LINE,
  GATHERD_CODES as CODE,
  encodeStatusLine,
  GATHERD_VERSION,
  MAX_LINE_BYTES,
} from './vocabulary.js';

export interface GatherdServerOptions {
  /** Full host name of the server, for the greeting; white space is not allowed (GATHERD-3.5). */
  readonly hostname: string;
  /** Version text of the greeting. Default `1.8`. */
  readonly version?: string | undefined;
  /** Whether compression is available (GATHERD-6.9). Default true. */
  readonly compression?: boolean | undefined;
  /**
   * Whether one LF is sent between compressed data and its end line (GATHERD-6.3), for the sample client of
   * 1997, which looks for a line that begins with 499. Default false; `SET line-end` turns it on for a session.
   */
  readonly lineEndAfterMember?: boolean | undefined;
  /** Bytes of the longest command line. Default 8192 (GATHERD-2.4). */
  readonly maxLineBytes?: number | undefined;
  /**
   * Bytes of one over-long line that are dropped before the session is closed. Default 2 MiB: the session
   * continues after an over-long line (GATHERD-2.4, 3.9), and dropping costs no memory.
   */
  readonly maxDroppedBytes?: number | undefined;
}

/** An action for the owner of a {@link GatherdServerSession}; actions are done in order. */
export type GatherdServerEffect =
  /** For the log; nothing to do. */
  | { readonly kind: 'command'; readonly command: GatherdCommand }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  | DataRequest
  /** Send the buffered output and close. */
  | { readonly kind: 'close' };

const NOTHING = new Uint8Array(0);

/**
 * The server's end of one session: client bytes in, effects out. While a data command runs
 * ({@link acceptsInput} is false) its owner stops reading, so the session holds at most one chunk.
 */
export class GatherdServerSession {
  readonly #options: GatherdServerOptions;
  readonly #lines: LineCollector;
  readonly #maxDropped: number;
  readonly #machine = new StateMachine(SERVER_STATES, 'new');
  readonly #settings: AgreedSettings;
  #unread: Uint8Array = NOTHING;
  #inputEnded = false;
  /** The command whose data is being delivered. */
  #running: GatherdCommand | undefined;

  constructor(options: GatherdServerOptions) {
    const { hostname, version = GATHERD_VERSION, maxLineBytes = MAX_LINE_BYTES } = options;
    if (!/^\S+$/.test(hostname) || !/^\S+$/.test(version)) {
      throw new UsageError('GATHERD-3.5: version and host name are words without white space');
    }
    this.#options = options;
    this.#settings = {
      on: new Set(options.lineEndAfterMember ? ['line-end'] : []),
      unavailable: new Set(options.compression === false ? ['compression'] : []),
    };
    this.#lines = new LineCollector(maxLineBytes);
    this.#maxDropped = options.maxDroppedBytes ?? 2 * 1024 * 1024;
  }

  get state(): ServerState {
    return this.#machine.state;
  }

  /** False while a data command runs and when the session is over. */
  get acceptsInput(): boolean {
    return this.state === 'ready' && !this.#inputEnded;
  }

  /** The connection is accepted: sends the greeting (GATHERD-1.1, 3.1). */
  start(): GatherdServerEffect[] {
    this.#machine.step('greet');
    const { version = GATHERD_VERSION, hostname } = this.#options;
    return [sendStatus(CODE.greeting, `HELLO ${version} ${hostname}`)];
  }

  /** The peer is refused: sends one line and no greeting, by an access list (GATHERD-3.10) or for now (GATHERD-3.14). */
  refuse(why: 'denied' | 'busy' = 'denied'): GatherdServerEffect[] {
    this.#machine.step('refuse');
    const line =
      why === 'busy' ? { kind: 'send' as const, bytes: BUSY_LINE } : sendStatus(CODE.bye, 'Access denied');
    return [line, { kind: 'close' }];
  }

  /** Takes bytes of the client; ignored after the end. @throws StateError unless {@link acceptsInput} */
  push(chunk: Uint8Array): GatherdServerEffect[] {
    if (this.state === 'closed') {
      this.#machine.step('ignore');
      return [];
    }
    if (!this.acceptsInput) throw new StateError(`input is not allowed in state "${this.state}"`);
    this.#unread = chunk;
    return this.#run();
  }

  /** The client has ended its side. It may still read: the commands received are executed first. */
  end(): GatherdServerEffect[] {
    this.#inputEnded = true;
    if (this.state === 'sending') this.#machine.step('end');
    return this.#run();
  }

  /**
   * The data of a request was delivered.
   *
   * @throws StateError if none of this kind was requested
   */
  dataDone<K extends keyof DataResults>(kind: K, result: DataResults[K]): GatherdServerEffect[] {
    const running = this.#running;
    if (this.state === 'sending' && running?.kind !== kind) throw new StateError(`no ${kind} was requested`);
    this.#machine.step('sent');
    const end = endOf(kind, running as CommandOf<K>, result, this.#settings);
    return [...end.map((bytes) => ({ kind: 'send', bytes }) as const), ...this.#run()];
  }

  /** The data could not be delivered: closes without an end line (GATHERD-3.11). */
  fail(): GatherdServerEffect[] {
    this.#machine.step(this.state === 'closed' ? 'ignore' : 'fail');
    this.#unread = NOTHING;
    return [{ kind: 'close' }];
  }

  /** Executes commands while there are whole lines and no command waits for data. */
  #run(): GatherdServerEffect[] {
    const effects: GatherdServerEffect[] = [];
    while (this.state === 'ready' && this.#unread.length > 0) {
      const { line, rest } = this.#lines.take(this.#unread);
      this.#unread = rest;
      if (line === 'too-long') {
        this.#machine.step('answer');
        effects.push(sendStatus(CODE.error, 'Bad argument: line too long'));
      } else if (line !== 'incomplete') this.#execute(parseCommand(urlOfBytes(line)), effects);
      if (this.#lines.dropped > this.#maxDropped) this.#close('limit', effects);
    }
    // A last line without its end is not a command: `SEND-UPDATE 12` may be the start of a longer number.
    if (this.state === 'ready' && this.#inputEnded) this.#close('end', effects);
    return effects;
  }

  #execute(command: GatherdCommand | undefined, effects: GatherdServerEffect[]): void {
    if (command === undefined) return; // an empty line, GATHERD-2.4
    effects.push({ kind: 'command', command });
    const { bytes, data, closes } = replyTo(command, this.#settings);
    if (bytes !== undefined) effects.push({ kind: 'send', bytes });
    if (data !== undefined) {
      this.#machine.step(data.kind);
      this.#running = command;
      effects.push(data);
    } else if (closes) {
      this.#unread = NOTHING;
      this.#close(command.kind === 'quit' ? 'quit' : 'http', effects);
    } else this.#machine.step('answer');
  }

  #close(step: 'quit' | 'http' | 'limit' | 'end', effects: GatherdServerEffect[]): void {
    this.#machine.step(step);
    effects.push({ kind: 'close' });
  }
}

function sendStatus(code: number, text: string): GatherdServerEffect {
  return { kind: 'send', bytes: encodeStatusLine(code, text) };
}
