// The client's end of an SSTP connection.
import { type PeerError, ProtocolError, StateError } from '../errors.js';
import { StateMachine } from '../state-machine.js';
import { formatHead, SstpDecoder, type SstpDecoderOptions } from './codec.js';
import type { SstpMessage } from './message.js';
import { codeEntry } from './registry.js';
import { replyError } from './replies.js';
import { CLIENT_STATES, type SstpClientState } from './states.js';

/** A reply and the code of the request that it answers. */
export interface SstpReply {
  readonly requestCode: number;
  readonly message: SstpMessage;
}

/**
 * The client's end of a connection (S-39 to S-42). Call {@link request} any number of times, send what
 * {@link take} returns, push what arrives. Replies arrive in the order of the requests.
 */
export class SstpClientSession {
  readonly #decoder: SstpDecoder;
  /** Codes of requests that are not answered; those before `#answered` are. */
  #codes: number[] = [];
  #answered = 0;
  readonly #machine = new StateMachine(CLIENT_STATES, 'idle');
  #text = '';
  #failure: unknown;
  #refusal: PeerError | undefined;

  constructor(options: SstpDecoderOptions = {}) {
    this.#decoder = new SstpDecoder('reply', options);
  }

  get state(): SstpClientState {
    return this.#machine.state;
  }

  /** Requests without a reply. */
  get pending(): number {
    return this.#codes.length - this.#answered;
  }

  /**
   * S-39: the reply after which the server closes, as an error. Pending requests get no reply, and no more
   * requests are accepted.
   */
  get refusal(): PeerError | undefined {
    return this.#refusal;
  }

  /**
   * Adds a request without a body (S-37, S-52) to the next {@link take}. @throws as `formatHead`; StateError
   * when the connection is closed, or the server is closing it
   */
  request(message: Omit<SstpMessage, 'body'>): void {
    if (this.#refusal !== undefined) throw new StateError('S-39: the server is closing this connection');
    const head = formatHead(message);
    this.#machine.step('call');
    this.#text += head;
    this.#codes.push(message.code);
  }

  /** Returns the octets of the requests since the last call. */
  take(): Uint8Array {
    const text = this.#text;
    this.#text = '';
    return Buffer.from(text, 'utf8');
  }

  /**
   * Returns the complete replies. Octets after a reply that closes the connection are ignored. After an error
   * every call throws it again.
   * @throws ProtocolError as the decoder, or rule S-39: a reply without a request
   */
  push(chunk: Uint8Array): SstpReply[] {
    if (this.#failure !== undefined) throw this.#failure;
    const replies: SstpReply[] = [];
    if (this.state === 'closed') this.#machine.step('more');
    for (let at = 0; at < chunk.length && this.#isOpen; ) {
      try {
        at = this.#decoder.read(chunk, at);
      } catch (error) {
        this.#machine.step('malformed');
        this.#failure = error;
        throw error;
      }
      const message = this.#decoder.takeMessage();
      if (message !== undefined) this.#acceptReply(message, replies);
    }
    return replies;
  }

  /** The peer closed. Returns whether it may: no request is pending, and no reply is incomplete. */
  end(): boolean {
    const complete = this.pending === 0 && this.#decoder.idle;
    if (this.#isOpen) this.#machine.step('end');
    return complete;
  }

  get #isOpen(): boolean {
    return this.state !== 'closed';
  }

  #acceptReply(message: SstpMessage, replies: SstpReply[]): void {
    const isRefusal = codeEntry(message.code)?.closes === true;
    if (isRefusal) this.#refusal = replyError(message.code);
    const requestCode = this.#codes[this.#answered];
    if (requestCode === undefined) {
      // a server that is full says so before the first request.
      this.#machine.step(isRefusal ? 'refused' : 'unexpected');
      if (isRefusal) return;
      this.#failure = new ProtocolError('a reply without a request', {
        protocol: 'sstp',
        rule: 'S-39',
        offset: 0,
      });
      throw this.#failure;
    }
    this.#machine.step(isRefusal ? 'refused' : this.pending === 1 ? 'last' : 'reply');
    replies.push({ requestCode, message });
    this.#answered++;
    if (this.#answered > 1024 && this.#answered * 2 > this.#codes.length) {
      this.#codes = this.#codes.slice(this.#answered);
      this.#answered = 0;
    }
  }
}
