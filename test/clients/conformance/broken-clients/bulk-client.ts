// A collector of bulk transfers written from the specification, without code of clients/ or protocols/, that can make
// one mistake. It does not know the interface of 1995.
import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** Mistakes of the collector; `none` is correct. */
export type BulkMistake =
  | 'none'
  | 'reads-lines'
  | 'counts-characters'
  | 'requires-three-groups'
  | 'requires-order'
  | 'requires-upper-case'
  | 'requires-line-start'
  | 'requires-layout'
  | 'requires-groups'
  | 'requires-success'
  | 'knows-only-file'
  | 'stops-at-status'
  | 'ignores-end-lines'
  | 'no-gzip'
  | 'silent-about-errors'
  | 'always-succeeds'
  | 'drops-cut-transfer'
  | 'half-closes'
  | 'lf-only'
  | 'sends-user-message'
  | 'sends-word-as-since'
  | 'sends-twice';

const SPACE = /^[\s]+/;
const GREETING = /^200 - .*broker/i;

/** Requests everything and prints it object by object. */
export async function bulkClient(
  mistake: BulkMistake,
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
  socket.write(messageOf(mistake), () => {
    if (mistake === 'half-closes') socket.end();
  });
  await closed;
  const reader = new TransferReader(mistake, Buffer.concat(chunks).toString('latin1'));
  reader.read();
  const failed = reader.failed || isBroken;
  if (!(mistake === 'drops-cut-transfer' && failed)) await output(Buffer.from(reader.shown, 'latin1'));
  return {
    status: failed && mistake !== 'always-succeeds' ? 1 : 0,
    diagnostics: mistake === 'silent-about-errors' ? '' : reader.diagnostics,
  };
}

function messageOf(mistake: BulkMistake): string {
  const kind = mistake === 'sends-user-message' ? '#USER' : '#BULK';
  const since = mistake === 'sends-word-as-since' ? 'ever' : '0';
  const message = `${kind} #SINCE ${since} #END #ALLB${mistake === 'lf-only' ? '\n' : '\r\n'}`;
  return mistake === 'sends-twice' ? message + message : message;
}

/** Reads a reply in Latin-1, so that each character is a byte. */
class TransferReader {
  shown = '';
  diagnostics = '';
  failed = false;
  readonly #mistake: BulkMistake;
  #rest: string;
  #inGroup = false;
  #lineStart = true;
  readonly #groups: string[] = [];
  #success = false;
  #objects = 0;

  constructor(mistake: BulkMistake, reply: string) {
    this.#mistake = mistake;
    this.#rest = reply;
  }

  read(): void {
    const greeting = this.#rest.indexOf('\n') + 1;
    if (!GREETING.test(this.#rest)) this.failed = true;
    this.#rest = this.#rest.slice(greeting);
    while (!this.failed && this.#next());
    const seen = this.#groups.join();
    if (this.#inGroup || (seen === '' && this.#objects === 0)) this.failed = true;
    if (this.#mistake === 'requires-three-groups' && new Set(this.#groups).size < 3) this.failed = true;
    if (this.#mistake === 'requires-order' && !'delete,refresh,update'.includes(seen)) this.failed = true;
    if (this.#mistake === 'requires-success' && !this.#success) this.failed = true;
  }

  /** Reads the next item. Returns false at the end of the reply. */
  #next(): boolean {
    this.#skipSpace();
    if (this.#rest === '') return false;
    if (this.#rest.startsWith('\x1f\x8b')) return this.#inflate();
    if (/^\d{3} - /.test(this.#rest)) return this.#status();
    if (this.#inGroup && this.#rest.startsWith('}')) {
      this.#inGroup = false;
      this.#advance(1);
      return true;
    }
    const group = /^@(delete|refresh|update)\s+\{/i.exec(this.#rest);
    if (!this.#inGroup && group !== null) return this.#open(group[0], group[1] ?? '');
    return this.#object();
  }

  #skipSpace(): void {
    const space = SPACE.exec(this.#rest)?.[0] ?? '';
    if (this.#mistake === 'requires-layout' && /[ \t]|\n\n\n/.test(space)) this.failed = true;
    if (space !== '') this.#lineStart = space.includes('\n');
    this.#rest = this.#rest.slice(space.length);
  }

  #advance(length: number): void {
    this.#rest = this.#rest.slice(length);
    this.#lineStart = false;
  }

  #inflate(): boolean {
    if (this.#mistake === 'no-gzip') this.failed = true;
    else this.#rest = gunzipSync(Buffer.from(this.#rest, 'latin1')).toString('latin1');
    return !this.failed;
  }

  #status(): boolean {
    const line = /^(\d{3}) - (.*)\n?/.exec(this.#rest);
    const code = line?.[1] ?? '';
    this.#advance(line?.[0].length ?? 0);
    this.#lineStart = true;
    if (code === '000') this.#success = true;
    if (code === '400') {
      this.diagnostics += `${line?.[2]}\n`;
      this.failed = true;
    }
    if (this.#mistake === 'stops-at-status' && this.#groups.length > 0) return false;
    return !((code === '099' || code === '499') && this.#mistake !== 'ignores-end-lines');
  }

  #open(header: string, word: string): boolean {
    if (this.#mistake === 'requires-upper-case' && word !== word.toUpperCase()) return this.#fail();
    if (this.#mistake === 'requires-line-start' && !this.#lineStart) return this.#fail();
    if (this.#mistake === 'requires-layout' && !/^@\w+ \{$/.test(header)) return this.#fail();
    this.#groups.push(word.toLowerCase());
    this.#inGroup = true;
    this.#advance(header.length);
    return true;
  }

  #object(): boolean {
    if (this.#mistake === 'requires-groups' && !this.#inGroup) return this.#fail();
    const head = /^@(\w+)\s+\{\s*(\S+)\n/.exec(this.#rest);
    if (head === null) return this.#fail();
    if (this.#mistake === 'knows-only-file' && head[1] !== 'FILE') return this.#fail();
    let text = `${head[2]}\n`;
    let rest = this.#rest.slice(head[0].length);
    for (;;) {
      if (this.#mistake === 'reads-lines') {
        const end = /^\}\n/m.exec(rest);
        if (end === null) return this.#fail();
        text += rest.slice(0, end.index);
        rest = rest.slice(end.index);
      }
      if (rest.startsWith('}')) break;
      const attribute = /^([^\s{}]+)\{(\d+)\}:\t/.exec(rest);
      if (attribute === null) return this.#fail();
      const size = this.#sizeOf(rest.slice(attribute[0].length), Number(attribute[2]));
      const value = rest.slice(attribute[0].length, attribute[0].length + size);
      rest = rest.slice(attribute[0].length + size);
      if (!rest.startsWith('\n')) return this.#fail();
      rest = rest.slice(1);
      text += `${value}\n`;
    }
    this.#rest = rest.slice(1);
    this.#lineStart = false;
    this.#objects++;
    this.shown += text;
    return true;
  }

  #sizeOf(text: string, size: number): number {
    if (this.#mistake !== 'counts-characters') return size;
    const characters = Buffer.from(text.slice(0, 4 * size), 'latin1')
      .toString('utf8')
      .slice(0, size);
    return Buffer.byteLength(characters);
  }

  #fail(): false {
    this.failed = true;
    return false;
  }
}
