// A client of the interface of 1995 (`#interface 2`) written from the specification, without code of clients/ or
// protocols/, that can make one mistake.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInflateRaw } from 'node:zlib';

/** Mistakes of the client; `none` is correct. */
export type ProposedMistake =
  | 'none'
  | 'reads-version-by-line'
  | 'requires-minor-0'
  | 'accepts-any-major'
  | 'requires-header'
  | 'requires-trailer'
  | 'header-in-order'
  | 'rejects-extensions'
  | 'ignores-magic'
  | 'skips-unknown-codes'
  | 'one-group-each'
  | 'searches-end-marker'
  | 'ignores-missing-end-marker'
  | 'no-limits'
  | 'ignores-count'
  | 'ignores-errors'
  | 'shows-nothing-when-failed';

const END_MARKER = '151 - gzip end\n';
const FIELDS = ['126', '140', '141', '101', '142'];
const MAGIC = '\x32\x9f\xa1\xd2';
const MAX_STRING = 65_536;

class Failure extends Error {}

/** Requests everything over `#interface 2` and prints the received objects. */
export async function proposedClient(
  mistake: ProposedMistake,
  port: number,
  output: (piece: Uint8Array) => void | Promise<void>,
): Promise<{ status: number; diagnostics: string }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  let isBroken = false;
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {
    isBroken = true;
  });
  const closed = once(socket, 'close').catch(() => undefined);
  socket.write('#BULK #SINCE 0 #interface 2 #END #ALLB\r\n');
  await closed;
  const reader = new ReplyReader(mistake, Buffer.concat(chunks).toString('latin1'));
  let diagnostics = '';
  try {
    await reader.read();
    diagnostics = reader.diagnostics;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    diagnostics = error.message;
    isBroken = true;
  }
  if (!(isBroken && mistake === 'shows-nothing-when-failed'))
    await output(Buffer.from(reader.shown, 'latin1'));
  return { status: isBroken ? 1 : 0, diagnostics };
}

/** Reads a reply in Latin-1, so that each character is a byte. */
class ReplyReader {
  shown = '';
  diagnostics = '';
  readonly #mistake: ProposedMistake;
  #rest: string;
  #objects = 0;

  constructor(mistake: ProposedMistake, reply: string) {
    this.#mistake = mistake;
    this.#rest = reply;
  }

  async read(): Promise<void> {
    if (!/^200 - .*broker/i.test(this.#rest)) throw new Failure('no Broker');
    this.#string();
    if (!this.#rest.startsWith('200 - \0')) return this.#shipped();
    this.#version();
    await this.#body(this.#header());
    this.#trailer();
  }

  #shipped(): void {
    for (
      let line = /^\d{3} - .*\n/.exec(this.#rest);
      line !== null;
      line = /^\d{3} - .*\n/.exec(this.#rest)
    ) {
      if (line[0].startsWith('4')) throw new Failure(line[0]);
      this.#take(line[0].length);
    }
    if (this.#rest === '') throw new Failure('nothing came');
    this.#rest = this.#groups(this.#rest).trim();
    // BT-10, BT-11: what follows is a line that is skipped, or the end.
    if (this.#rest.startsWith('000 - ')) {
      this.#string();
      if (this.#rest !== '') this.#groups(this.#rest);
    } else if (this.#rest !== '' && !/^(?:099|499) - /.test(this.#rest)) throw new Failure('no group');
  }

  #version(): void {
    if (this.#mistake === 'reads-version-by-line') {
      this.#string();
      return;
    }
    this.#take('200 - '.length);
    const major = this.#number();
    const minor = this.#number();
    this.#string();
    if (major > 1 && this.#mistake !== 'accepts-any-major') throw new Failure('version');
    if (minor > 0 && this.#mistake === 'requires-minor-0') throw new Failure('version');
  }

  /** Reads the Header. Returns the code of the Body or Trailer that follows, `@` for groups. */
  #header(): string {
    let last = -1;
    for (let fields = 0; ; fields++) {
      const code = this.#rest.startsWith('@') ? '@' : this.#rest.slice(0, 3);
      const field = FIELDS.indexOf(code);
      if (field < 0) {
        if (fields === 0 && this.#mistake === 'requires-header') throw new Failure('no Header');
        if (this.#mistake !== 'skips-unknown-codes' || !code.startsWith('16')) return code;
        this.#string();
        continue;
      }
      if (this.#mistake === 'header-in-order' && field < last) throw new Failure('order');
      last = field;
      this.#take(6);
      const text = this.#string();
      if (code === '142') this.#extension(text);
    }
  }

  #extension(name: string): void {
    if (this.#mistake === 'rejects-extensions') throw new Failure(name);
    this.#take(3);
    if (this.#take(4) !== MAGIC && this.#mistake !== 'ignores-magic') throw new Failure('magic');
    this.#take(this.#number());
  }

  async #body(code: string): Promise<void> {
    if (code === '@') this.#rest = this.#groups(this.#rest);
    else if (code === '150') await this.#compressed();
  }

  async #compressed(): Promise<void> {
    this.#string();
    const bytes = Buffer.from(this.#rest, 'latin1');
    if (this.#mistake === 'searches-end-marker') {
      const found = this.#rest.indexOf(END_MARKER);
      if (found < 0) throw new Failure('no end');
      const { text } = await inflate(bytes.subarray(10, found));
      this.#rest = this.#rest.slice(found + END_MARKER.length);
      this.#groups(text);
      return;
    }
    const { text, used } = await inflate(bytes.subarray(10));
    // The gzip header, the deflate data, then CRC and size.
    this.#take(10 + used + 8);
    this.#groups(text);
    if (this.#rest.startsWith(END_MARKER)) this.#take(END_MARKER.length);
    else if (this.#mistake !== 'ignores-missing-end-marker') throw new Failure('no end marker');
  }

  #trailer(): void {
    if (this.#rest === '') {
      if (this.#mistake === 'requires-trailer' || (this.#objects === 0 && this.shown === ''))
        throw new Failure('no Trailer');
      return;
    }
    const code = this.#take(6).slice(0, 3);
    if (code === '144') {
      const count = this.#number();
      if (count !== this.#objects && this.#mistake !== 'ignores-count')
        this.diagnostics = `count ${count}, not ${this.#objects}`;
    } else if (code === '111') {
      const text = `${this.#number()}: ${this.#string()}`;
      if (this.#mistake !== 'ignores-errors') throw new Failure(text);
    } else if (this.#mistake !== 'skips-unknown-codes') throw new Failure(`unknown code ${code}`);
  }

  /** Reads groups and bare objects; returns what follows them. */
  #groups(text: string): string {
    const seen: string[] = [];
    let rest = text.trimStart();
    while (rest.startsWith('@')) {
      const group = /^@(delete|refresh|update)\s+\{/i.exec(rest);
      if (group === null) {
        rest = this.#object(rest).trimStart();
        continue;
      }
      const word = group[1]?.toLowerCase() ?? '';
      if (seen.includes(word) && this.#mistake === 'one-group-each') throw new Failure('a group again');
      seen.push(word);
      rest = rest.slice(group[0].length).trimStart();
      while (rest.startsWith('@')) rest = this.#object(rest).trimStart();
      if (!rest.startsWith('}')) throw new Failure('an unclosed group');
      rest = rest.slice(1).trimStart();
    }
    if (/^[\x1f]/.test(rest)) throw new Failure('compressed');
    return rest;
  }

  #object(text: string): string {
    const head = /^@\w+\s+\{\s*(\S+)\n/.exec(text);
    if (head === null) throw new Failure('no object');
    let shown = `${head[1]}\n`;
    let rest = text.slice(head[0].length);
    while (!rest.startsWith('}')) {
      const attribute = /^[^\s{}]+\{(\d+)\}:\t/.exec(rest);
      if (attribute === null) throw new Failure('no attribute');
      const end = attribute[0].length + Number(attribute[1]);
      if (rest.length <= end) throw new Failure('cut');
      shown += `${rest.slice(attribute[0].length, end)}\n`;
      rest = rest.slice(end + 1);
    }
    this.shown += shown;
    this.#objects++;
    return rest.slice(1);
  }

  #number(): number {
    return Buffer.from(this.#take(4), 'latin1').readUInt32BE(0);
  }

  #string(): string {
    const end = this.#rest.indexOf('\n');
    if (end < 0) throw new Failure('cut');
    if (end >= MAX_STRING && this.#mistake !== 'no-limits') throw new Failure('too long');
    return this.#take(end + 1).slice(0, -1);
  }

  #take(length: number): string {
    if (this.#rest.length < length) throw new Failure('cut');
    const taken = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return taken;
  }
}

async function inflate(bytes: Uint8Array): Promise<{ text: string; used: number }> {
  const stream = createInflateRaw();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  try {
    const ended = once(stream, 'end');
    stream.end(bytes);
    await ended;
  } catch {
    throw new Failure('damaged');
  }
  return { text: Buffer.concat(chunks).toString('latin1'), used: stream.bytesWritten };
}
