// The client's end of a connection to a Broker: one message out, the objects and lines of its reply in.
import { ProtocolError, StateError } from '../errors.js';
import { decodeText, type SoifAttribute, textOfUrl } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import { frameMessage } from './framing.js';
import { BrokerHit, type BrokerHitFields } from './hit.js';
import { ResultDecoder, type ResultDecoderOptions } from './result-decoder.js';
import type { ResultItem } from './results.js';
import { CLIENT_STATES } from './states.js';

/**
 * An event of a reply: an object, a `101` message, a `103` error. A `fatal` (`111`) is the last event
 * (BRK-4.13).
 */
export type ClientEvent =
  | { readonly kind: 'hit'; readonly hit: BrokerHit }
  | { readonly kind: 'message' | 'error' | 'fatal'; readonly text: string };

export interface BrokerClientSessionOptions extends ResultDecoderOptions {
  /** Maximum number of bytes of one object's lines and values together. Default 32 MiB. */
  readonly maxHitBytes?: number;
  /** Maximum number of bytes of the lines `101` and `103` of a reply together. Default 16 MiB. */
  readonly maxNoticeBytes?: number;
}

export const DEFAULT_MAX_HIT_BYTES = 1 << 25;
const DEFAULT_MAX_NOTICE_BYTES = 1 << 24;

/** Bytes of a line besides its text: the code, ` - `, and the LF. */
const LINE_BYTES = 7;

type OpenHit = { -readonly [K in keyof BrokerHitFields]: BrokerHitFields[K] } & {
  readonly matchedLines: string[];
  readonly attributes: SoifAttribute[];
};

function openHit(url: string, homePage: string | undefined): OpenHit {
  return { url, matchedLines: [], attributes: [], ...(homePage === undefined ? {} : { homePage }) };
}

/**
 * The client's end of one connection: send {@link request}, push the reply, then call {@link end}. Version
 * lines are ignored anywhere (BRK-1.5), and so are unknown items (BRK-4.17).
 */
export class BrokerClientSession {
  readonly #decoder: ResultDecoder;
  readonly #maxHitBytes: number;
  readonly #maxNoticeBytes: number;
  readonly #machine = new StateMachine(CLIENT_STATES, 'connected');
  /** The object in state `in object`. */
  #hit = openHit('', undefined);
  #hitBytes = 0;
  #noticeBytes = 0;
  #homePage: string | undefined;
  #requested = false;
  #bytes = 0;
  #truncated = false;
  #failure: unknown;

  constructor(options: BrokerClientSessionOptions = {}) {
    this.#decoder = new ResultDecoder(options);
    this.#maxHitBytes = options.maxHitBytes ?? DEFAULT_MAX_HIT_BYTES;
    this.#maxNoticeBytes = options.maxNoticeBytes ?? DEFAULT_MAX_NOTICE_BYTES;
  }

  /**
   * Returns the bytes to send: the message and CR LF. The write side stays open after it (BRK-1.9).
   * @throws UsageError when the message is not one line; StateError for a second message (BRK-1.6)
   */
  request(message: string | Uint8Array): Uint8Array {
    if (this.#requested) throw new StateError('BRK-1.6: a connection carries exactly one message');
    const bytes = frameMessage(message);
    this.#requested = true;
    return bytes;
  }

  /**
   * Takes bytes of the reply. Events before an error are returned first; the next call throws it.
   * @throws ProtocolError when the peer is not a Broker or the reply exceeds a limit
   */
  push(chunk: Uint8Array): ClientEvent[] {
    return this.#take(() => {
      this.#bytes += chunk.length;
      return this.#decoder.push(chunk);
    });
  }

  /**
   * The peer closed, which ends a reply (BRK-4.12). Call it until it returns nothing.
   * @throws ProtocolError BRK-4.3 or BRK-4.4 when the reply is truncated (then {@link truncated} is true),
   * BRK-1.3 when the reply has no item of a Broker
   */
  end(): ClientEvent[] {
    const events = this.#take(() => this.#decoder.end());
    const { state } = this.#machine;
    if (events.length > 0 || state === 'closed') return events;
    this.#machine.step('end');
    if (state === 'in object') {
      this.#truncated = true;
      throw this.#fail('BRK-4.3', `the reply ends inside the object ${textOfUrl(this.#hit.url)}`);
    }
    if (state === 'connected') {
      throw this.#fail(
        'BRK-1.3',
        this.#bytes === 0 ? 'the peer sent no reply' : 'the reply has no line of a Broker',
      );
    }
    return events;
  }

  /** Whether {@link end} found that the reply stops inside an object or a counted value. */
  get truncated(): boolean {
    return this.#truncated || this.#decoder.truncated;
  }

  get #closed(): boolean {
    return this.#machine.state === 'closed';
  }

  #take(decode: () => readonly ResultItem[]): ClientEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    const events: ClientEvent[] = [];
    // A fatal item ends the reply, wherever the chunks end: what follows is not read, nor is it an error.
    if (this.#closed) return events;
    for (const item of this.#decode(decode)) {
      this.#takeItem(item, events);
      if (this.#closed) break;
    }
    if (this.#failure !== undefined && events.length === 0) throw this.#failure;
    return events;
  }

  #decode(decode: () => readonly ResultItem[]): readonly ResultItem[] {
    try {
      return decode();
    } catch (error) {
      this.#machine.step('fail');
      this.#failure = error;
      throw error;
    }
  }

  #takeItem(item: ResultItem, events: ClientEvent[]): void {
    const { state } = this.#machine;
    if (state === 'connected' && item.kind === 'unknown' && item.code === 0 && /^HELLO/i.test(item.text)) {
      this.#machine.step('hello');
      this.#fail('BRK-1.4', `the peer is a Gatherer, not a Broker: ${item.text.slice(0, 80)}`);
      return;
    }
    this.#machine.step(item.kind);
    switch (item.kind) {
      case 'message':
      case 'error':
        this.#noticeBytes += LINE_BYTES + item.text.length;
        if (this.#noticeBytes > this.#maxNoticeBytes)
          this.#exceed(`the messages are larger than ${this.#maxNoticeBytes} bytes`);
        else events.push(item);
        return;
      case 'fatal':
        events.push(item);
        return;
      case 'match':
        // A record begins at 120; one without its 130 is dropped, as deployed clients do (BRK-4.3).
        this.#hit = openHit(item.url, this.#homePage);
        this.#hitBytes = item.url.length;
        return;
      case 'home-page':
        this.#homePage = item.url; // BRK-4.11: it may precede the objects.
        break;
      case 'unknown':
      case 'version':
        return;
    }
    if (state === 'in object') this.#takePart(item, events);
  }

  /** Takes an item of the object. */
  #takePart(
    item: Exclude<ResultItem, { kind: 'message' | 'error' | 'fatal' | 'match' | 'unknown' | 'version' }>,
    events: ClientEvent[],
  ): void {
    const hit = this.#hit;
    this.#hitBytes += LINE_BYTES;
    switch (item.kind) {
      case 'home-page':
        hit.homePage = item.url;
        break;
      case 'object-url':
        hit.objectUrl = item.url;
        break;
      case 'object-end':
        events.push({ kind: 'hit', hit: new BrokerHit(hit) });
        return;
      case 'opaque':
        hit.matchedLines.push(item.text);
        this.#hitBytes += item.text.length;
        break;
      case 'description':
        hit.description = decodeText(item.value);
        this.#hitBytes += item.value.length;
        break;
      case 'attribute':
        hit.attributes.push({ name: item.name, value: item.value });
        this.#hitBytes += item.name.length + item.value.length;
        break;
    }
    if (this.#hitBytes > this.#maxHitBytes)
      this.#exceed(`the object ${textOfUrl(hit.url)} is larger than ${this.#maxHitBytes} bytes`);
  }

  #exceed(message: string): void {
    this.#machine.step('fail');
    this.#fail('BRK-4.20', message);
  }

  #fail(rule: string, message: string): ProtocolError {
    const failure = new ProtocolError(message, { protocol: 'broker', rule, offset: this.#bytes });
    this.#failure = failure;
    return failure;
  }
}
