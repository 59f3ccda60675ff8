import { connect, type Socket } from 'node:net';
import { ConnectionError, PeerError } from '../../protocols/errors.js';

/** A message and the relay that takes it. */
export interface Mail {
  readonly host: string;
  readonly port: number;
  /** Our name in EHLO and in the sender's address. */
  readonly clientName: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Lines end with LF; made CR LF on the way. */
  readonly body: string;
  readonly date: Date;
  /** Milliseconds for connecting and for every reply. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Most bytes of one reply. */
const MAX_REPLY = 64 * 1024;

/**
 * Delivers one message by plain SMTP.
 *
 * @throws ConnectionError when the relay cannot be reached, breaks off or is late; PeerError when it refuses
 */
export async function sendMail(mail: Mail): Promise<void> {
  for (const address of [mail.from, mail.to]) {
    // A line break in an address would be a command of its own.
    if (!/^[^\s<>\0-\x1f\x7f]+$/.test(address)) throw new PeerError('not a mail address', 501);
  }
  const socket = connect({ host: mail.host, port: mail.port });
  const dialogue = new Dialogue(socket, mail.timeoutMs, mail.signal);
  try {
    await dialogue.expect(220, 'greeting');
    await dialogue.say(`HELO ${mail.clientName}`, 250);
    await dialogue.say(`MAIL FROM:<${mail.from}>`, 250);
    await dialogue.say(`RCPT TO:<${mail.to}>`, 250, 251);
    await dialogue.say('DATA', 354);
    await dialogue.say(`${messageText(mail)}\r\n.`, 250);
    // The message is accepted: what comes of the farewell does not matter.
    socket.end('QUIT\r\n');
  } finally {
    dialogue.close();
  }
}

/** Headers and body, dots at the beginning of lines doubled. */
function messageText(mail: Mail): string {
  const header = [
    `Date: ${mail.date.toUTCString().replace('GMT', '+0000')}`,
    `From: <${mail.from}>`,
    `To: <${mail.to}>`,
    `Subject: ${mail.subject.replace(/[^\x20-\x7e]+/g, ' ')}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ];
  const lines = [...header, '', ...mail.body.replace(/\n$/, '').split(/\r?\n/)];
  return lines.map((line) => (line.startsWith('.') ? `.${line}` : line)).join('\r\n');
}

/** Commands and replies of one connection. */
class Dialogue {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  #received = '';
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  readonly #abort: () => void;

  constructor(
    socket: Socket,
    timeoutMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#abort = () => this.#fail(new ConnectionError('mail: stopped meanwhile'));
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      if (this.#received.length > MAX_REPLY) this.#fail(new ConnectionError('mail: an endless reply'));
      this.#wake?.();
    });
    socket.on('error', (error) =>
      this.#fail(new ConnectionError(`mail: ${error.message}`, { cause: error })),
    );
    socket.on('close', () => this.#fail(new ConnectionError('mail: the relay closed the connection')));
    if (signal?.aborted === true) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  async say(command: string, ...wanted: number[]): Promise<void> {
    this.#socket.write(`${command}\r\n`, 'utf8');
    // What is sent as data is no command, and may be long.
    const what = command.includes('\r\n') ? 'message' : (command.split(' ', 1)[0] ?? '');
    await this.expect(wanted, what);
  }

  /** Reads one reply, which may have several lines. */
  async expect(wanted: number | readonly number[], what: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      timer = setTimeout(
        () => this.#fail(new ConnectionError(`mail: no reply in ${this.#timeoutMs} ms (${what})`)),
        this.#timeoutMs,
      );
      for (;;) {
        const reply = /^(?:\d{3}-[^\n]*\n)*(\d{3})(?: ([^\n]*))?\r?\n/.exec(this.#received);
        if (reply !== null) {
          this.#received = this.#received.slice(reply[0].length);
          const status = Number(reply[1]);
          if ([wanted].flat().includes(status)) return;
          throw new PeerError(
            `mail: the relay answered ${status} ${(reply[2] ?? '').trim()} (${what})`,
            status,
          );
        }
        if (this.#failure !== undefined) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.signal?.removeEventListener('abort', this.#abort);
    // Lets what was said last go out, but waits for nothing.
    this.#failure ??= new ConnectionError('mail: closed');
    this.#socket.unref();
    this.#socket.destroySoon();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake?.();
  }
}
