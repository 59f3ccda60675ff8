// Reads a bulk reply in the shipped format (Part A).
import { AT, isSpace, NINE, ZERO } from '../ascii.js';
import { encodeResult, errorText } from '../broker/index.js';
import type { ProtocolError } from '../errors.js';
import {
  decodeText,
  SECTION_CLOSE,
  SECTION_OPEN,
  SectionDecoder,
  type SoifDecoderOptions,
} from '../soif/index.js';
import { StateMachine } from '../state-machine.js';
import type { UnixSeconds } from '../time.js';
import { CompressedGroups } from './compressed.js';
import { type BulkEvent, CHANGE_KINDS, type ChangeKind } from './events.js';
import type { Groups } from './groups.js';
import { bulkError, type Input, type Reading, TruncatedError } from './input.js';
import { SHIPPED_STATES } from './states.js';

/** Status codes of a bulk answer (BT-10). */
export const BULK_STATUS = { success: 0, error: 400 } as const;

/** BT-11: codes that end the stream; they are only read, never sent. */
const END_CODES: ReadonlySet<number> = new Set([99, 499]);

/** BT-10: `000 - <text>`, sent before the first byte of SOIF. */
export function encodeBulkSuccess(text: string): Uint8Array {
  return encodeResult({ kind: 'unknown', code: BULK_STATUS.success, text });
}

/** BT-10: `400 - ERROR: <sentence>`, sent instead of `000` when no transfer is possible. */
export function encodeBulkError(sentence: string): Uint8Array {
  return encodeResult({ kind: 'unknown', code: BULK_STATUS.error, text: errorText(sentence) });
}

/**
 * The text of the `000` line: `time` is the time of the server's clock up to which the transfer is complete.
 */
export function formatTransferText(time: UnixSeconds): string {
  return `Bulk transfer follows, time ${time}`;
}

/** The largest time of `#SINCE` (BRK-3.6). */
const MAX_TIME = 0xff_ff_ff_ff;

/**
 * Reads the time of {@link formatTransferText}, which a peer sends with its next `#SINCE`; undefined for other
 * texts, and for a time beyond the range of `#SINCE`: every later collection with it would be refused.
 */
export function parseTransferTime(text: string): UnixSeconds | undefined {
  const match = /^Bulk transfer follows, time (\d{1,15})$/.exec(text.trim());
  const time = match === null ? Number.NaN : Number(match[1]);
  return time <= MAX_TIME ? time : undefined;
}

/** The line that opens a group (BT-17). The bytes are shared: do not change them. */
export function groupOpen(change: ChangeKind): Uint8Array {
  return SECTION_OPEN[change];
}

const CLOSE_AND_BLANK_LINE: Uint8Array = Buffer.from('}\n\n');

/** The line that closes a group, with the empty line after all but the last one (BT-17). Shared bytes. */
export function groupClose(change: ChangeKind): Uint8Array {
  return change === CHANGE_KINDS.at(-1) ? SECTION_CLOSE : CLOSE_AND_BLANK_LINE;
}

export interface ShippedLimits {
  readonly soif: SoifDecoderOptions;
  /** Bytes of a line before the data. */
  readonly maxLineBytes: number;
  /** Lines that are not data, in the whole reply. */
  readonly maxLines: number;
}

const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** How a shipped reply ended; `reason` says why it is incomplete. */
export interface ShippedEnd {
  readonly reason: string | undefined;
}

/** Reads a reply in the shipped format (part A): status lines, then groups in any layout (BT-15, BT-18). */
export class ShippedReader {
  readonly #input: Input;
  readonly #groups: Groups;
  readonly #isProposed: () => Reading<boolean>;
  readonly #limits: ShippedLimits;
  readonly #emit: (event: BulkEvent) => void;
  #lines = 0;
  readonly #machine = new StateMachine(SHIPPED_STATES, 'greeting');
  /** The server's text about the failure of the transfer. */
  #failure: string | undefined;
  /** Where the reply was cut off. */
  #cut: string | undefined;
  /** Whether the success line has a time: the server is then this kit and sends all groups (BT-15). */
  #hasTransferTime = false;
  /** The gzip member being read; the caller feeds it. */
  compressed: CompressedGroups | undefined;

  constructor(
    input: Input,
    groups: Groups,
    isProposed: () => Reading<boolean>,
    limits: ShippedLimits,
    emit: (event: BulkEvent) => void,
  ) {
    this.#input = input;
    this.#groups = groups;
    this.#isProposed = isProposed;
    this.#limits = limits;
    this.#emit = emit;
  }

  /**
   * Reads the whole reply; returns `proposed` when the other interface begins after the Broker's first line
   * (BP-29).
   * @throws ProtocolError BT-9 when the peer is not a Broker; for a limit and damaged compression
   */
  *read(): Reading<ShippedEnd | 'proposed'> {
    try {
      for (;;) {
        switch (this.#machine.state) {
          case 'greeting':
          case 'lines':
            yield* this.#readBeforeData();
            break;
          case 'ungreeted groups':
          case 'groups':
            yield* this.#readGroups();
            break;
          case 'member':
            yield* this.#readCompressed();
            break;
          case 'after member':
            yield* this.#skipRest();
            break;
          case 'interface 2':
            return 'proposed';
          default: {
            const reason = this.#reasonIncomplete();
            this.#machine.step(reason === undefined ? 'complete' : 'incomplete');
            return { reason };
          }
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

  /** BT-9, BT-10: reads a line before the data, or finds the data. */
  *#readBeforeData(): Reading<void> {
    const inGreeting = this.#machine.state === 'greeting';
    this.#input.skipSpace();
    const first = this.#input.peek(0);
    if (first === undefined) {
      if (!(yield* this.#input.fill(1))) this.#machine.step('end');
    } else if (yield* this.#isProposed()) {
      this.#machine.step('proposed');
    } else if (first >= ZERO && first <= NINE) {
      if (inGreeting) yield* this.#expectGreeting();
      const { offset } = this.#input;
      const what = 'a line before the data';
      const line = yield* this.#input.readLine(this.#limits.maxLineBytes, 'BT-10', what, true);
      this.#takeLine(decodeText(line).trimEnd(), offset);
    } else if (first === GZIP_MAGIC[0] && (yield* this.#input.fill(2))) {
      // BT-13: tolerated, though no server should do it.
      this.#machine.step(this.#input.peek(1) === GZIP_MAGIC[1] ? 'gzip' : 'groups');
    } else if (first === AT || !inGreeting) this.#machine.step('groups');
    else throw this.#notBrokerError();
  }

  /**
   * BT-9: a Broker sends its `200` first. A peer with another greeting, e.g. a Gatherer with `000`, waits for a
   * command.
   */
  *#expectGreeting(): Reading<void> {
    for (let index = 0; index < VERSION_CODE.length; index++) {
      if (!(yield* this.#input.fill(index + 1))) return;
      if (this.#input.peek(index) !== VERSION_CODE.charCodeAt(index)) throw this.#notBrokerError();
    }
  }

  #notBrokerError(): ProtocolError {
    return bulkError(
      'BT-9',
      this.#input.offset,
      'this is not a broker: its first line does not begin with 200',
    );
  }

  #takeLine(line: string, offset: number): void {
    const match = /^(\d{3}) -(?: (.*))?$/s.exec(line);
    if (match === null) {
      this.#countLine(offset);
      this.#machine.step('line');
      this.#emit({
        kind: 'warning',
        rule: 'BT-9',
        offset,
        message: 'a line that is neither status nor data',
      });
    } else this.#takeStatus(Number(match[1]), match[2] ?? '', offset);
  }

  #countLine(offset: number): void {
    if (++this.#lines > this.#limits.maxLines) {
      throw bulkError('BT-10', offset, `more than ${this.#limits.maxLines} lines that are not data`);
    }
  }

  #takeStatus(code: number, text: string, offset: number): void {
    this.#countLine(offset);
    const { state } = this.#machine;
    if (code === VERSION && (state === 'greeting' || state === 'ungreeted groups')) {
      this.#machine.step('version');
      this.#emit({ kind: 'version', text, interface: 1, major: 1, minor: 0 });
      return;
    }
    const step = statusStep(code);
    this.#machine.step(step);
    this.#emit({ kind: 'status', code, text });
    if (code === BULK_STATUS.success) this.#hasTransferTime ||= parseTransferTime(text) !== undefined;
    if (step === 'refusal') this.#failure ??= text;
  }

  /**
   * BT-10, BT-11: status lines may occur anywhere between objects. Each ends a decoder; another one continues.
   */
  *#readGroups(): Reading<void> {
    let decoder = new SectionDecoder({ ...this.#limits.soif, endLine: true });
    let base = this.#input.offset;
    for (;;) {
      const bytes = this.#input.takeAll();
      const items = decoder.push(bytes);
      for (const item of items) {
        this.#groups.take(item, base);
        if (item.kind === 'end-line') this.#takeStatus(item.code, item.text, base + item.offset);
        if (item.kind === 'rewind') this.#input.rewind(item.back);
      }
      if (this.#machine.state === 'ended') return;
      if (decoder.ended) {
        this.#input.giveBack(decoder.rest);
        base = this.#input.offset;
        decoder = new SectionDecoder({ ...this.#limits.soif, endLine: true });
        if (this.#groups.open !== undefined) base -= reopen(decoder, this.#groups.open);
      } else if (this.#input.final) {
        this.#finish(decoder, base);
        return;
      } else {
        this.#machine.step('data');
        yield;
      }
    }
  }

  #finish(decoder: SectionDecoder, base: number): void {
    const { open, warnings } = this.#groups;
    for (const item of decoder.end()) {
      // BT-19: a lenient decoder accepts half an object.
      if ((item.kind === 'object' || item.kind === 'large') && this.#groups.warnings > warnings) continue;
      if (item.kind === 'end-line') this.#takeStatus(item.code, item.text, base + item.offset);
      // The close ends a line without an LF as well.
      else if (item.kind !== 'warning' || item.rule !== END_LINE_RULE) this.#groups.take(item, base);
    }
    if (open !== undefined && this.#groups.open !== undefined) {
      this.#cut = `the reply ends inside the group ${open.toUpperCase()}`;
    } else if (this.#groups.warnings > warnings) this.#cut = 'the reply ends inside an object';
    if (this.#machine.state !== 'ended') this.#machine.step('end');
  }

  *#readCompressed(): Reading<void> {
    const compressed = new CompressedGroups(this.#input, this.#groups, this.#limits.soif, this.#emit);
    this.compressed = compressed;
    yield* compressed.read();
    this.compressed = undefined;
    this.#machine.step('member');
  }

  /** Skips what follows the compressed groups. */
  *#skipRest(): Reading<void> {
    let offset: number | undefined;
    for (;;) {
      const bytes = this.#input.takeAll();
      if (offset === undefined && !bytes.every(isSpace)) offset = this.#input.offset - bytes.length;
      if (this.#input.final) break;
      yield;
    }
    this.#machine.step('end');
    if (offset === undefined) return;
    this.#emit({ kind: 'warning', rule: 'BT-13', offset, message: 'data after the compressed groups' });
  }

  /** BT-19: the reason why the transfer is incomplete. */
  #reasonIncomplete(): string | undefined {
    const { open, closed, begun } = this.#groups;
    const reason = this.#cut ?? this.#failure;
    if (reason !== undefined) return reason;
    if (open !== undefined) return `the reply ends inside the group ${open.toUpperCase()}`;
    if (!begun) return 'the reply ends before the data';
    if (this.#hasTransferTime && closed.size < GROUP_COUNT) return 'the reply ends between the groups';
    return undefined;
  }
}

/** The rule of a warning about an end line. */
const END_LINE_RULE = 'GATHERD-3.7';

const VERSION = 200;
const VERSION_CODE = '200';
const FATAL = 111;
const GROUP_COUNT = 3;

function statusStep(code: number): 'status' | 'refusal' | 'stop' {
  if (END_CODES.has(code)) return 'stop';
  // A Broker without bulk transfer refuses any message with 111.
  return code === BULK_STATUS.error || code === FATAL ? 'refusal' : 'status';
}

/** Opens a group in a new decoder; returns the number of bytes that this took. */
function reopen(decoder: SectionDecoder, open: ChangeKind): number {
  decoder.push(SECTION_OPEN[open]);
  return SECTION_OPEN[open].length;
}
