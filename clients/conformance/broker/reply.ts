// Reads a Broker's reply leniently, of limited size, and notes the defects of its layout.
import { ConnectionError } from '../../../protocols/errors.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';

/**
 * One item of a reply (BRK-4.1), with text and bytes as received. `200` lines are not items; they are ignored
 * (BRK-1.5).
 */
interface Item {
  readonly code: number;
  /** The text after `NNN - `, as Latin-1, without a CR. */
  readonly text: string;
  /** The counted bytes of a `124` or `127`. */
  readonly value?: Buffer;
}

/** A defect in the layout of a reply. Cases about the layout check it, the others ignore it. */
export interface Problem {
  /**
   * `form`: no `NNN - text`. `cr`: a CR before an LF. `no-lf`: no LF after counted bytes. `count`: no byte
   * count. `cut`: it ends within an item.
   */
  readonly kind: 'form' | 'cr' | 'no-lf' | 'count' | 'cut';
  readonly text: string;
}

/** The items of one object, `120` and `130` among them; `ended` is false when there was no `130`. */
export interface FoundObject {
  /** Bytes as Latin-1. */
  readonly url: string;
  readonly items: readonly Item[];
  readonly ended: boolean;
}

/** A whole reply, to the end of the connection. */
export interface Reply {
  readonly items: readonly Item[];
  readonly objects: readonly FoundObject[];
  readonly problems: readonly Problem[];
  /** Whether the reply exceeded the limits, so that the rest was not read. */
  readonly truncated: boolean;
}

export interface ReplyLimits {
  /** Default 20 000. */
  readonly maxObjects?: number;
  /** Default 64 MiB. */
  readonly maxBytes?: number;
}

const MAX_PROBLEMS = 20;
const LF = 0x0a;

/**
 * Reads the reply after the version line, until the Broker closes (BRK-4.12). Rejects with ConnectionError on
 * silence.
 */
export async function readReply(wire: Wire, limits: ReplyLimits = {}): Promise<Reply> {
  const { maxObjects = 20_000, maxBytes = 64 << 20 } = limits;
  const items: Item[] = [];
  const problems: Problem[] = [];
  const problem = (kind: Problem['kind'], text: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, text });
  };
  let objects = 0;
  let size = 0;
  let truncated = false;
  while ((await wire.peek()) !== undefined) {
    if (objects > maxObjects || size > maxBytes) {
      truncated = true;
      await wire.close();
      break;
    }
    const line = await readLine(wire, problem);
    size += line.length;
    if (line.endsWith('\r')) problem('cr', printable(line));
    const match = /^(\d{3}) - ?(.*)$/s.exec(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (match === null || !/^\d{3} - /.test(line)) problem('form', printable(line));
    if (match === null) continue;
    const code = Number(match[1]);
    const text = match[2] ?? '';
    if (code === 200) continue;
    if (code === 130) objects++;
    if (code !== 124 && code !== 127) {
      items.push({ code, text });
      continue;
    }
    const count = countOf(code, text);
    if (count === undefined || count > maxBytes) {
      problem('count', printable(line));
      items.push({ code, text });
      continue;
    }
    const value = await readCounted(wire, count, problem);
    size += value.length;
    items.push({ code, text, value });
  }
  return { items, objects: objectsOf(items), problems, truncated };
}

/** BRK-4.4, 4.6: `124 - nbytes`, `127 - name nbytes`. */
function countOf(code: number, text: string): number | undefined {
  const digits = (code === 124 ? /^(\d{1,9})$/ : /^.+ (\d{1,9})$/s).exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

async function readLine(wire: Wire, problem: (kind: 'cut', text: string) => void): Promise<string> {
  try {
    return await wire.line();
  } catch (error) {
    // After a timeout or a reset the next read fails too.
    if (!(error instanceof ConnectionError)) throw error;
    problem('cut', error.message);
    await wire.peek();
    return '';
  }
}

async function readCounted(
  wire: Wire,
  count: number,
  problem: (kind: 'cut' | 'no-lf', text: string) => void,
): Promise<Buffer> {
  const value = await wire.take(count);
  if (value.length < count) {
    problem('cut', `the reply ends ${count - value.length} bytes before the end of ${count} counted bytes`);
    return value;
  }
  const next = await wire.read();
  if (next === undefined || next[0] !== LF) {
    problem('no-lf', next === undefined ? 'the reply ends there' : printable(next.subarray(0, 40)));
    if (next !== undefined) wire.unread(next);
  } else if (next.length > 1) wire.unread(next.subarray(1));
  return value;
}

/** BRK-4.3: groups the items of objects, each from its 120 to its 130. */
function objectsOf(items: readonly Item[]): FoundObject[] {
  const objects: FoundObject[] = [];
  let open: Item[] | undefined;
  const close = (ended: boolean) => {
    if (open !== undefined) objects.push({ url: open[0]?.text.trim() ?? '', items: open, ended });
    open = undefined;
  };
  for (const item of items) {
    if (item.code === 120) {
      close(false);
      open = [item];
    } else {
      open?.push(item);
      if (item.code === 130) close(true);
    }
  }
  close(false);
  return objects;
}

/** Returns the texts of the items with this code. */
export function textsOf({ items }: Pick<Reply, 'items'>, code: number): string[] {
  return items.filter((item) => item.code === code).map(({ text }) => text);
}

/** Formats the first lines of a reply for a report. */
export function formatReply({ items }: Reply): string {
  const lines = items.slice(0, 6).map(({ code, text }) => `${code} - ${text}`);
  const more = items.length > lines.length ? [`... ${items.length - lines.length} items more`] : [];
  return lines.length === 0 ? 'nothing' : printable([...lines, ...more].join('\n'));
}
