// A proxy on loopback that changes the bytes between a peer and the conformance kit.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** A server that clients can block looks at new clients after so many turns of the event loop. */
const BLOCKING_TURNS = 3;

/** What is sent on. `close` closes the connection after it, `reset` breaks it. */
export interface Sent {
  readonly text: string;
  readonly action?: 'close' | 'reset' | undefined;
}

/** What a proxy does with the bytes of one connection. Texts are Latin-1: each character is a byte. */
export interface Link {
  /** Returns what the server receives instead. `ended`: the client has closed its side, and `text` is empty. */
  fromClient?(text: string, ended: boolean): string | Sent;
  /** Returns what the client receives instead. `ended`: the server has closed, and `text` is empty. */
  fromServer?(text: string, ended: boolean): string | Sent;
  /** Whether the end of the client's data is kept from the server. */
  readonly neverLeaves?: boolean;
  /** Sent to the client before anything else. */
  readonly greeting?: string | undefined;
  /** Whether the end of the server's data is kept from the client. */
  readonly staysOpen?: boolean;
}

/** How a server suffers from clients. Both get what a client has sent on one connection. */
export interface Weakness {
  /** Whether the server stops when this client is gone: it drops everyone from then on. */
  diesAfter?(sent: string): boolean;
  /** Whether the server stops while this client is connected. */
  diesAt?(sent: string): boolean;
  /** Whether the server serves no new client while this one is connected. */
  blockedBy?(sent: string): boolean;
}

export interface ProxyOptions {
  readonly weakness?: Weakness;
  /** From which the proxy connects: servers count wrong passwords by address. Default: 127.0.0.1. */
  readonly localAddress?: string;
}

/** A running proxy. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Whether any byte was altered, held back to the end, or added. */
  readonly changed: boolean;
  /** Resolves when the server has closed all connections. Rejects when the signal is aborted. */
  settled(signal: AbortSignal): Promise<void>;
}

/** Listens on a free port and connects each client with the server at `port`, through a link of its own. */
export async function startProxy(
  port: number,
  newLink: () => Link,
  { weakness = {}, localAddress = '127.0.0.1' }: ProxyOptions = {},
): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  const waiting: Socket[] = [];
  const blocking = new Set<Socket>();
  let changed = false;
  let isDead = false;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const serveWaiting = () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      if (blocking.size > 0) return void waiting.unshift(client);
      if (!client.destroyed) serve(client);
    }
  };
  /** Reads first what other clients have sent before this one connected. */
  const serveLater = async () => {
    for (let turn = 0; turn < BLOCKING_TURNS; turn++) await setImmediate();
    serveWaiting();
  };
  /** Watches what a client sends, for servers that suffer from it. */
  const watch = (client: Socket) => {
    let sent = '';
    client.on('data', (chunk: Buffer) => {
      sent = (sent + chunk.toString('latin1')).slice(-10_000);
      if (weakness.blockedBy?.(sent) === true) blocking.add(client);
      if (!isDead && weakness.diesAt?.(sent) === true) die();
    });
    const die = () => {
      isDead = true;
      for (const socket of sockets) socket.destroy();
    };
    const leave = () => {
      if (!isDead && weakness.diesAfter?.(sent) === true) die();
      changed ||= isDead || blocking.has(client);
      if (blocking.delete(client)) serveWaiting();
    };
    client.on('end', leave);
    client.on('close', leave);
    if (weakness.blockedBy?.('') === true) blocking.add(client);
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    track(client);
    client.on('error', () => client.destroy());
    if (isDead) return void client.destroy();
    waiting.push(client);
    if (weakness.blockedBy === undefined) serveWaiting();
    else void serveLater();
  });
  function serve(client: Socket): void {
    const upstream = connect({
      port,
      host: '127.0.0.1',
      localAddress,
      allowHalfOpen: true,
      noDelay: true,
    });
    track(upstream);
    upstreams.add(upstream);
    upstream.on('close', () => upstreams.delete(upstream));
    watch(client);
    const link = newLink();
    changed ||= link.staysOpen === true || link.neverLeaves === true || link.greeting !== undefined;
    if (link.greeting !== undefined) client.write(link.greeting, 'latin1');
    const direction = { changed: () => (changed = true) };
    pump(client, upstream, link.fromClient?.bind(link), link.neverLeaves !== true, direction.changed);
    pump(upstream, client, link.fromServer?.bind(link), link.staysOpen !== true, direction.changed);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    get changed() {
      return changed;
    },
    async settled(signal) {
      for (const upstream of upstreams) {
        if (!upstream.readableEnded) await once(upstream, 'end', { signal });
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Sends on what `from` receives, changed, and its end if `ends`. */
function pump(
  from: Socket,
  to: Socket,
  change: Link['fromClient'],
  ends: boolean,
  noteChange: () => void,
): void {
  let isOver = false;
  let read = '';
  let written = '';
  const send = (sent: string | Sent) => {
    const { text, action } = typeof sent === 'string' ? { text: sent } : sent;
    written += text;
    if (text !== '' && to.writable && !to.write(text, 'latin1')) {
      from.pause();
      to.once('drain', () => from.resume());
    }
    if (action === undefined) return;
    isOver = true;
    noteChange();
    if (action === 'reset') to.resetAndDestroy();
    else to.end();
    from.destroy();
  };
  from.on('data', (chunk: Buffer) => {
    if (isOver) return;
    if (change === undefined) return send(chunk.toString('latin1'));
    const text = chunk.toString('latin1');
    read += text;
    send(change(text, false));
    // Links may hold bytes back, so that only what differs counts.
    const common = Math.min(read.length, written.length);
    if (read.slice(0, common) !== written.slice(0, common)) noteChange();
    read = read.slice(common);
    written = written.slice(common);
  });
  from.on('end', () => {
    if (isOver) return;
    if (change !== undefined) {
      send(change('', true));
      if (read !== written) noteChange();
    }
    if (ends && to.writable) to.end();
  });
  from.on('error', () => to.resetAndDestroy());
  from.on('close', () => {
    if (!from.readableEnded && !isOver && ends) to.destroy();
  });
}
