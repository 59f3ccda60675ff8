// Reads a bulk reply in the interface proposed in 1995 (Part B), production by production.
import { AT, isSpace } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import {
  decodeText,
  SectionDecoder,
  type SectionItem,
  type SoifDecoderOptions,
  urlOfBytes,
} from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import { CompressedGroups } from './compressed.js';
import { INFO_TOKENS, INTERFACE_MAJOR, MAGIC_NUMBER } from './encoder.js';
import type { BulkEvent, BulkExtension, BulkInfo, BulkListedObject } from './events.js';
import type { Groups } from './groups.js';
import { bulkError, type Input, type Reading, TruncatedError } from './input.js';
import { PROPOSED_STATES } from './states.js';
import { TOKEN_NAMES, type TokenBytes, type TokenName } from './tokens.js';

export interface ProposedLimits {
  readonly soif: SoifDecoderOptions;
  /** BP-27: bytes of one string, LF included. */
  readonly maxStringBytes: number;
  /** BP-27: bytes of one Data. */
  readonly maxDataBytes: number;
  /** Bytes of all strings and Data of one Object. */
  readonly maxListedBytes: number;
  /** Extensions of one Object. */
  readonly maxExtensions: number;
}

const NOTHING = new Uint8Array(0);

/** Reads a reply in the interface of 1995 (part B), after the first token (BP-11). */
export class ProposedReader {
  readonly #input: Input;
  readonly #groups: Groups;
  readonly #table: TokenBytes;
  readonly #limits: ProposedLimits;
  readonly #emit: (event: BulkEvent) => void;
  readonly #machine = new StateMachine(PROPOSED_STATES, 'version');
  /** Why the transfer is incomplete. */
  #reason: string | undefined;
  #listed = 0;
  /** Whether the Object that is read next begins with a warning. */
  #hasWarning = false;
  /** Where the token began that was read last. */
  #tokenOffset = 0;
  /** Bytes that the current Object may still have. */
  #budget = 0;
  /** The gzip member being read; the caller feeds it. */
  compressed: CompressedGroups | undefined;

  constructor(
    input: Input,
    groups: Groups,
    table: TokenBytes,
    limits: ProposedLimits,
    emit: (event: BulkEvent) => void,
  ) {
    this.#input = input;
    this.#groups = groups;
    this.#table = table;
    this.#limits = limits;
    this.#emit = emit;
  }

  /** Reads the whole reply; `reason` says why it is incomplete. @throws ProtocolError */
  *read(): Reading<{ readonly reason: string | undefined }> {
    try {
      for (;;) {
        switch (this.#machine.state) {
          case 'version':
            yield* this.#readVersion();
            break;
          case 'header':
            yield* this.#readHeader();
            break;
          case 'groups':
            yield* this.#readGroups();
            break;
          case 'member':
            yield* this.#readCompressedGroups();
            break;
          case 'after groups':
            yield* this.#readTrailer(yield* this.#readToken());
            break;
          case 'list':
            yield* this.#readList();
            break;
          case 'trailer':
            yield* this.#expectEnd();
            break;
          default:
            this.#machine.step(this.#reason === undefined ? 'complete' : 'incomplete');
            return { reason: this.#reason };
        }
      }
    } catch (error) {
      if (!(error instanceof TruncatedError)) throw error;
      this.#machine.step('cut');
      return { reason: error.message };
    }
  }

  /** The reading has thrown. */
  fail(): void {
    this.#machine.step('fail');
  }

  /** BP-11 */
  *#readVersion(): Reading<void> {
    const { offset } = this.#input;
    this.#budget = this.#limits.maxListedBytes;
    this.#input.skip(this.#table.tokens.version.length);
    const major = yield* this.#readNumber('Version');
    const minor = yield* this.#readNumber('Version');
    const text = yield* this.#readString('Version');
    if (major > INTERFACE_MAJOR) throw bulkError('BP-11', offset, `interface version ${major}.${minor}`);
    this.#machine.step('version');
    this.#emit({ kind: 'version', text, interface: 2, major, minor });
  }

  /** BP-12, BP-14: reads a field, or finds the Body. */
  *#readHeader(): Reading<void> {
    this.#budget = this.#limits.maxListedBytes;
    yield* this.#input.fill(1);
    if (this.#input.peek(0) === AT) {
      this.#machine.step('groups');
      return;
    }
    const token = yield* this.#readToken();
    const field = INFO_FIELDS.get(token);
    if (token === 'user-ext') {
      this.#emit({ kind: 'info', info: { field: 'extension', ...(yield* this.#readExtension()) } });
      this.#machine.step('field');
    } else if (field !== undefined) {
      this.#emit({ kind: 'info', info: { field, text: yield* this.#readString('the Header') } });
      this.#machine.step('field');
    } else if (token === 'start-marker') this.#machine.step('gzip');
    else yield* this.#readListed(token);
  }

  /**
   * BP-15. Strict, because nothing marks the end of a malformed object in a stream that is read by token
   * (BP-5). The groups end at the first byte between them that does not open a group.
   */
  *#readGroups(): Reading<void> {
    const decoder = new SectionDecoder(this.#strict());
    const base = this.#input.offset;
    let between = false;
    for (;;) {
      if (between && this.#endsGroups()) {
        this.#machine.step('other');
        return;
      }
      const bytes = this.#input.takeAll();
      const start = this.#input.offset - bytes.length - base;
      between &&= bytes.every(isSpace);
      for (const item of this.#decode(decoder, bytes, base)) {
        if ((item.kind === 'object' || item.kind === 'large') && this.#groups.open === undefined)
          throw bulkError('BP-15', base + item.offset, 'an object outside of groups');
        this.#groups.take(item, base);
        between = false;
        if (item.kind !== 'section' || item.open) continue;
        let next = item.offset + 1 - start;
        while (next < bytes.length && isSpace(bytes[next]!)) next++;
        between = next === bytes.length;
        if (between || bytes[next] === AT) continue;
        this.#input.giveBack(bytes.subarray(next));
        this.#machine.step('other');
        return;
      }
      // A strict decoder returns the objects before a defect and throws with the next call.
      if (decoder.failed) this.#decode(decoder, NOTHING, base);
      if (this.#input.final) {
        if (!between) throw new TruncatedError('the reply ends inside a group');
        this.#machine.step('end');
        return;
      }
      this.#machine.step('data');
      yield;
    }
  }

  /** BP-15: the layout of SOIF-2.2 without exception, but for the bytes of URLs. */
  #strict(): SoifDecoderOptions {
    return { ...this.#limits.soif, mode: 'strict', anyUrlByte: true };
  }

  /** Decodes objects. @throws ProtocolError SOIF-*, with the offset in the reply */
  #decode(decoder: SectionDecoder, bytes: Uint8Array, base: number): SectionItem[] {
    try {
      return decoder.push(bytes);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { problem, protocol, rule, offset } = error;
      throw new ProtocolError(problem, { protocol, rule, offset: base + offset });
    }
  }

  /** Between groups: whether something other than a group follows, after white space. */
  #endsGroups(): boolean {
    let index = 0;
    for (;;) {
      const byte = this.#input.peek(index);
      if (byte === undefined || byte === AT) return false;
      if (!isSpace(byte)) break;
      index++;
    }
    this.#input.skip(index);
    return true;
  }

  /** BP-16 */
  *#readCompressedGroups(): Reading<void> {
    const compressed = new CompressedGroups(this.#input, this.#groups, this.#strict(), this.#emit);
    this.compressed = compressed;
    yield* compressed.read();
    this.compressed = undefined;
    yield* this.#expect('end-marker', 'BP-16');
    if (this.#groups.open !== undefined) this.#reason = 'the compressed groups end inside a group';
    this.#machine.step('member');
  }

  /** Reads an Object of the ObjectList, and the token after it. */
  *#readList(): Reading<void> {
    const object = yield* this.#readObject();
    this.#listed++;
    this.#machine.step('object');
    this.#emit({ kind: 'object', object });
    yield* this.#readListed(yield* this.#readToken());
  }

  /** An Object begins, or the Trailer. */
  *#readListed(token: TokenName | 'end'): Reading<void> {
    if (token === 'warning' || token === 'resource') {
      this.#hasWarning = token === 'warning';
      this.#machine.step('list');
    } else yield* this.#readTrailer(token);
  }

  /** BP-17 to BP-20 */
  *#readObject(): Reading<BulkListedObject> {
    this.#budget = this.#limits.maxListedBytes;
    const opaque: Uint8Array[] = [];
    const attributes: { name: string; value: Uint8Array }[] = [];
    const extensions: BulkExtension[] = [];
    let rest: Pick<BulkListedObject, 'warning' | 'description'> = {};
    if (this.#hasWarning) {
      rest = { warning: yield* this.#readNumbered('a warning') };
      yield* this.#expect('resource', 'BP-17');
    }
    const resource = urlOfBytes(yield* this.#readStringBytes('an Object'));
    yield* this.#expect('object', 'BP-17');
    const object = urlOfBytes(yield* this.#readStringBytes('an Object'));
    for (let count = 0; ; count++) {
      const token = yield* this.#readToken();
      const offset = this.#tokenOffset;
      if (token === 'object-end') return { ...rest, resource, object, opaque, attributes, extensions };
      if (count === this.#limits.maxExtensions) {
        throw bulkError('BP-17', offset, `an Object has more than ${count} extensions`);
      }
      switch (token) {
        case 'description':
          if (rest.description !== undefined) throw bulkError('BP-19', offset, 'a second description');
          rest = { ...rest, description: yield* this.#readData() };
          break;
        case 'opaque':
          opaque.push(yield* this.#readData());
          break;
        case 'attribute': {
          const { type: name, data: value } = yield* this.#readExtension();
          attributes.push({ name, value });
          break;
        }
        case 'user-extension':
          extensions.push(yield* this.#readExtension());
          break;
        default:
          throw this.#misplaced(token, 'BP-17', offset, 'inside an Object');
      }
    }
  }

  /** BP-21 */
  *#readTrailer(token: TokenName | 'end'): Reading<void> {
    const offset = this.#tokenOffset;
    const { state } = this.#machine;
    this.#budget = this.#limits.maxListedBytes;
    switch (token) {
      case 'object-count': {
        const count = yield* this.#readNumber('the Trailer');
        const got = this.#groups.objects + this.#listed;
        this.#machine.step(token);
        this.#emit({ kind: 'trailer', trailer: { kind: 'count', count } });
        if (got !== count)
          this.#emit({
            kind: 'warning',
            rule: 'BP-22',
            offset,
            message: `${got} objects instead of ${count}`,
          });
        break;
      }
      case 'error': {
        const error = yield* this.#readNumbered('the Trailer');
        this.#machine.step(token);
        this.#emit({ kind: 'trailer', trailer: { kind: 'error', ...error } });
        this.#reason = `error ${error.number}: ${error.text}`;
        break;
      }
      case 'stats': {
        const data = yield* this.#readData();
        this.#machine.step(token);
        this.#emit({ kind: 'trailer', trailer: { kind: 'stats', data } });
        break;
      }
      case 'end':
        this.#machine.step(token);
        // BP-21: without a count a list may be incomplete; groups are closed, so they are not.
        if (state !== 'after groups') this.#reason ??= 'the reply ends without a Trailer';
        break;
      default:
        throw this.#misplaced(token, 'BP-21', offset, 'where the Trailer should be');
    }
  }

  /** BP-25 */
  *#expectEnd(): Reading<void> {
    let warned = false;
    for (;;) {
      const { offset, available } = this.#input;
      if (available > 0 && !warned) {
        this.#emit({ kind: 'warning', rule: 'BP-25', offset, message: 'data after the Trailer' });
        warned = true;
      }
      this.#input.takeAll();
      if (this.#input.final) break;
      yield;
    }
    this.#machine.step('end');
  }

  /**
   * Takes the next token with its separator; `end` when the reply ends before it. @throws ProtocolError BP-28, or
   * the rule that says which token it must be
   */
  *#readToken(rule = 'BP-28'): Reading<TokenName | 'end'> {
    this.#tokenOffset = this.#input.offset;
    for (;;) {
      const found = this.#matchToken();
      if (found === 'none') {
        throw bulkError(rule, this.#tokenOffset, 'an unknown code, so its length is unknown');
      }
      if (found !== 'more') {
        this.#input.skip(this.#table.tokens[found].length);
        return found;
      }
      if (this.#input.final) {
        if (this.#input.available === 0) return 'end';
        throw new TruncatedError('the reply ends inside a token');
      }
      yield;
    }
  }

  /** The token that the input begins with; `more` when too few bytes have arrived. */
  #matchToken(): TokenName | 'more' | 'none' {
    let best: 'more' | 'none' = 'none';
    for (const name of TOKEN_NAMES) {
      const token = this.#table.tokens[name];
      let index = 0;
      while (index < token.length && this.#input.peek(index) === token[index]) index++;
      if (index === token.length) return name;
      if (index === this.#input.available) best = 'more';
    }
    return best;
  }

  *#expect(expected: TokenName, rule: string): Reading<void> {
    const token = yield* this.#readToken(rule);
    if (token !== expected) throw this.#misplaced(token, rule, this.#tokenOffset, `instead of ${expected}`);
  }

  #misplaced(token: TokenName | 'end', rule: string, offset: number, where: string): Error {
    if (token === 'end') return new TruncatedError('the reply ends inside an item');
    return bulkError(rule, offset, `${token} occurs ${where}`);
  }

  /** BP-13: a string, a separator, Data. */
  *#readExtension(): Reading<BulkExtension> {
    const type = yield* this.#readString('the name of an extension');
    const { separator } = this.#table;
    yield* this.#input.need(separator.length, 'an extension');
    const { offset } = this.#input;
    if (!this.#input.take(separator.length).every((byte, i) => byte === separator[i])) {
      throw bulkError('BP-13', offset, 'no separator between name and data');
    }
    return { type, data: yield* this.#readData() };
  }

  /** BP-18, BP-23: no separator between number and string. */
  *#readNumbered(what: string): Reading<{ readonly number: number; readonly text: string }> {
    const number = yield* this.#readNumber(what);
    return { number, text: yield* this.#readString(what) };
  }

  /** BP-1 */
  *#readNumber(what: string): Reading<number> {
    yield* this.#input.need(4, what);
    const bytes = this.#input.take(4);
    return new DataView(bytes.buffer).getUint32(0);
  }

  /** BP-2 */
  *#readString(what: string): Reading<string> {
    return decodeText(yield* this.#readStringBytes(what));
  }

  *#readStringBytes(what: string): Reading<Uint8Array> {
    const { offset } = this.#input;
    const line = yield* this.#input.readLine(this.#limits.maxStringBytes, 'BP-27', what, false);
    this.#spend(line.length + 1, offset);
    return line;
  }

  /** BP-4 */
  *#readData(): Reading<Uint8Array> {
    const { offset } = this.#input;
    if ((yield* this.#readNumber('Data')) !== MAGIC_NUMBER)
      throw bulkError('BP-26', offset, 'a wrong magic number');
    const length = yield* this.#readNumber('Data');
    if (length > this.#limits.maxDataBytes) throw bulkError('BP-27', offset, `Data of ${length} bytes`);
    this.#spend(length, offset);
    yield* this.#input.need(length, 'Data');
    return this.#input.take(length);
  }

  #spend(bytes: number, offset: number): void {
    this.#budget -= bytes;
    if (this.#budget >= 0) return;
    throw bulkError('BP-27', offset, `an Object of more than ${this.#limits.maxListedBytes} bytes`);
  }
}

/** The InfoField of each token that is followed by a string. */
const INFO_FIELDS: ReadonlyMap<string, Exclude<BulkInfo['field'], 'extension'>> = new Map([
  [INFO_TOKENS['broker-url'], 'broker-url'],
  [INFO_TOKENS.indexer, 'indexer'],
  [INFO_TOKENS.collect, 'collect'],
  [INFO_TOKENS.message, 'message'],
]);
