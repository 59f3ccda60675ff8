// An FTP server whose answers a test defines, for passive mode only.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { onLines, type Scripted, scripted } from '../../clients/fetch/scripted.js';

/** Writes to the data connection and reports the outcome on the control connection. */
export type Send = (data: Socket, control: Socket) => void;

export interface FtpSite {
  /** Contents by path from the root, without a leading slash, or a function that replaces them. */
  readonly files: ReadonlyMap<string, Buffer | Send>;
  /** Deliberately wrong listings by directory (path with a trailing slash, '' for the root). */
  readonly listings?: ReadonlyMap<string, Send>;
  /** Deliberately wrong SIZE by path. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** The only valid login; without it every login is valid. */
  readonly login?: { readonly user: string; readonly password: string };
  /** Called with each command before it is answered. */
  readonly onCommand?: (line: string) => void;
}

/** Sends the bytes and ends the transfer correctly. */
export const sendWhole =
  (bytes: Uint8Array): Send =>
  (data, control) => {
    data.end(bytes, () => control.write('226 done\r\n'));
  };

/** Starts the server on loopback. All files were modified in November 1994. */
export function ftpServer(t: Test, site: FtpSite): Promise<Scripted> {
  return scripted(t, (control) => {
    const session = new Session(site, control);
    t.teardown(() => session.close());
    control.on('close', () => session.close());
    // Otherwise small answers wait for the acknowledgement of the previous one.
    control.setNoDelay(true);
    control.write('220 scripted\r\n');
    onLines(control, (line) => {
      site.onCommand?.(line);
      session.handle(line);
    });
  });
}

/** A control connection with its data connections. */
class Session {
  #user = '';
  #directory = '';
  #send: Send | undefined;
  #data: Socket | undefined;
  readonly #passive = createServer((socket) => {
    socket.on('error', () => {});
    this.#data = socket;
    this.#sendIfReady();
  });

  constructor(
    readonly site: FtpSite,
    readonly control: Socket,
  ) {}

  close(): void {
    this.#data?.destroy();
    this.#passive.close();
  }

  handle(line: string): void {
    const answer = this.#answer(line);
    if (answer !== undefined) this.#reply(answer);
  }

  /** The immediate reply; undefined if it follows later. */
  #answer(line: string): string | undefined {
    const [command = '', ...words] = line.split(' ');
    const argument = words.join(' ');
    const path = this.#resolve(argument);
    const { files, login, sizes, listings } = this.site;
    const file = files.get(path);
    switch (command) {
      case 'USER':
        this.#user = argument;
        return '331 password?';
      case 'PASS': {
        const isValid = login === undefined || (login.user === this.#user && login.password === argument);
        return isValid ? '230 in' : '530 not you';
      }
      case 'PWD':
        return '257 "/" is it';
      case 'TYPE':
      case 'STRU':
      case 'OPTS':
        return '200 ok';
      case 'EPSV':
        this.#listen();
        return undefined;
      case 'CWD': {
        const directory = path === '' || path.endsWith('/') ? path : `${path}/`;
        if (!this.#isDirectory(directory)) return '550 no such directory';
        this.#directory = directory;
        return '250 ok';
      }
      case 'LIST':
        this.#transfer(listings?.get(this.#directory) ?? sendWhole(this.#renderListing()));
        return undefined;
      case 'MDTM':
        return file === undefined ? '550 no' : '213 19941106084937';
      case 'SIZE': {
        const size = sizes?.[path] ?? (Buffer.isBuffer(file) ? file.length : undefined);
        return size === undefined ? '550 no' : `213 ${size}`;
      }
      case 'RETR':
        if (file === undefined) return '550 no such file';
        this.#transfer(Buffer.isBuffer(file) ? sendWhole(file) : file);
        return undefined;
      default:
        return '502 what?';
    }
  }

  #listen(): void {
    this.#data = undefined;
    const replyPort = () => this.#reply(`229 ok (|||${(this.#passive.address() as AddressInfo).port}|)`);
    if (this.#passive.listening) replyPort();
    else this.#passive.listen(0, '127.0.0.1', replyPort);
  }

  #reply(line: string): void {
    this.control.write(`${line}\r\n`);
  }

  #resolve(argument: string): string {
    return argument.startsWith('/') ? argument.slice(1) : this.#directory + argument;
  }

  #isDirectory(directory: string): boolean {
    if (directory === '' || this.site.listings?.has(directory) === true) return true;
    return [...this.site.files.keys()].some((path) => path.startsWith(directory));
  }

  #renderListing(): Buffer {
    const names = new Map<string, string>();
    const directory = this.#directory;
    const paths = [...this.site.files.keys(), ...(this.site.listings?.keys() ?? [])];
    for (const path of paths.filter((each) => each.startsWith(directory) && each !== directory)) {
      const [name = '', ...rest] = path.slice(directory.length).split('/');
      names.set(name, rest.length > 0 ? 'drwxr-xr-x' : '-rw-r--r--');
    }
    const lines = [...names].map(
      ([name, mode]) => `${mode}    1 0        0               5 Nov 06  1994 ${name}\r\n`,
    );
    return Buffer.from(lines.join(''));
  }

  #transfer(send: Send): void {
    this.#reply('150 coming');
    this.#send = send;
    this.#sendIfReady();
  }

  /** The transfer needs both the command and the data connection, which arrive in any order. */
  #sendIfReady(): void {
    if (this.#send === undefined || this.#data === undefined) return;
    const [send, data] = [this.#send, this.#data];
    this.#send = undefined;
    send(data, this.control);
  }
}
