// Reads the reply to a query (BRK-4) from chunks of any size.
import { CR, LF, trimSpace } from '../ascii.js';
import { ByteBuffer } from '../byte-buffer.js';
import { ProtocolError, StateError } from '../errors.js';
import { decodeText, urlOfBytes } from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import { RESULT_CODE, type ResultItem } from './results.js';
import { DECODER_STATES } from './states.js';

export interface ResultDecoderOptions {
  /** Longest line in bytes. A matched line may be a whole paragraph. Default 1 MiB. */
  readonly maxLineBytes?: number;
  /** Largest counted value in bytes. Default 16 MiB. */
  readonly maxValueBytes?: number;
}

export const DEFAULT_MAX_LINE_BYTES = 1 << 20;
export const DEFAULT_MAX_VALUE_BYTES = 1 << 24;

const CR_BYTES = Uint8Array.of(CR);

/**
 * Reads a reply (BRK-4) in pieces of any size. Skips lines that are not items; returns unknown codes as
 * `unknown` (BRK-4.17). Holds at most one line or one value in memory.
 */
export class ResultDecoder {
  readonly #maxLineBytes: number;
  readonly #maxValueBytes: number;
  readonly #buffer = new ByteBuffer();
  readonly #machine = new StateMachine(DECODER_STATES, 'line');
  /** In state `value`: a `124` has no name. */
  #name: string | undefined;
  #size = 0;
  #valueOffset = 0;
  /** Bytes consumed before the current chunk. */
  #offset = 0;
  #failure: ProtocolError | undefined;
  #truncated = false;

  constructor(options: ResultDecoderOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#maxValueBytes = options.maxValueBytes ?? DEFAULT_MAX_VALUE_BYTES;
  }

  /** Whether {@link end} found that the reply ends inside a counted value. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /**
   * Returns the items that `chunk` completes. Items before an error are returned first; the next call throws
   * it, and so does every call after that.
   * @throws ProtocolError BRK-4.20 for a line or a value beyond its limit; StateError after {@link end}
   */
  push(chunk: Uint8Array): ResultItem[] {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#machine.state === 'closed') throw new StateError('push after end');
    const items: ResultItem[] = [];
    let position = 0;
    while (position < chunk.length && this.#failure === undefined) {
      position = this.#step(chunk, position, items);
    }
    this.#offset += chunk.length;
    return this.#result(items);
  }

  /**
   * The peer closed: a last line may lack its LF.
   * @throws ProtocolError BRK-4.4 when the reply ends inside a counted value
   */
  end(): ResultItem[] {
    if (this.#failure !== undefined) throw this.#failure;
    const items: ResultItem[] = [];
    if (this.#machine.state === 'line' && this.#buffer.length > 0) {
      const offset = this.#offset - this.#buffer.length;
      this.#readLine(this.#buffer.take(), offset, items);
    }
    const { state } = this.#machine;
    if (state === 'closed') return this.#result(items);
    this.#machine.step('end');
    if (state === 'value') {
      const got = this.#buffer.length;
      this.#truncated = true;
      this.#fail('BRK-4.4', this.#valueOffset, `the reply ends after ${got} of ${this.#size} counted bytes`);
    }
    return this.#result(items);
  }

  #result(items: ResultItem[]): ResultItem[] {
    if (this.#failure !== undefined && items.length === 0) throw this.#failure;
    return items;
  }

  #step(chunk: Uint8Array, position: number, items: ResultItem[]): number {
    switch (this.#machine.state) {
      case 'line':
        return this.#stepLine(chunk, position, items);
      case 'value': {
        const end = Math.min(chunk.length, position + this.#size - this.#buffer.length);
        this.#buffer.append(chunk.subarray(position, end));
        if (this.#buffer.length < this.#size) this.#machine.step('bytes');
        else this.#finishValue('last', items);
        return end;
      }
      case 'after value':
        if (chunk[position] === LF || chunk[position] === CR) {
          this.#machine.step(chunk[position] === LF ? 'lf' : 'cr');
          return position + 1;
        }
        this.#machine.step('other');
        return position;
      case 'after CR':
        if (chunk[position] === LF) {
          this.#machine.step('lf');
          return position + 1;
        }
        // A CR without its LF begins the next line.
        this.#buffer.append(CR_BYTES);
        this.#machine.step('other');
        return position;
      case 'closed':
        return chunk.length;
    }
  }

  #stepLine(chunk: Uint8Array, position: number, items: ResultItem[]): number {
    const newline = chunk.indexOf(LF, position);
    const end = newline < 0 ? chunk.length : newline;
    const offset = this.#offset + position - this.#buffer.length;
    if (this.#buffer.length + end - position > this.#maxLineBytes) {
      this.#machine.step('limit');
      this.#fail('BRK-4.20', offset, `a line is longer than ${this.#maxLineBytes} bytes`);
      return end;
    }
    let line = chunk.subarray(position, end);
    if (newline < 0 || this.#buffer.length > 0) {
      this.#buffer.append(line);
      if (newline < 0) return end;
      line = this.#buffer.take();
    }
    this.#readLine(line, offset, items);
    return end + 1;
  }

  #readLine(line: Uint8Array, offset: number, items: ResultItem[]): void {
    const bytes = line.at(-1) === CR ? line.subarray(0, -1) : line;
    const text = decodeText(bytes);
    const match = /^(\d{3}) -(?: ([\s\S]*))?$/.exec(text);
    const code = Number(match?.[1]);
    const payload = match?.[2] ?? '';
    if (code === 124 || code === 127) {
      const head = /^(?:(\S[\s\S]*) )?(\d+)\s*$/.exec(payload);
      // BRK-4.6: a 127 has a name before its count, a 124 does not.
      if (head !== null && (head[1] === undefined) === (code === 124)) {
        this.#beginValue(head[1], Number(head[2]), offset, items);
        return;
      }
      items.push({ kind: 'unknown', code, text: payload });
    } else if (match !== null) items.push(plainItem(code, payload, bytes)); // BRK-4.17: other lines are skipped
    this.#machine.step('line');
  }

  #beginValue(name: string | undefined, size: number, offset: number, items: ResultItem[]): void {
    if (size > this.#maxValueBytes) {
      this.#machine.step('limit');
      this.#fail('BRK-4.20', offset, `a value of ${size} bytes is larger than ${this.#maxValueBytes}`);
      return;
    }
    this.#name = name;
    this.#size = size;
    this.#valueOffset = offset;
    if (size === 0) this.#finishValue('empty', items);
    else this.#machine.step('count');
  }

  #finishValue(step: 'empty' | 'last', items: ResultItem[]): void {
    this.#machine.step(step);
    const value = this.#buffer.take();
    const name = this.#name;
    items.push(name === undefined ? { kind: 'description', value } : { kind: 'attribute', name, value });
  }

  #fail(rule: string, offset: number, message: string): void {
    this.#failure = new ProtocolError(message, { protocol: 'broker', rule, offset });
  }
}

/** BRK-1.10: the URL of `NNN - URL`, its bytes unchanged. */
function urlOfLine(line: Uint8Array): string {
  return trimSpace(urlOfBytes(line.subarray(5)));
}

/** The kinds of items on one line, by their codes. */
const KINDS: ReadonlyMap<
  number,
  Exclude<ResultItem['kind'], 'description' | 'attribute' | 'unknown'>
> = new Map(Object.entries(RESULT_CODE).map(([kind, code]) => [code, kind as 'version']));

function plainItem(code: number, text: string, line: Uint8Array): ResultItem {
  const kind = KINDS.get(code);
  switch (kind) {
    case 'match':
    case 'object-url':
    case 'home-page': {
      const url = urlOfLine(line);
      // BRK-4.17: a line that cannot be parsed.
      return url === '' ? { kind: 'unknown', code, text } : { kind, url };
    }
    case 'object-end':
      return { kind };
    case undefined:
      return { kind: 'unknown', code, text };
    default:
      return { kind, text };
  }
}
