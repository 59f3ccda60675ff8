// Reads the reply to `#BULK`: its status lines, and facts about its groups and objects.
import { createHash } from 'node:crypto';
import { SectionDecoder } from '../../../protocols/soif/index.js';
import { checkEqual, Mismatch, NotApplicable, objectCount } from '../case.js';
import { GroupLayout, StreamCheck, type StreamFacts, type StreamObject } from '../gatherd/stream-check.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';

/** A line that is not data. */
export interface StatusLine {
  readonly code: number;
  /** The text after `NNN - `, as Latin-1. */
  readonly text: string;
  /** The line as received, if it is not `NNN - text` with LF alone (BRK-4.1). */
  readonly malformed?: string;
}

/** A reply to `#BULK`, from the version line (exclusive) to the end of the connection. */
export interface Transfer extends Omit<StreamFacts, 'misplaced' | 'disorder'> {
  /** Lines before the data. */
  readonly lines: readonly StatusLine[];
  /** A line that ended the data (BT-11). */
  readonly endLine: StatusLine | undefined;
  /** The first deviation from BT-17. */
  readonly misplaced: string | undefined;
  /** A group header that does not begin a line (BT-17). */
  readonly withinLine: string | undefined;
  /** Whether the data begins like gzip (BT-13). */
  readonly compressed: boolean;
  /** Identifies the objects of `@UPDATE`, byte for byte, in any order. */
  readonly contents: string;
}

/** The facts about groups, of whichever interface. */
export type GroupFacts = Omit<Transfer, 'lines' | 'compressed'>;

export type OnObject = (object: StreamObject) => void;

const MAX_LINES = 100;
const GZIP_MAGIC = 0x1f;

/**
 * Reads the reply after the version line, until the Broker closes (BT-12). Rejects with ConnectionError on
 * silence.
 */
export async function readTransfer(wire: Wire, onObject?: OnObject): Promise<Transfer> {
  const lines = await readStatusLines(wire);
  const compressed = (await wire.peek()) === GZIP_MAGIC;
  const check = new GroupCheck(onObject);
  for (let bytes = await wire.read(); bytes !== undefined; bytes = await wire.read()) check.push(bytes);
  return { ...check.facts(), lines, compressed };
}

/** Reads the lines before the data. @throws Mismatch if there are too many */
async function readStatusLines(wire: Wire): Promise<StatusLine[]> {
  const lines: StatusLine[] = [];
  for (;;) {
    if (!(await wire.startsWithDigit())) return lines;
    const { code, line } = await wire.status();
    const malformed = /^\d{3} - [^\r]*$/.test(line) ? {} : { malformed: line };
    lines.push({ code, text: line.slice(3).replace(/^ - /, ''), ...malformed });
    if (lines.length > MAX_LINES) {
      throw new Mismatch('lines without end', {
        expected: '000 - ..., then @DELETE {',
        received: printable(line),
      });
    }
  }
}

/** Checks the groups of a transfer while they are read. */
export class GroupCheck {
  readonly #stream: StreamCheck;
  readonly #decoder = new SectionDecoder({ endLine: true });
  readonly #layout = new GroupLayout({ separator: '\n', checksObjects: true });
  #endLine: StatusLine | undefined;
  /** The sum of the digests of the updates. */
  #sum = 0n;

  constructor(onObject: OnObject = () => {}) {
    this.#stream = new StreamCheck((item) => {
      if (item.section === 'update') this.#sum += digestOf(item).readBigUInt64BE(0);
      onObject(item);
    });
  }

  push(bytes: Uint8Array): void {
    this.#stream.bytes(bytes);
    this.#layout.bytes(bytes);
    if (!this.#decoder.ended) this.#take(this.#decoder.push(bytes));
  }

  facts(): GroupFacts {
    if (!this.#decoder.ended) this.#take(this.#decoder.end());
    this.#layout.end();
    const { misplaced, withinLine } = this.#layout;
    const { disorder: _, ...facts } = this.#stream.facts();
    const contents = BigInt.asUintN(64, this.#sum).toString(16);
    return { ...facts, misplaced, withinLine, endLine: this.#endLine, contents };
  }

  #take(items: ReturnType<SectionDecoder['push']>): void {
    this.#stream.items(items);
    this.#layout.items(items);
    for (const item of items) if (item.kind === 'end-line') this.#endLine = item;
  }
}

/** Returns the SHA-256 of an object as received. */
export function digestOf({ bytes }: StreamObject): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Checks that groups have the same updates as the transfer of everything, byte for byte. @throws Mismatch */
export function checkSameUpdates(all: GroupFacts, received: GroupFacts): void {
  const message = 'other objects than with #SINCE 0';
  checkEqual(updatesOf(received), updatesOf(all), message, objectCount);
  const show = (contents: string) => `${updatesOf(all)} objects, digest ${contents}`;
  checkEqual(received.contents, all.contents, 'objects of other bytes than with #SINCE 0', show);
}

/** Whether the reply is a refusal (BT-10). */
export function isRefused({ lines }: Transfer): boolean {
  return lines.some(({ code }) => code === 400 || code === 111);
}

/** Checks that a reply is a transfer and returns it. @throws Mismatch or NotApplicable if it is a refusal */
export function requireTransfer(
  transfer: Transfer,
  what: string,
  onRefusal: 'fail' | 'skip' = 'fail',
): Transfer {
  const refused = isRefused(transfer);
  const { compressed, sections, objects } = transfer;
  if (!refused && !compressed && sections.length + objects > 0) return transfer;
  const received = compressed ? 'compressed data (BT-13)' : formatTransfer(transfer);
  if (refused && onRefusal === 'skip') {
    throw new NotApplicable(`the broker does not support this: ${received}`);
  }
  throw new Mismatch(`no transfer for ${printable(what)}`, {
    expected: '000 - ..., then @DELETE {',
    received,
  });
}

/** Formats a reply for a report. */
export function formatTransfer({ lines, bytes, objects }: Transfer): string {
  const first = lines.slice(0, 3).map(({ code, text }) => `${String(code).padStart(3, '0')} - ${text}`);
  if (bytes > 0) first.push(`${bytes} bytes of data, ${objects} objects`);
  return printable(first.join('\n')) || 'nothing';
}

/** Returns the number of updates. Objects outside of any group count as updates (BT-20). */
export function updatesOf({ bySection }: Pick<GroupFacts, 'bySection'>): number {
  return bySection.update + bySection.bare;
}
