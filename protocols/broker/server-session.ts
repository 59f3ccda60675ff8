// The Broker's end of a connection: a greeting out, one message in.
import { isRequestLine } from '../http-line.js';
import { urlOfBytes } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import { DEFAULT_MAX_MESSAGE_BYTES, type Framed, MessageFramer } from './framing.js';
import { requestedInterface } from './message-parser.js';
import { encodeResult, fatalItem, type ResultItem, VERSION_TEXT } from './results.js';
import { type BrokerServerState, SERVER_STATES } from './states.js';

/** The result of the peer's bytes: its one message, or the item that refuses it. Either is the last event. */
export type ServerEvent =
  | { readonly kind: 'message'; readonly line: Uint8Array }
  /** `interface` is the one that the unfinished or refused message requests; absent means 1 (BP-29). */
  | {
      readonly kind: 'error';
      readonly item: ResultItem & { readonly kind: 'fatal' };
      readonly interface?: 2;
    };

export interface BrokerServerSessionOptions {
  /** BRK-1.8: longest message in bytes. Default 64 KiB. */
  readonly maxMessageBytes?: number;
  /** BRK-1.4: text of the version line; must contain `Broker`. Default {@link VERSION_TEXT}. */
  readonly versionText?: string;
}

/** The most bytes of a request line. */
const MAX_REQUEST_LINE = 16 * 1024;

/**
 * Whether a message is a request line of HTTP whose target is a path or a URL; a query may end in `HTTP/1.0`.
 */
function isBrowserRequest(line: Uint8Array): boolean {
  if (line.length > MAX_REQUEST_LINE) return false;
  const text = urlOfBytes(line);
  return (
    isRequestLine(text) && /^\S+[ \t]+(?:\/|\*[ \t]|[a-z][a-z0-9+.-]*:\/\/|[^ \t]+:[0-9]+[ \t])/i.test(text)
  );
}

/**
 * The Broker's end of one connection (BRK-1.3 to BRK-1.8): send {@link greeting}, push what arrives until there
 * is an event, answer it and {@link close}.
 */
export class BrokerServerSession {
  readonly #framer: MessageFramer;
  readonly #maxMessageBytes: number;
  readonly #versionText: string;
  readonly #machine = new StateMachine(SERVER_STATES, 'connected');

  /** @throws TypeError when `versionText` lacks the word by which clients recognize a Broker */
  constructor(options: BrokerServerSessionOptions = {}) {
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#versionText = options.versionText ?? VERSION_TEXT;
    if (!/broker/i.test(this.#versionText)) throw new TypeError('BRK-1.4: the version line must say Broker');
    this.#framer = new MessageFramer(this.#maxMessageBytes);
  }

  get state(): BrokerServerState {
    return this.#machine.state;
  }

  /** Whether the message, or the item that refuses it, was returned. */
  get done(): boolean {
    return this.state === 'answering' || this.state === 'closed';
  }

  /**
   * BRK-1.3: the line to send before anything is read. Sending it again during a long reply detects a peer that
   * has stopped reading (BRK-1.5).
   * @throws StateError while the message is read, and after the reply
   */
  greeting(): Uint8Array {
    this.#machine.step(this.state === 'answering' ? 'repeat' : 'greet');
    return encodeResult({ kind: 'version', text: this.#versionText });
  }

  /**
   * Takes bytes of the peer. Bytes after its message are ignored (BRK-1.6).
   * @throws StateError before the greeting (BRK-1.3)
   */
  push(chunk: Uint8Array): ServerEvent[] {
    return this.#ignores() ? [] : this.#events(this.#framer.push(chunk), 'bytes');
  }

  /** The peer closed its side; a peer that sent nothing gets no answer. @throws as {@link push} */
  end(): ServerEvent[] {
    return this.#ignores() ? [] : this.#events(this.#framer.end(), 'end');
  }

  /** BRK-1.8: the idle limit of the host passed without a message. @throws as {@link push} */
  timeout(): ServerEvent[] {
    if (this.#ignores()) return [];
    this.#machine.step('timeout');
    const why = this.#framer.insideQuotes ? 'a double quote is never closed' : 'no line end';
    return [this.#refuse(`No message within the time limit: ${why}`)];
  }

  /** The reply is complete, or the connection ended. */
  close(): void {
    if (this.state !== 'closed') this.#machine.step('close');
  }

  #ignores(): boolean {
    if (this.done) this.#machine.step('ignore');
    return this.done;
  }

  #refuse(sentence: string): ServerEvent {
    const item = fatalItem(sentence);
    return requestedInterface(this.#framer.beginning) === 2
      ? { kind: 'error', item, interface: 2 }
      : { kind: 'error', item };
  }

  #events(framed: Framed, otherwise: 'bytes' | 'end'): ServerEvent[] {
    if (framed.kind === 'more') {
      this.#machine.step(otherwise);
      return [];
    }
    // A page of another site may have made a browser send it, with a method that is a flag of a message.
    if (framed.kind === 'line' && !isBrowserRequest(framed.line)) {
      this.#machine.step('message');
      return [{ kind: 'message', line: framed.line }];
    }
    this.#machine.step('refuse');
    const why =
      framed.kind === 'line' ? 'this is not an HTTP server' : `longer than ${this.#maxMessageBytes} bytes`;
    return [this.#refuse(`Malformed message: ${why}`)];
  }
}
