// The server's end of a session: client bytes in, effects out.
import { StateError, UsageError } from '../errors.js';
import { urlOfBytes } from '../soif/index.js';
import { LineCollector } from './line-collector.js';
import { nextState, SERVER_STATES, type ServerState, type ServerStep } from './states.js';
import {
  GATHERD_CODES as CODE,
  encodeStatusLine,
  encodeStatusLines,
  GATHERD_COMMANDS,
  GATHERD_VERSION,
  type GatherdCommand,
  MAX_LINE_BYTES,
  parseCommand,
  type SessionSetting,
} from './vocabulary.js';

export interface GatherdServerOptions {
  /** Full host name of the server, for the greeting; white space is not allowed (GATHERD-3.5). */
  readonly hostname: string;
  /** Version text of the greeting. Default `1.8`. */
  readonly version?: string;
  /** Whether compression is available (GATHERD-6.9). Default true. */
  readonly compression?: boolean | undefined;
  /**
   * Whether one LF is sent between compressed data and its end line (GATHERD-6.3), for the sample client of 1997, which looks for
   * a line that begins with 499. Default false; `SET line-end` turns it on for a session.
   */
  readonly lineEndAfterMember?: boolean;
  /** Bytes of the longest command line. Default 8192 (GATHERD-2.4). */
  readonly maxLineBytes?: number | undefined;
  /**
   * Bytes of one over-long line that are dropped before the session is closed. Default 2 MiB: the session continues after
   * an over-long line (GATHERD-2.4, 3.9), and dropping costs no memory.
   */
  readonly maxDroppedBytes?: number;
}

/** An action for the owner of a {@link GatherdServerSession}; actions are done in order. */
export type GatherdServerEffect =
  /** For the log; nothing to do. */
  | { readonly kind: 'command'; readonly command: GatherdCommand }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** Send the wrapped stream (GATHERD-4.4, 6.3), then call `updateDone`, or `fail` when the transfer failed. */
  | {
      readonly kind: 'update';
      readonly since: number;
      readonly compressed: boolean;
      readonly sections: boolean;
    }
  /** Look the object up, then call `objectDone`. */
  | { readonly kind: 'object'; readonly oid: string }
  /** Build the description, then call `infoDone`. */
  | { readonly kind: 'info' }
  /** Send what is buffered and close. */
  | { readonly kind: 'close' };

const NOTHING = new Uint8Array(0);
const LINE_END = Uint8Array.of(0x0a);

/** The reply to `HELP`, encoded once: a client may send many of these five bytes, and each costs some 400 bytes of output. */
const HELP: Uint8Array = encodeStatusLines(
  CODE.help,
  GATHERD_COMMANDS.map(([usage, meaning]) => `${usage}  ${meaning}`),
);

/**
 * The server's end of one session: client bytes in, effects out. While a data command runs
 * ({@link acceptsInput} is false) its owner stops reading, so the session holds at most one chunk.
 */
export class GatherdServerSession {
  readonly #options: GatherdServerOptions;
  readonly #lines: LineCollector;
  readonly #maxDropped: number;
  #state: ServerState = 'new';
  #compressed = false;
  #sections = false;
  /** Whether an LF follows compressed data (GATHERD-6.3). */
  #lineEndAfterMember: boolean;
  #unread: Uint8Array = NOTHING;
  #inputEnded = false;
  /** Identifier of the object that is being looked up. */
  #oid = '';

  constructor(options: GatherdServerOptions) {
    const { hostname, version = GATHERD_VERSION, maxLineBytes = MAX_LINE_BYTES } = options;
    if (!/^\S+$/.test(hostname) || !/^\S+$/.test(version)) {
      throw new UsageError('GATHERD-3.5: version and host name are words without white space');
    }
    this.#options = options;
    this.#lineEndAfterMember = options.lineEndAfterMember ?? false;
    this.#lines = new LineCollector(maxLineBytes);
    this.#maxDropped = options.maxDroppedBytes ?? 2 * 1024 * 1024;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** False while a data command runs and when the session is over. */
  get acceptsInput(): boolean {
    return this.#state === 'ready' && !this.#inputEnded;
  }

  /** The connection is accepted: sends the greeting (GATHERD-1.1, 3.1). */
  start(): GatherdServerEffect[] {
    this.#step('greet');
    const { version = GATHERD_VERSION, hostname } = this.#options;
    return [sendStatus(CODE.greeting, `HELLO ${version} ${hostname}`)];
  }

  /** The peer is refused: sends one line and no greeting (GATHERD-3.10). */
  refuse(): GatherdServerEffect[] {
    this.#step('refuse');
    return [sendStatus(CODE.bye, 'Access denied'), { kind: 'close' }];
  }

  /** Takes bytes of the client; ignored after the end. @throws StateError unless {@link acceptsInput} */
  push(chunk: Uint8Array): GatherdServerEffect[] {
    if (this.#state === 'closed') return [];
    if (!this.acceptsInput) throw new StateError(`input is not allowed in state "${this.#state}"`);
    this.#unread = chunk;
    return this.#run();
  }

  /** The client has ended its side. It may still read: the commands received are executed first. */
  end(): GatherdServerEffect[] {
    this.#inputEnded = true;
    return this.#run();
  }

  /** The stream of an update has been sent, with this many objects. */
  updateDone(objects: number): GatherdServerEffect[] {
    this.#step('sent');
    const end = sendStatus(CODE.updateEnd, `Sent ${objects} objects`);
    // No command runs during an update, so these settings are those of its data.
    const isLineEnded = this.#compressed && this.#lineEndAfterMember;
    return [...(isLineEnded ? [{ kind: 'send', bytes: LINE_END } as const] : []), end, ...this.#run()];
  }

  /** The requested object, as stored, or undefined when it does not exist. */
  objectDone(object: Uint8Array | undefined): GatherdServerEffect[] {
    this.#step('sent');
    const oid = this.#oid;
    // GATHERD-3.8: 399 in any case, so that a client can wait for it.
    if (object === undefined) return [sendStatus(CODE.objectEnd, `No such object ${oid}`), ...this.#run()];
    return [
      sendStatus(CODE.objectStart, `Sending object ${oid}`),
      { kind: 'send', bytes: object },
      sendStatus(CODE.objectEnd, 'Sent object'),
      ...this.#run(),
    ];
  }

  /** The description of the database, one SOIF object; GATHERD-3.6: the object first, then 600. */
  infoDone(object: Uint8Array): GatherdServerEffect[] {
    this.#step('sent');
    return [{ kind: 'send', bytes: object }, sendStatus(CODE.info, 'End of INFO'), ...this.#run()];
  }

  /** The data could not be delivered: closes without an end line (GATHERD-3.11). */
  fail(): GatherdServerEffect[] {
    this.#step('fail');
    this.#unread = NOTHING;
    return [{ kind: 'close' }];
  }

  #step(step: ServerStep): void {
    this.#state = nextState(SERVER_STATES, this.#state, step);
  }

  /** Executes commands while there are whole lines and no command waits for data. */
  #run(): GatherdServerEffect[] {
    const effects: GatherdServerEffect[] = [];
    while (this.#state === 'ready' && this.#unread.length > 0) {
      const { line, rest } = this.#lines.take(this.#unread);
      this.#unread = rest;
      if (line === 'too-long') effects.push(sendStatus(CODE.error, 'Bad argument: line too long'));
      else if (line !== 'incomplete') this.#execute(parseCommand(urlOfBytes(line)), effects);
      if (this.#lines.dropped > this.#maxDropped) {
        this.#step('quit');
        effects.push({ kind: 'close' });
      }
    }
    // A last line without its end is not a command: `SEND-UPDATE 12` may be the start of a longer number.
    if (this.#state === 'ready' && this.#inputEnded) {
      this.#step('quit');
      effects.push({ kind: 'close' });
    }
    return effects;
  }

  #execute(command: GatherdCommand | undefined, effects: GatherdServerEffect[]): void {
    if (command === undefined) return; // an empty line, GATHERD-2.4
    effects.push({ kind: 'command', command });
    switch (command.kind) {
      case 'hello':
        effects.push(sendStatus(CODE.hello, `HELLO ${command.name}`));
        break;
      case 'help':
        effects.push({ kind: 'send', bytes: HELP });
        break;
      case 'info':
        this.#step('send');
        effects.push({ kind: 'info' });
        break;
      case 'object':
        this.#step('send');
        this.#oid = command.oid;
        effects.push({ kind: 'object', oid: command.oid });
        break;
      case 'update':
        this.#step('send');
        effects.push(sendStatus(CODE.updateStart, `Sending all objects since ${command.since}`), {
          kind: 'update',
          since: command.since,
          compressed: this.#compressed,
          sections: this.#sections,
        });
        break;
      case 'set':
        effects.push(this.#setOption(command.option));
        break;
      case 'quit':
        this.#step('quit');
        this.#unread = NOTHING;
        effects.push(sendStatus(CODE.bye, 'Bye'), { kind: 'close' });
        break;
      case 'bad-timestamp':
        // GATHERD-3.9: the client waits for 499, so it gets 499.
        effects.push(sendStatus(CODE.updateEnd, 'Bad timestamp'));
        break;
      case 'bad-argument':
        effects.push(sendStatus(CODE.error, `Bad argument: ${excerpt(command.text)}`));
        break;
      case 'unknown':
        effects.push(sendStatus(CODE.error, `Unknown command: ${excerpt(command.verb)}`));
        break;
      case 'http':
        // GATHERD-3.9: the session of a client continues; the rest of a browser's request must not be read as commands.
        this.#step('quit');
        this.#unread = NOTHING;
        effects.push(sendStatus(CODE.error, 'Unknown command: this is not an HTTP server'), {
          kind: 'close',
        });
        break;
    }
  }

  #setOption(option: SessionSetting): GatherdServerEffect {
    if (option === 'changes') {
      this.#sections = true; // GATHERD-6.11
      return sendStatus(CODE.set, 'Changes enabled');
    }
    if (option === 'line-end') {
      this.#lineEndAfterMember = true; // GATHERD-6.3
      return sendStatus(CODE.set, 'Line end after compressed data enabled');
    }
    if (this.#options.compression === false) return sendStatus(CODE.error, 'Compression not available');
    this.#compressed = true; // GATHERD-6.1: a session cannot turn it off
    return sendStatus(CODE.set, 'Compression enabled');
  }
}

function sendStatus(code: number, text: string): GatherdServerEffect {
  return { kind: 'send', bytes: encodeStatusLine(code, text) };
}

/** The beginning of a client's text, for an error line. */
function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
