// Certificates of servers: read from files, used by all sockets of a program, renewed without a restart.
import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import {
  createSecureContext,
  createServer,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
} from 'node:tls';
import { ConfigError, messageOf } from '../../protocols/errors.js';
import { type Listen, listening, SERVER_OPTIONS } from './listener.js';
import type { Logger } from './logger.js';

/** The files of a certificate. */
export interface CertificateFiles {
  /** PEM: the certificate, then those of its authorities up to the root. */
  readonly certificate: string;
  /** PEM: its private key, without a password. */
  readonly key: string;
}

/** Milliseconds in which a client must finish the handshake. */
const HANDSHAKE_MS = 10_000;
/** Milliseconds between two looks at the files. */
const LOOK_MS = 60_000;

/**
 * A server's certificate. Programs that renew certificates replace its files: {@link reload}, at a signal or
 * every minute, gives the new one to the sockets that are open; connections keep theirs.
 */
export class Certificate implements Disposable {
  readonly #files: CertificateFiles;
  readonly #servers = new Set<Server>();
  #context: SecureContextOptions;
  #digest: string;
  #timer: NodeJS.Timeout | undefined;
  #log: Pick<Logger, 'info' | 'error'> | undefined;
  #failure = '';

  private constructor(files: CertificateFiles, read: ReadCertificate) {
    this.#files = files;
    this.#context = read.context;
    this.#digest = read.digest;
  }

  /** @throws ConfigError if a file cannot be read, or they do not belong together */
  static async open(files: CertificateFiles): Promise<Certificate> {
    return new Certificate(files, await readCertificate(files));
  }

  /** Certificate and key, for a server of the caller, which then is one of {@link uses}. */
  get options(): SecureContextOptions {
    return this.#context;
  }

  /** SHA-256 of the certificate, as OpenSSL writes it. */
  get fingerprint(): string {
    return new X509Certificate(String(this.#context.cert)).fingerprint256;
  }

  /** A server that gets a renewed certificate. Its handshakes are bounded, see {@link guardHandshakes}. */
  uses(server: Server): void {
    guardHandshakes(server);
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
  }

  /**
   * Listens with TLS, see {@link Listen}. Clients that do not finish the handshake in ten seconds are dropped.
   */
  readonly listen: Listen = async ({ onConnection, ...address }) => {
    const server = createServer({ ...SERVER_OPTIONS, ...this.#context, handshakeTimeout: HANDSHAKE_MS });
    server.on('secureConnection', onConnection);
    // The client does not speak TLS, or does not trust the certificate. No protocol has an answer for it.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    this.uses(server);
    return await listening(server, address);
  };

  /**
   * Reads the files again.
   *
   * @returns whether there is another certificate
   * @throws ConfigError as {@link open}; the former certificate stays in use
   */
  async reload(): Promise<boolean> {
    const { context, digest } = await readCertificate(this.#files);
    if (digest === this.#digest) return false;
    this.#context = context;
    this.#digest = digest;
    for (const server of this.#servers) server.setSecureContext(context);
    return true;
  }

  /** Reads the files again and logs what came of it; the same failure once. */
  reloadLogged(): void {
    this.reload().then(
      (isNew) => {
        this.#failure = '';
        if (isNew) this.#log?.info('the certificate is renewed');
      },
      (error: unknown) => {
        if (messageOf(error) === this.#failure) return;
        this.#failure = messageOf(error);
        this.#log?.error(`the former certificate stays in use: ${this.#failure}`);
      },
    );
  }

  /** Looks at the files every minute until disposed, without keeping the process alive. */
  watch(log: Pick<Logger, 'info' | 'error'>, everyMs = LOOK_MS): this {
    this.#log = log;
    this.#timer = setInterval(() => this.reloadLogged(), everyMs);
    this.#timer.unref();
    return this;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * Opens the certificate of a program and watches its files.
 *
 * @returns undefined without files
 * @throws ConfigError as {@link Certificate.open}
 */
export async function openCertificate(
  files: CertificateFiles | undefined,
  log: Pick<Logger, 'info' | 'error'>,
): Promise<Certificate | undefined> {
  return files === undefined ? undefined : (await Certificate.open(files)).watch(log);
}

interface ReadCertificate {
  readonly context: SecureContextOptions;
  readonly digest: string;
}

async function readCertificate({ certificate, key }: CertificateFiles): Promise<ReadCertificate> {
  const [cert, secret] = await Promise.all([readPem(certificate), readPem(key)]);
  const context: SecureContextOptions = { cert, key: secret, minVersion: 'TLSv1.2' };
  try {
    createSecureContext(context);
  } catch (error) {
    throw new ConfigError(
      certificate,
      0,
      '',
      `is not a certificate with the key of ${key}: ${messageOf(error)}`,
    );
  }
  return { context, digest: createHash('sha256').update(cert).update(secret).digest('hex') };
}

async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new ConfigError(file, 0, '', `cannot be read: ${messageOf(error)}`);
  }
}

/** Default of `maxHandshakes`: as many clients may begin at the same moment, e.g. after a restart. */
const MAX_HANDSHAKES = 1024;

/**
 * Bounds the handshakes of a server, and drops those that are unfinished when it closes: `close` resolves when
 * the last connection is gone, so that a client which is silent after its connect would hold a stop until its
 * handshake times out.
 *
 * @param maxHandshakes at once; when there are more, the oldest one is dropped. Default 1024
 */
export function guardHandshakes(server: Server, maxHandshakes = MAX_HANDSHAKES): void {
  /** By the client's address and port, which the socket above the accepted one shares. The oldest first. */
  const unfinished = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    unfinished.set(client, socket);
    socket.once('close', () => {
      if (unfinished.get(client) === socket) unfinished.delete(client);
    });
    if (unfinished.size > maxHandshakes) drop(unfinished.values().next().value);
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    unfinished.delete(clientOf(socket));
  });
  const close = server.close.bind(server);
  server.close = (...args) => {
    for (const socket of unfinished.values()) drop(socket);
    return close(...args);
  };
}

function clientOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function drop(socket: Socket | undefined): void {
  socket?.on('error', () => undefined);
  socket?.destroy();
}
