// A SOCKS proxy on loopback: 5 with and without login, 4 and 4a (RFC 1928, 1929). Names lead to this machine,
// whatever they are.
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

export class SocksServer implements AsyncDisposable {
  /** The targets that clients asked for, with the version: `5 example.org:80`. */
  readonly targets: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(readonly login: string | undefined) {
    this.#server = createServer((socket) => {
      this.#track(socket);
      void this.#serve(socket).catch(() => socket.destroy());
    });
  }

  /** @param login `user:password` that SOCKS 5 clients must send */
  static async start(login?: string): Promise<SocksServer> {
    const server = new SocksServer(login);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }

  async #serve(socket: Socket): Promise<void> {
    const [version] = await take(socket, 1);
    if (version === 4) return this.#serve4(socket);
    const [methods = 0] = await take(socket, 1);
    await take(socket, methods);
    socket.write(Uint8Array.of(5, this.login === undefined ? 0 : 2));
    if (this.login !== undefined) {
      const [, length = 0] = await take(socket, 2);
      const user = await take(socket, length);
      const [passwordLength = 0] = await take(socket, 1);
      const given = `${user.toString()}:${(await take(socket, passwordLength)).toString()}`;
      socket.write(Uint8Array.of(1, given === this.login ? 0 : 1));
      if (given !== this.login) return void socket.end();
    }
    const [, , , type] = await take(socket, 4);
    const length = type === 1 ? 4 : type === 4 ? 16 : ((await take(socket, 1))[0] ?? 0);
    const address = await take(socket, length);
    const host = type === 1 ? address.join('.') : address.toString();
    this.#connect(socket, 5, host, (await take(socket, 2)).readUInt16BE());
  }

  async #serve4(socket: Socket): Promise<void> {
    const head = await take(socket, 7);
    const name = async (): Promise<string> => {
      let text = '';
      for (;;) {
        const byte = await take(socket, 1);
        if (byte[0] === 0) return text;
        text += byte.toString();
      }
    };
    await name();
    const ip = [...head.subarray(3)];
    const isName = ip[0] === 0 && ip[1] === 0 && ip[2] === 0;
    this.#connect(socket, 4, isName ? await name() : ip.join('.'), head.readUInt16BE(1));
  }

  #connect(socket: Socket, version: number, host: string, port: number): void {
    this.targets.push(`${version} ${host}:${port}`);
    const target = createConnection(port, '127.0.0.1', () => {
      socket.write(
        version === 5 ? Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0) : Uint8Array.of(0, 90, 0, 0, 0, 0, 0, 0),
      );
      socket.pipe(target).pipe(socket);
    });
    this.#track(target);
    target.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => target.destroy());
  }
}

/** Reads exactly this many bytes. */
async function take(socket: Socket, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes !== null) return bytes;
    await once(socket, 'readable');
    if (socket.readableEnded || socket.destroyed) throw new Error('the client closed the connection');
  }
}
