import { AT } from '../ascii.js';
import { ConnectionError, PeerError, ProtocolError, StateError, UsageError } from '../errors.js';
import { decodeText } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import { commandLine, markOf, type SequenceMark } from './commands.js';
import { GZIP_MAGIC, GzipHeaderReader, GzipTrailerReader } from './gzip.js';
import { LineCollector } from './line-collector.js';
import { CLIENT_STATES, type ClientState } from './states.js';
import {
  BEFORE_ANSWER,
  type GatherdClientEvent,
  type GatherdClientOptions,
  type ObjectDelivery,
  ObjectReader,
  type Pending,
  type SetPending,
  type UpdateDelivery,
  UpdateReader,
} from './update-reader.js';
import {
  GATHERD_CODES as CODE,
  isSetAnswer,
  MAX_LINE_BYTES,
  parseStatusLine,
  type StatusLine,
} from './vocabulary.js';

const NOTHING = new Uint8Array(0);

/**
 * The client's end of one session: commands out as bytes, server bytes in, events out. Commands may be
 * pipelined (GATHERD-1.8). Replies are matched in order, by number only (GATHERD-1.6); unknown lines are
 * ignored (GATHERD-1.7).
 */
export class GatherdClientSession {
  readonly #options: GatherdClientOptions;
  readonly #lines: LineCollector;
  readonly #maxIgnoredBytes: number;
  readonly #pending: Pending[] = ['greeting'];
  readonly #machine = new StateMachine(CLIENT_STATES, 'lines');
  #atLineStart = true;
  #ignoredBytes = 0;
  #offset = 0;
  /** Where the line begins that is being read: errors name it, however the input is cut. */
  #lineOffset = 0;
  #failure: unknown;
  #compressed = false;
  #delivery: UpdateDelivery = 'items';
  #update: UpdateReader | undefined;
  #object: ObjectReader | undefined;
  #objectDelivery: ObjectDelivery = 'object';
  /** Whether the reply that is being received has had its object. */
  #found = false;
  /** Whether the server has answered an INFO of this session with an object. */
  #infoAnswered = false;
  #header = new GzipHeaderReader();
  #trailer = new GzipTrailerReader();
  /** The output of the inflate stream for the current member, to compare with the trailer. */
  #inflated = { crc: 0, size: 0 };

  constructor(options: GatherdClientOptions = {}) {
    this.#options = options;
    this.#lines = new LineCollector(options.maxLineBytes ?? MAX_LINE_BYTES);
    this.#maxIgnoredBytes = options.maxIgnoredBytes ?? 1 << 20;
  }

  get state(): ClientState {
    return this.#machine.state;
  }

  /** Whether the server has accepted `SET compression`. */
  get compressed(): boolean {
    return this.#compressed;
  }

  /**
   * Whether a checked gzip member proves that the update in flight is complete and only its end line is
   * missing. Then the server may close (GATHERD-6.5), and a broken connection loses nothing.
   */
  get transferComplete(): boolean {
    // An update in 'lines' has all its members.
    return this.state === 'gzip-next' || (this.state === 'lines' && this.#update !== undefined);
  }

  /** `HELLO` with the client's own full host name (GATHERD-2.6). */
  hello(name: string): Uint8Array {
    return this.#send('hello', commandLine('hello', name));
  }

  /** `SET compression`: for all later updates of this session (GATHERD-6.1). */
  setCompression(): Uint8Array {
    return this.#send('compression', commandLine('set', 'compression'));
  }

  /** `SET changes`: an extension of this kit (GATHERD-6.11). */
  setChanges(): Uint8Array {
    return this.#send('changes', commandLine('set', 'changes'));
  }

  /**
   * `SET sequence`: an extension of this kit (GATHERD-6.13).
   *
   * @param mark asks for the changes after this one, in updates since another time than 0; refused if the database does
   *   not have it
   */
  setSequence(mark?: SequenceMark): Uint8Array {
    const argument = mark === undefined ? '' : ` ${mark.origin} ${mark.sequence}`;
    return this.#send('sequence', commandLine('set', `sequence${argument}`));
  }

  /**
   * `SEND-UPDATE`; the reply arrives as section items, or as the bytes of the wrapped stream. @throws
   * RangeError for a bad time
   */
  sendUpdate(since: number, delivery: UpdateDelivery = 'items'): Uint8Array {
    if (!Number.isSafeInteger(since) || since < 0) {
      throw new RangeError(`GATHERD-4.1: ${since} is not a number of seconds`);
    }
    this.#delivery = delivery;
    return this.#send('update', commandLine('update', String(since)));
  }

  /**
   * `SEND-OBJECT`; the identifier is the URL, one character a byte (GATHERD-5.1: exact bytes).
   *
   * @param delivery `items`: as the items of an update, so that a large object is not held
   * @throws UsageError for white space in it
   */
  sendObject(oid: string, delivery: ObjectDelivery = 'object'): Uint8Array {
    if (!/^[^\t-\r ]+$/.test(oid))
      throw new UsageError('GATHERD-5.1: an object identifier has no white space');
    this.#objectDelivery = delivery;
    return this.#send('object', commandLine('object', oid));
  }

  /** `INFO`. */
  info(): Uint8Array {
    this.#objectDelivery = 'object';
    return this.#send('info', commandLine('info'));
  }

  /** `QUIT`; nothing can follow it. */
  quit(): Uint8Array {
    return this.#send('quit', commandLine('quit'));
  }

  /**
   * Takes bytes of the server. Throws {@link PeerError} when the server refuses, {@link ProtocolError} when it
   * breaks the protocol; both end the session, see {@link failure}.
   */
  push(chunk: Uint8Array): GatherdClientEvent[] {
    return this.#guarded((events) => this.#consume(chunk, events));
  }

  /** Takes output of the inflate stream. */
  inflated(bytes: Uint8Array): GatherdClientEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.state !== 'gzip-data') throw new StateError('no compressed data is expected');
    return this.#guarded((events) => events.push(...this.#updateReader().pushInflated(bytes)));
  }

  /**
   * The inflate stream has found the end of the deflate data.
   * @param rest the bytes of the last `inflate` event that it did not consume
   * @param crc CRC-32 of its output for this member
   * @param size bytes of its output for this member
   */
  inflateEnd(rest: Uint8Array, crc: number, size: number): GatherdClientEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    this.#machine.step('data');
    this.#inflated = { crc, size };
    return this.#guarded((events) => this.#consume(rest, events));
  }

  /**
   * The server has closed. Throws {@link ConnectionError} when a reply is incomplete: an update needs its end
   * line (GATHERD-3.11) or a complete gzip member (GATHERD-6.5).
   */
  end(): GatherdClientEvent[] {
    if (this.state === 'closed' && this.#failure === undefined) return [];
    return this.#guarded((events) => {
      if (this.transferComplete) this.#endMembers(events);
      // GATHERD-3.11: an end line that only the close ends, or that a cut value has, completes nothing.
      if (this.state === 'sections') events.push(...this.#updateReader().end());
      const [oldest] = this.#pending;
      this.#machine.step('close');
      if (oldest === 'quit') events.push({ kind: 'bye' });
      else if (oldest !== undefined) {
        throw new ConnectionError(`the server closed the connection ${BEFORE_ANSWER[oldest]}`);
      }
    });
  }

  /**
   * The error that ended the session. A call that has events before it returns them, so that they do not depend
   * on where the input is cut; the next call throws it. Check it after the events of each call.
   */
  get failure(): unknown {
    return this.#failure;
  }

  #send(pending: Pending, line: Uint8Array): Uint8Array {
    if (this.state === 'closed') throw new StateError('the session is over');
    if (this.#pending.includes('quit')) throw new StateError('nothing can follow QUIT');
    if (this.#pending.includes(pending)) throw new StateError(`${pending} is still unanswered`);
    this.#pending.push(pending);
    return line;
  }

  #guarded(work: (events: GatherdClientEvent[]) => void): GatherdClientEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    const events: GatherdClientEvent[] = [];
    try {
      work(events);
    } catch (error) {
      if (this.state !== 'closed') this.#machine.step('fail');
      this.#failure = error;
      if (events.length === 0) throw error;
    }
    return events;
  }

  #consume(chunk: Uint8Array, events: GatherdClientEvent[]): void {
    let rest = chunk;
    while (rest.length > 0 && this.state !== 'closed') {
      const before = rest.length;
      rest = this.#read(rest, events);
      this.#offset += before - rest.length;
    }
  }

  /** Reads the first element of the chunk, depending on the state, and returns the rest. */
  #read(chunk: Uint8Array, events: GatherdClientEvent[]): Uint8Array {
    switch (this.state) {
      case 'lines':
        return this.#readLine(chunk, events);
      case 'object':
        return this.#readObject(chunk, events);
      case 'sections': {
        for (const event of this.#updateReader().pushPlain(chunk)) {
          events.push(event);
          if (event.kind === 'item' && event.item.kind === 'rewind') this.#offset -= event.item.back;
        }
        this.#machine.step('items');
        if (!this.#updateReader().ended) return NOTHING;
        const { rest } = this.#updateReader();
        this.#machine.step('end');
        this.#handleEndLine(events);
        return rest;
      }
      case 'gzip-header': {
        const rest = this.#header.push(chunk);
        if (this.#header.done) this.#machine.step('header');
        return rest;
      }
      case 'gzip-data':
        events.push({ kind: 'inflate', bytes: chunk });
        return NOTHING;
      case 'gzip-trailer': {
        const rest = this.#trailer.push(chunk);
        if (this.#trailer.done) {
          this.#trailer.check(this.#inflated.crc, this.#inflated.size);
          this.#machine.step('trailer');
        }
        return rest;
      }
      case 'gzip-next':
        // GATHERD-6.6: another member may follow; no status line begins with its first byte.
        if (chunk[0] === GZIP_MAGIC) this.#beginMember();
        else this.#machine.step('end');
        return chunk;
      case 'closed':
        return NOTHING;
    }
  }

  #readLine(chunk: Uint8Array, events: GatherdClientEvent[]): Uint8Array {
    const [oldest] = this.#pending;
    if (this.#atLineStart && chunk[0] === AT && (oldest === 'object' || oldest === 'info')) {
      this.#machine.step('object');
      const { largeBytes, ...held } = this.#options.soif ?? {};
      const large = this.#objectDelivery === 'items' && largeBytes !== undefined ? { largeBytes } : {};
      this.#object = new ObjectReader(oldest, oldest === 'object' ? { ...held, ...large } : held);
      return chunk;
    }
    if (this.#atLineStart) this.#lineOffset = this.#offset;
    const { line, rest } = this.#lines.take(chunk);
    if (line === 'too-long') throw this.#protocolError('status line is too long', 'GATHERD-1.6');
    this.#atLineStart = line !== 'incomplete';
    if (line === 'incomplete') return rest;
    const status = parseStatusLine(decodeText(line));
    const answered = status !== undefined && this.#answer(status, events);
    // Otherwise the line has led to another state.
    if (this.state === 'lines') this.#machine.step('line');
    if (answered) {
      this.#ignoredBytes = 0;
      return rest;
    }
    this.#ignoredBytes += line.length + 1;
    if (this.#ignoredBytes > this.#maxIgnoredBytes)
      throw this.#protocolError('no status line', 'GATHERD-1.7');
    return rest;
  }

  #readObject(chunk: Uint8Array, events: GatherdClientEvent[]): Uint8Array {
    if (this.#object === undefined) throw new StateError('no object is being received');
    const { items, ended, rest } = this.#object.push(chunk);
    for (const item of items) {
      this.#found ||= item.kind === 'object' || item.kind === 'large';
      if (item.kind === 'rewind') this.#offset -= item.back;
      if (this.#objectDelivery === 'items') events.push({ kind: 'item', item });
      else if (item.kind === 'object') events.push({ kind: 'object', object: item.object });
    }
    if (ended) this.#endObject(this.#pending[0] === 'info' ? 'info' : 'object', events);
    return rest;
  }

  /** Applies a status line to the oldest unanswered command. Returns false when it does not answer it. */
  #answer(status: StatusLine, events: GatherdClientEvent[]): boolean {
    const [oldest] = this.#pending;
    const { code, text } = status;
    if (oldest === undefined) return false;
    if (code === CODE.bye && oldest !== 'quit') {
      throw new PeerError(`the server ended the session: ${text}`, code); // GATHERD-3.10
    }
    switch (oldest) {
      case 'greeting':
        return this.#answerGreeting(status, events);
      case 'hello':
        if (code !== CODE.hello && code < CODE.error) return false;
        return this.#pushReply(oldest, code === CODE.hello, events);
      case 'compression':
      case 'changes':
      case 'sequence':
        return this.#answerSet(oldest, status, events);
      case 'update':
        return this.#answerUpdate(status, events);
      case 'object':
        if (code === CODE.objectStart) return true;
        if (code === CODE.objectEnd) return this.#endObject('object', events);
        if (code >= CODE.error) throw new PeerError(`SEND-OBJECT refused: ${text}`, code);
        return false;
      case 'info':
        // GATHERD-3.6: 600 may precede or follow the object, so it decides nothing.
        if (code >= CODE.error) return this.#endObject('info', events);
        // 699 without an object means "no object", unless it is the late end of the previous INFO.
        if (code === CODE.infoEnd && !this.#infoAnswered) return this.#endObject('info', events);
        return code === CODE.info || code === CODE.infoEnd;
      case 'quit':
        if (code !== CODE.bye) return false;
        this.#pending.shift();
        this.#machine.step('bye');
        events.push({ kind: 'bye' });
        return true;
    }
  }

  #answerGreeting({ code, text }: StatusLine, events: GatherdClientEvent[]): boolean {
    if (code === CODE.busy) throw new PeerError(`the Gatherer has no place for a client: ${text}`, code);
    if (code !== CODE.greeting) throw new PeerError(`not a gatherd: ${text}`, code);
    const words = text.split(/[\t-\r ]+/);
    const [hello = '', version = '', hostname = ''] = words;
    if (hello.toUpperCase() !== 'HELLO') throw this.#protocolError('greeting without HELLO', 'GATHERD-3.1');
    this.#pending.shift();
    events.push({ kind: 'greeting', version, hostname });
    return true;
  }

  #pushReply(to: 'hello' | SetPending, accepted: boolean, events: GatherdClientEvent[]): true {
    this.#pending.shift();
    events.push({ kind: 'reply', to, accepted });
    return true;
  }

  #answerSet(oldest: SetPending, status: StatusLine, events: GatherdClientEvent[]): boolean {
    const { code } = status;
    const isNext = code === CODE.updateStart || code === CODE.updateEnd || code === CODE.hello;
    if (!isNext && !isSetAnswer(code)) return false;
    if (code === CODE.set && oldest === 'compression') this.#compressed = true;
    this.#pushReply(oldest, code === CODE.set, events);
    // A server may ignore an unknown SET: then this line answers the command after it.
    const [next] = this.#pending;
    const answersNext = next === 'update' || next === 'sequence' || next === 'hello';
    return isNext && answersNext ? this.#answer(status, events) : true;
  }

  #answerUpdate({ code, text }: StatusLine, events: GatherdClientEvent[]): boolean {
    if (this.#update !== undefined) {
      this.#checkEndLine(code, text); // GATHERD-6.3: the line after the member
      this.#endUpdate(text, events);
      return true;
    }
    if (code === CODE.updateStart) {
      this.#update = new UpdateReader(this.#delivery, this.#compressed, this.#options.soif);
      if (this.#compressed) this.#beginMember();
      else this.#machine.step('update');
      return true;
    }
    if (code === CODE.updateEnd || code >= CODE.error) {
      throw new PeerError(`SEND-UPDATE refused: ${text}`, code); // GATHERD-3.9
    }
    return false;
  }

  #beginMember(): void {
    this.#header = new GzipHeaderReader();
    this.#trailer = new GzipTrailerReader();
    this.#machine.step('gzip');
  }

  /** GATHERD-3.7: an uncompressed update has found its end line. */
  #handleEndLine(events: GatherdClientEvent[]): void {
    const { code, text } = this.#updateReader().endLine;
    this.#checkEndLine(code, text);
    this.#endUpdate(text, events);
  }

  /** GATHERD-3.7, 6.5: another number in place of the end line says that the server gave up. */
  #checkEndLine(code: number, text: string): void {
    // GATHERD-3.3: a Broker sends 099.
    if (code === CODE.updateEnd || code === CODE.bulkEnd) return;
    throw new PeerError(`the server aborted the update: ${text}`, code);
  }

  /**
   * GATHERD-6.5: the server has closed after a whole member. A gzip program whose input breaks off writes a right
   * trailer, too, so the stream itself must be whole.
   */
  #endMembers(events: GatherdClientEvent[]): void {
    const reader = this.#updateReader();
    events.push(...reader.end());
    if (reader.isCut) {
      this.#machine.step('close');
      throw new ConnectionError(`the server closed the connection ${BEFORE_ANSWER.update}`);
    }
    this.#endUpdate('', events);
  }

  #endUpdate(text: string, events: GatherdClientEvent[]): void {
    const reader = this.#updateReader();
    if (!reader.ended) events.push(...reader.end());
    this.#update = undefined;
    this.#pending.shift();
    events.push({ kind: 'update-end', text, last: markOf(text) });
  }

  #endObject(to: 'object' | 'info', events: GatherdClientEvent[]): true {
    this.#pending.shift();
    if (this.state === 'object') this.#machine.step('end');
    this.#infoAnswered ||= to === 'info' && this.#found;
    this.#object = undefined;
    events.push({ kind: 'object-end', to, found: this.#found });
    this.#found = false;
    return true;
  }

  #updateReader(): UpdateReader {
    if (this.#update === undefined) throw new StateError('no update is being received');
    return this.#update;
  }

  #protocolError(message: string, rule: string): ProtocolError {
    return new ProtocolError(message, { protocol: 'gatherd', rule, offset: this.#lineOffset });
  }
}
