// Clients of the benchmark `fairness`, as a program: its parent sends what they do, see FairnessFlood.
import { get } from 'node:http';
import { connect } from 'node:net';
import type { FairnessKind } from './fairness-kinds.js';

/** What the clients do from now on; without a kind nothing. */
export interface FairnessFlood {
  readonly kind?: FairnessKind;
  readonly port: number;
  readonly web: number;
  readonly clients: number;
  /** Whether each client has an address of its own. */
  readonly many: boolean;
}

type Dialed = Exclude<FairnessKind, { readonly path: string }>;

const HOST = '127.0.0.1';

function dial({ text, leave }: Dialed, port: number, localAddress: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, localAddress });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('data', () => {
      if (leave === 'greeted') socket.destroy();
      if (leave === 'reset') socket.resetAndDestroy();
    });
    socket.on('connect', () => {
      if (text !== '') socket.write(text);
      if (leave === 'connected') socket.destroy();
      if (leave === 'sent') socket.end();
    });
  });
}

function request(path: string, port: number, localAddress: string): Promise<void> {
  return new Promise((resolve) => {
    const sent = get({ port, host: HOST, localAddress, path, agent: false }, (response) => {
      response.resume();
      response.on('close', () => resolve());
    });
    sent.on('error', () => resolve());
  });
}

/** Sends requests in one piece, and drops the connection. */
function requestAndGo(path: string, times: number, port: number, localAddress: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, localAddress });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('connect', () => {
      const text = `GET ${path} HTTP/1.1\r\nHost: ${HOST}:${port}\r\n\r\n`;
      socket.write(text.repeat(times), () => socket.destroy());
    });
  });
}

let generation = 0;

async function flood({ kind, port, web, clients, many }: FairnessFlood, client: number): Promise<void> {
  const mine = generation;
  const address = `127.0.0.${many ? client + 2 : 2}`;
  for (let n = client; generation === mine && kind !== undefined; n += clients) {
    const numbered = (text: string) => text.replaceAll('@', String(n));
    if ('path' in kind) {
      const path = numbered(kind.path);
      await (kind.leave === undefined
        ? request(path, web, address)
        : requestAndGo(path, kind.leave, web, address));
    } else await dial({ ...kind, text: numbered(kind.text) }, port, address);
  }
}

process.on('message', (message: FairnessFlood) => {
  generation += 1;
  if (message.kind === undefined) return;
  for (let client = 0; client < message.clients; client++) void flood(message, client);
});
