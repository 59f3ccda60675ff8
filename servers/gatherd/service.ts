// Serves a Gatherer's database to any kind of connection.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { hostname as systemHostname } from 'node:os';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { UsageError } from '../../protocols/errors.js';
import {
  GATHERD_VERSION,
  type GatherdServerOptions as GatherdSessionOptions,
} from '../../protocols/gatherd/index.js';
import { Generations } from '../../storage/generations/generations.js';
import type { HostConnection } from '../host/connection.js';
import type { Debug } from '../host/debug-flags.js';
import type { Logger } from '../host/logger.js';
import { traceConnection } from '../host/traced-connection.js';
import { admitPeer } from './access.js';
import { ChunkCache } from './chunk-cache.js';
import { CurrentSnapshot, type SnapshotSource } from './current-snapshot.js';
import type { GathererIdentity } from './info.js';
import {
  type GatherdCounts,
  type GatherdTransfer,
  type SessionContext,
  serveGatherd,
  zeroCounts,
} from './session.js';

/** Options of gatherd that do not depend on the kind of connection. */
export interface GatherdServiceOptions extends Omit<GatherdSessionOptions, 'hostname'> {
  /** Our full host name for the greeting (GATHERD-3.5). Default: the system's. */
  readonly hostname?: string | undefined;
  /**
   * Directory in which the Gatherer publishes (DESIGN 4). Before the first generation the database is empty. Either this
   * or `source`.
   */
  readonly generationsDirectory?: string | undefined;
  readonly log: Logger;
  /** The Gatherer in INFO. Default: that of the newest object, and our port. */
  readonly identity?: GathererIdentity;
  /** A gatherd.cf (GATHERD-9). Default: every host may connect. */
  readonly accessFile?: string;
  /** Milliseconds without a complete command. Default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number | undefined;
  /** Replaces the generations directory, e.g. a {@link MemoryDatabase}. */
  readonly source?: SnapshotSource | undefined;
  /**
   * Debugging messages of section 69 (GATHERD-12.5): level 1 each transfer, level 5 also each session, level 9
   * also the beginning of each chunk received and sent.
   */
  readonly debug?: Debug;
  /** The clock of the limits in milliseconds. Default: that of this process. */
  readonly clock?: Clock | undefined;
}

/** Section 69 is SOIF processing; no section is assigned to gatherd (GATHERD-12.5). */
const SECTION = 69;
const TRANSFERS = 'harvest:gatherd:transfer';

/** @throws UsageError if the options name no database */
function sourceOf({ source, generationsDirectory }: GatherdServiceOptions): SnapshotSource {
  if (source !== undefined) return source;
  if (generationsDirectory === undefined)
    throw new UsageError('gatherd needs a database: `generationsDirectory` or `source`');
  return new Generations(generationsDirectory);
}

/** Serves a Gatherer's database to any number of connections. */
export class GatherdService implements AsyncDisposable {
  /** Since the start. */
  readonly counts: GatherdCounts = zeroCounts();
  readonly #options: GatherdServiceOptions;
  readonly #context: Omit<SessionContext, 'identity'>;
  readonly database: CurrentSnapshot;
  readonly #hostname: string;
  readonly #version: string;

  constructor(options: GatherdServiceOptions) {
    const { log, idleTimeoutMs = 120_000, version = GATHERD_VERSION } = options;
    this.#options = options;
    this.#hostname = options.hostname ?? systemHostname();
    this.#version = version;
    this.database = new CurrentSnapshot(sourceOf(options), log);
    this.#context = {
      session: { ...options, hostname: this.#hostname, version },
      database: this.database,
      chunks: new ChunkCache(),
      admit: (connection) => admitPeer(connection.peer, options.accessFile, connection.log),
      commandTimeoutMs: idleTimeoutMs,
      clock: options.clock ?? monotonicClock,
      counts: this.counts,
    };
    subscribe(TRANSFERS, this.#onTransfer);
  }

  /** Serves one connection to its end. `port` is our port in INFO. */
  async serve(connection: HostConnection, port: number): Promise<void> {
    const { identity, debug } = this.#options;
    const gatherer = identity ?? { name: '', host: this.#hostname, port, version: this.#version };
    const from = `${connection.peer.address} port ${connection.peer.port}`;
    debug?.(SECTION, 5, `session begins: ${from}`);
    const begin = performance.now();
    const traced = debug?.shows(SECTION, 9)
      ? traceConnection(connection, (text) => debug(SECTION, 9, text))
      : connection;
    try {
      await serveGatherd(traced, { ...this.#context, identity: gatherer });
    } finally {
      debug?.(SECTION, 5, () => `session ends: ${from}, ${Math.round(performance.now() - begin)} ms`);
    }
  }

  /** Looks for a new generation. If it cannot be opened, logs the error and keeps serving the old one. */
  async refresh(): Promise<void> {
    try {
      const snapshot = await this.database.acquire();
      await snapshot?.release();
    } catch (error) {
      this.#options.log.error({ err: error }, 'the database cannot be opened');
    }
  }

  /** Closes the database; all sessions must have ended. */
  async close(): Promise<void> {
    unsubscribe(TRANSFERS, this.#onTransfer);
    await this.database.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #onTransfer = (message: unknown): void => {
    const { address, since, compressed, objects, bytes, milliseconds } = message as GatherdTransfer;
    this.#options.debug?.(SECTION, 1, () => {
      const how = compressed ? 'compressed' : 'uncompressed';
      return `transfer: ${address}, since ${since}, ${how}, ${objects} objects, ${bytes} bytes, ${Math.round(milliseconds)} ms`;
    });
  };
}
