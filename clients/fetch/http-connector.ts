// Connects to web servers, directly or through a proxy.
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { ConnectionError } from '../../protocols/errors.js';
import { type HttpResponseLimits, HttpResponseReader } from '../../protocols/http/index.js';
import { withoutBrackets } from '../../protocols/urls/index.js';
import { asError } from '../connection/index.js';
import { basicCredentials } from './headers.js';
import { resolveHost } from './private-addresses.js';
import { openSocks, type ProxyServer } from './proxy.js';
import { DEFAULT_CONNECT_MS, type TransferOptions } from './transfer.js';

export interface HttpConnectorOptions extends TransferOptions {
  /** Additional trusted certificates (PEM) for https. */
  readonly ca?: string | undefined;
}

/** Bytes of a proxy's answer to CONNECT. */
const CONNECT_LIMITS: HttpResponseLimits = { maxHeadBytes: 64 * 1024, maxFields: 1000 };

/** Connects to web servers; the names of certificates are always checked. */
export class HttpConnector {
  readonly #timeoutMs: number;
  readonly #proxy: ProxyServer | undefined;
  readonly #onAddress: (origin: string, address: string) => void;
  /** One for all connections: it keeps the sessions of TLS. */
  readonly #connect: buildConnector.connector;

  /** @param onAddress called with the address of each direct connection */
  constructor(
    options: HttpConnectorOptions,
    proxy: ProxyServer | undefined,
    onAddress: (origin: string, address: string) => void,
  ) {
    this.#proxy = proxy;
    this.#onAddress = onAddress;
    this.#timeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_MS;
    this.#connect = buildConnector({ timeout: this.#timeoutMs, ca: options.ca });
  }

  /** Returns a function that connects directly. @param publicOnly see `FetchRequest.publicOnly` */
  #direct(publicOnly: boolean): buildConnector.connector {
    return (options, callback) => {
      const connectTo = (hostname: string) =>
        this.#connect({ ...options, hostname }, (...result) => {
          const [, socket] = result;
          const address = socket?.remoteAddress;
          if (address !== undefined) this.#onAddress(`${options.protocol}//${options.host}`, address);
          callback(...result);
        });
      if (!publicOnly) return connectTo(options.hostname);
      // The certificate is still checked against the name: undici takes it from `host`.
      resolveHost(withoutBrackets(options.hostname), true, undefined).then(connectTo, (error: Error) =>
        callback(error, null),
      );
    };
  }

  /**
   * Returns a function that connects through a SOCKS proxy. @param publicOnly refuses names that are private
   * here
   */
  #bySocks(proxy: ProxyServer, publicOnly: boolean): buildConnector.connector {
    const open = async ({ protocol, hostname, port }: buildConnector.Options): Promise<Socket> => {
      const host = withoutBrackets(hostname);
      if (publicOnly) await resolveHost(host, true, undefined);
      const target = { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
      return await openSocks(proxy, target, this.#timeoutMs);
    };
    return (options, callback) => {
      open(options).then(
        (httpSocket) => {
          if (options.protocol === 'https:') this.#connect({ ...options, httpSocket }, callback);
          else callback(null, httpSocket);
        },
        (error: unknown) => callback(asError(error), null),
      );
    };
  }

  /**
   * Opens a connection.
   * @throws RefusedError if `publicOnly` forbids the address; the errors of the connection and of a proxy
   */
  async open(origin: string, publicOnly: boolean, signal: AbortSignal): Promise<Socket> {
    const proxy = this.#proxy;
    const { protocol, host, hostname, port } = new URL(origin);
    const target = { protocol, host, hostname: withoutBrackets(hostname), port };
    if (proxy === undefined) return await connected(this.#direct(publicOnly), target, signal);
    if (proxy.kind !== 'http') return await connected(this.#bySocks(proxy, publicOnly), target, signal);
    // The proxy resolves the name itself; an address that is private here is refused nevertheless.
    if (publicOnly) await resolveHost(withoutBrackets(hostname), true, signal);
    const socket = await connected(
      this.#connect,
      { protocol: 'http:', host: proxy.host, hostname: proxy.host, port: String(proxy.port) },
      signal,
    );
    if (protocol !== 'https:') return socket;
    const headers = proxyHeaders(proxy);
    const tunnel = { target: port === '' ? `${host}:443` : host, headers };
    await openTunnel(socket, tunnel, this.#timeoutMs, signal);
    return await connected(this.#connect, { ...target, httpSocket: socket }, signal);
  }
}

/** Returns the headers by which an HTTP proxy knows its user (RFC 9110 11.7.2). */
export function proxyHeaders({ login }: ProxyServer): Readonly<Record<string, string>> {
  if (login === undefined) return {};
  return { 'proxy-authorization': basicCredentials(login.user, login.password) };
}

/** Connects; an abort ends the wait, and the connection that it was for. */
function connected(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(asError(signal.reason));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    connect(options, (error, socket) => {
      signal.removeEventListener('abort', onAbort);
      if (error !== null) reject(error);
      else if (signal.aborted) socket.destroy();
      else resolve(socket);
    });
  });
}

/**
 * Requests a tunnel from a proxy (RFC 9110 9.3.6). @throws ConnectionError if it refuses, or does not answer in
 * time
 */
function openTunnel(
  socket: Socket,
  { target, headers }: { readonly target: string; readonly headers: Readonly<Record<string, string>> },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = new HttpResponseReader(CONNECT_LIMITS);
    const finish = (error?: Error) => {
      socket.off('data', onData).off('error', finish).off('close', onClose);
      socket.setTimeout(0).off('timeout', onTimeout);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        socket.pause();
        resolve();
        return;
      }
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onClose = () => finish(new ConnectionError('the proxy broke the connection'));
    const onTimeout = () => finish(new ConnectionError('the proxy did not answer in time'));
    const onAbort = () => finish(asError(signal.reason));
    const onData = (chunk: Uint8Array) => {
      try {
        for (const event of reader.push(chunk)) {
          if (event.kind !== 'head' || event.isInterim) continue;
          const isOpen = event.status >= 200 && event.status < 300;
          finish(isOpen ? undefined : new ConnectionError(`the proxy refuses: status ${event.status}`));
          return;
        }
      } catch (error) {
        finish(asError(error));
      }
    };
    socket.on('data', onData).on('error', finish).on('close', onClose);
    socket.setTimeout(timeoutMs).on('timeout', onTimeout);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${lines.join('')}\r\n`);
  });
}
