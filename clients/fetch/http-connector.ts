// Connects to web servers, directly or through a proxy, for undici and for the lenient reader alike.
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { ConnectionError } from '../../protocols/errors.js';
import { type HttpResponseLimits, HttpResponseReader } from '../../protocols/http/index.js';
import { withoutBrackets } from '../../protocols/urls/index.js';
import { asError } from '../connection/index.js';
import { resolveHost } from './private-addresses.js';

export interface HttpConnectorOptions {
  /** Milliseconds; default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Additional trusted certificates (PEM) for https. */
  readonly ca?: string | undefined;
  /** `host:port` (G-84); https uses CONNECT. */
  readonly httpProxy?: string | undefined;
}

/** Bytes of a proxy's answer to CONNECT. */
const CONNECT_LIMITS: HttpResponseLimits = { maxHeadBytes: 64 * 1024, maxFields: 1000 };

/** Connects to web servers; the names of certificates are always checked. */
export class HttpConnector {
  readonly #options: HttpConnectorOptions;
  readonly #onAddress: (origin: string, address: string) => void;

  /** @param onAddress called with the address of each direct connection */
  constructor(options: HttpConnectorOptions, onAddress: (origin: string, address: string) => void) {
    this.#options = options;
    this.#onAddress = onAddress;
  }

  /** The options of undici's connectors. */
  get connectOptions() {
    const { connectTimeoutMs, ca } = this.#options;
    return { timeout: connectTimeoutMs ?? 30_000, ...(ca === undefined ? {} : { ca }) };
  }

  /** Returns a function that connects directly. @param publicOnly see `FetchRequest.publicOnly` */
  direct(publicOnly: boolean): buildConnector.connector {
    const connect = buildConnector(this.connectOptions);
    return (options, callback) => {
      const connectTo = (hostname: string) =>
        connect({ ...options, hostname }, (...result) => {
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
   * Opens a connection for a single request.
   * @throws RefusedError if `publicOnly` forbids the address; the errors of the connection and of a proxy
   */
  async open(origin: string, publicOnly: boolean, signal: AbortSignal): Promise<Socket> {
    const { httpProxy } = this.#options;
    const { protocol, host, hostname, port } = new URL(origin);
    if (httpProxy === undefined)
      return await connected(
        this.direct(publicOnly),
        { protocol, host, hostname: withoutBrackets(hostname), port },
        signal,
      );
    // The proxy resolves the name itself; an address that is private here is refused nevertheless.
    if (publicOnly) await resolveHost(withoutBrackets(hostname), true, signal);
    const connect = buildConnector(this.connectOptions);
    const proxy = new URL(`http://${httpProxy}`);
    const socket = await connected(
      connect,
      { protocol: 'http:', host: proxy.host, hostname: withoutBrackets(proxy.hostname), port: proxy.port },
      signal,
    );
    if (protocol === 'http:') return socket;
    await openTunnel(socket, port === '' ? `${host}:443` : host, this.connectOptions.timeout, signal);
    return await connected(
      connect,
      { protocol, host, hostname: withoutBrackets(hostname), port, httpSocket: socket },
      signal,
    );
  }
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

/** Requests a tunnel from a proxy (RFC 9110 9.3.6). @throws ConnectionError if it refuses, or does not answer in time */
function openTunnel(socket: Socket, target: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
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
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  });
}
