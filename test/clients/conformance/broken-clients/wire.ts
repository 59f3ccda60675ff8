import { connect, type Socket } from 'node:net';

/** The server closed before the expected data. */
export class CutOff extends Error {}

/** A connection that is read by lines, by numbers of bytes, or by chunks. */
export class Wire {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

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
  async chunk(): Promise<Buffer | undefined> {
    if (this.#held.length === 0 && !(await this.#more())) return undefined;
    const chunk = this.#held;
    this.#held = Buffer.alloc(0);
    return chunk;
  }

  /** Puts bytes back to be read again. */
  unread(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held]);
  }

  /** A line with its end, a character a byte; undefined at the end of the connection. */
  async line(): Promise<string | undefined> {
    let from = 0;
    for (;;) {
      const at = this.#held.indexOf(0x0a, from);
      if (at >= 0) return (await this.bytes(at + 1)).toString('latin1');
      from = this.#held.length;
      if (!(await this.#more())) return undefined;
    }
  }

  /** Exactly this many bytes. Rejects with {@link CutOff}. */
  async bytes(count: number): Promise<Buffer> {
    const parts = [this.#held];
    let length = this.#held.length;
    while (length < count) {
      this.#held = Buffer.alloc(0);
      if (!(await this.#more())) throw new CutOff('the connection ended');
      parts.push(this.#held);
      length += this.#held.length;
    }
    const all = parts.length === 1 ? this.#held : Buffer.concat(parts);
    this.#held = all.subarray(count);
    return all.subarray(0, count);
  }

  /** The next byte, which stays unread; undefined at the end. */
  async peek(): Promise<number | undefined> {
    if (this.#held.length === 0 && !(await this.#more())) return undefined;
    return this.#held[0];
  }

  /** The bytes up to and including a byte. */
  async until(stop: string): Promise<string> {
    let text = '';
    for (;;) {
      const char = (await this.bytes(1)).toString('latin1');
      if (char === stop) return text;
      text += char;
    }
  }

  async #more(): Promise<boolean> {
    try {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
      return true;
    } catch {
      return false;
    }
  }
}
