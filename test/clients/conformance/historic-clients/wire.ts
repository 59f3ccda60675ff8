// The connection of the clients in this folder.
import { connect, type Socket } from 'node:net';

/** A connection that is read by line, by number of bytes, or by chunk. */
export class Wire {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #unread: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket.iterator();
  }

  static async open(host: string, port: number): Promise<Wire> {
    const socket = connect({ host, port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    // Errors appear as the end of the chunks.
    socket.on('error', () => {});
    return new Wire(socket);
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The unread bytes, or the next chunk; undefined at the end. */
  async readChunk(): Promise<Buffer | undefined> {
    if (this.#unread.length === 0 && !(await this.#more())) return undefined;
    const chunk = this.#unread;
    this.#unread = Buffer.alloc(0);
    return chunk;
  }

  /** A line with its end, in Latin-1; undefined at the end of the connection. */
  async readLine(): Promise<string | undefined> {
    let searched = 0;
    for (;;) {
      const end = this.#unread.indexOf(0x0a, searched);
      if (end >= 0) return (await this.readBytes(end + 1)).toString('latin1');
      searched = this.#unread.length;
      if (!(await this.#more())) return undefined;
    }
  }

  /** Exactly this many bytes. Rejects if the connection ends before. */
  async readBytes(count: number): Promise<Buffer> {
    const parts = [this.#unread];
    let length = this.#unread.length;
    while (length < count) {
      this.#unread = Buffer.alloc(0);
      if (!(await this.#more())) throw new Error('the connection ended');
      parts.push(this.#unread);
      length += this.#unread.length;
    }
    const all = parts.length === 1 ? this.#unread : Buffer.concat(parts);
    this.#unread = all.subarray(count);
    return all.subarray(0, count);
  }

  async #more(): Promise<boolean> {
    try {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#unread = this.#unread.length === 0 ? next.value : Buffer.concat([this.#unread, next.value]);
      return true;
    } catch {
      return false;
    }
  }
}
