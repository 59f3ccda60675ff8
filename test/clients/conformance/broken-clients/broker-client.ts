// A client of the Broker written from the specification, without code of clients/ or protocols/, that can make one
// mistake.
import { once } from 'node:events';
import { connect } from 'node:net';

/** Mistakes of the client; `none` is correct. */
export type BrokerMistake =
  | 'none'
  | 'reads-lines'
  | 'counts-characters'
  | 'always-skips-a-byte'
  | 'treats-200-as-end'
  | 'insists-on-known-codes'
  | 'keeps-cr'
  | 'ends-at-103'
  | 'silent-about-errors'
  | 'always-succeeds'
  | 'shows-nothing-after-111'
  | 'half-closes'
  | 'lf-only'
  | 'insenstive'
  | 'sends-twice'
  | 'no-end-flag'
  | 'private-flag'
  | 'quotes-the-query'
  | 'ascii-only'
  | 'drops-unended-reply';

/** Sends a query, reads the reply to its end, and prints the objects. */
export async function brokerClient(
  mistake: BrokerMistake,
  port: number,
  query: string,
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
  const line = messageOf(mistake, query);
  socket.write(line, () => {
    if (mistake === 'half-closes') socket.end();
  });
  await closed;
  const reader = new ReplyReader(mistake);
  reader.read(Buffer.concat(chunks));
  if (!(mistake === 'drops-unended-reply' && reader.failed))
    await output(Buffer.from(reader.shown, 'latin1'));
  const failed = (reader.failed || isBroken) && mistake !== 'always-succeeds';
  return { status: failed ? 1 : 0, diagnostics: reader.diagnostics };
}

function messageOf(mistake: BrokerMistake, query: string): Buffer {
  const text = mistake === 'quotes-the-query' ? `"${query.replaceAll('"', '')}"` : query;
  const word = mistake === 'insenstive' ? 'insenstive' : 'insensitive';
  const more = mistake === 'private-flag' ? ' #verbose' : '';
  const end = mistake === 'no-end-flag' ? '' : ' #END';
  const message = `#USER #desc #attribute author #index case ${word}${more}${end} ${text}`;
  const ended = `${message}${mistake === 'lf-only' ? '\n' : '\r\n'}`;
  const sent = mistake === 'sends-twice' ? ended + ended : ended;
  return mistake === 'ascii-only' ? Buffer.from(sent.replace(/[^\n -~\r]/g, '?')) : Buffer.from(sent);
}

class ReplyReader {
  shown = '';
  diagnostics = '';
  failed = false;
  readonly #mistake: BrokerMistake;
  #open: string | undefined;
  #lines = 0;

  constructor(mistake: BrokerMistake) {
    this.#mistake = mistake;
  }

  read(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      const found = rest.indexOf('\n');
      const end = found < 0 ? rest.length : found;
      const raw = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + 1);
      const line = this.#mistake === 'keeps-cr' ? raw : raw.replace(/\r$/, '');
      const match = /^(\d{3}) - ?(.*)$/s.exec(line);
      if (match === null) {
        if (this.#mistake === 'reads-lines') this.#open &&= `${this.#open}${line}\n`;
        continue;
      }
      const code = Number(match[1]);
      const text = match[2] ?? '';
      const size = sizeOf(code, text);
      if (size !== undefined && this.#mistake !== 'reads-lines') {
        const value = this.#take(rest, size);
        this.#open &&= `${this.#open}${value.toString('latin1')}\n`;
        if (value.length < size) this.failed = true;
        rest = this.#skipLineEnd(rest.subarray(value.length));
      } else if (!this.#item(code, text)) return;
    }
    if (this.#open !== undefined || this.#lines === 0) this.failed = true;
  }

  #take(rest: Buffer, size: number): Buffer {
    if (this.#mistake !== 'counts-characters') return rest.subarray(0, size);
    const characters = rest.toString('utf8').slice(0, size);
    return rest.subarray(0, Buffer.byteLength(characters));
  }

  /** Skips the line end after counted bytes, if there is one. */
  #skipLineEnd(rest: Buffer): Buffer {
    if (this.#mistake === 'always-skips-a-byte' || rest[0] === 0x0a) return rest.subarray(1);
    return rest[0] === 0x0d && rest[1] === 0x0a ? rest.subarray(2) : rest;
  }

  /** Reads an item. Returns false at the end of the reply. */
  #item(code: number, text: string): boolean {
    this.#lines++;
    switch (code) {
      case 200:
        return !(this.#mistake === 'treats-200-as-end' && this.#lines > 1);
      case 101:
      case 103:
      case 111:
        if (this.#mistake !== 'silent-about-errors') this.diagnostics += `${text}\n`;
        if (code === 111) this.failed = true;
        if (code === 111 && this.#mistake === 'shows-nothing-after-111') this.shown = '';
        return code === 101 || (code === 103 && this.#mistake !== 'ends-at-103');
      case 120:
        this.#open = `${text}\n`;
        return true;
      case 122:
        this.#open &&= `${this.#open}${text}\n`;
        return true;
      case 125:
      case 126:
        return true;
      case 130:
        this.shown += this.#open ?? '';
        this.#open = undefined;
        return true;
      default:
        if (code === 0) this.failed = true;
        return this.#mistake !== 'insists-on-known-codes';
    }
  }
}

function sizeOf(code: number, text: string): number | undefined {
  const digits = (code === 124 ? /^(\d+)$/ : code === 127 ? /^.+ (\d+)$/ : undefined)?.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
