// The Broker's end of a connection: a greeting out, one message in.
import { isRequestLine } from '../http-line.js';
import { urlOfBytes } from '../soif/index.js';
import { DEFAULT_MAX_MESSAGE_BYTES, type Framed, MessageFramer } from './framing.js';
import { requestedInterface } from './message-parser.js';
import { encodeResult, fatalItem, type ResultItem, VERSION_TEXT } from './results.js';

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
 * is an event, answer it and close.
 */
export class BrokerServerSession {
  readonly #framer: MessageFramer;
  readonly #maxMessageBytes: number;
  readonly #versionText: string;
  #done = false;

  /** @throws TypeError when `versionText` lacks the word by which clients recognize a Broker */
  constructor(options: BrokerServerSessionOptions = {}) {
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#versionText = options.versionText ?? VERSION_TEXT;
    if (!/broker/i.test(this.#versionText)) throw new TypeError('BRK-1.4: the version line must say Broker');
    this.#framer = new MessageFramer(this.#maxMessageBytes);
  }

  /** Whether the message, or the item that refuses it, was returned. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * BRK-1.3: the line to send before anything is read. Sending it again during a long reply detects a peer that
   * has stopped reading (BRK-1.5).
   */
  greeting(): Uint8Array {
    return encodeResult({ kind: 'version', text: this.#versionText });
  }

  /** Takes bytes of the peer. Bytes after its message are ignored (BRK-1.6). */
  push(chunk: Uint8Array): ServerEvent[] {
    return this.#done ? [] : this.#events(this.#framer.push(chunk));
  }

  /** The peer closed its side; a peer that sent nothing gets no answer. */
  end(): ServerEvent[] {
    if (this.#done) return [];
    const events = this.#events(this.#framer.end());
    this.#done = true;
    return events;
  }

  /** BRK-1.8: the idle limit of the host passed without a message. */
  timeout(): ServerEvent[] {
    if (this.#done) return [];
    this.#done = true;
    const why = this.#framer.insideQuotes ? 'a double quote is never closed' : 'no line end';
    return [this.#refuse(`No message within the time limit: ${why}`)];
  }

  #refuse(sentence: string): ServerEvent {
    const item = fatalItem(sentence);
    return requestedInterface(this.#framer.beginning) === 2
      ? { kind: 'error', item, interface: 2 }
      : { kind: 'error', item };
  }

  #events(framed: Framed): ServerEvent[] {
    if (framed.kind === 'more') return [];
    this.#done = true;
    if (framed.kind === 'line') {
      // A page of another site may have made a browser send it, with a method that is a flag of a message.
      if (isBrowserRequest(framed.line))
        return [this.#refuse('Malformed message: this is not an HTTP server')];
      return [{ kind: 'message', line: framed.line }];
    }
    return [this.#refuse(`Malformed message: longer than ${this.#maxMessageBytes} bytes`)];
  }
}
