// One session of gatherd, from the greeting to the end (GATHERD-1, 7).
import { channel } from 'node:diagnostics_channel';
import type { Clock } from '../../protocols/clock.js';
import { ConnectionError, KitError } from '../../protocols/errors.js';
import {
  type DataRequest,
  describeCommand,
  type GatherdCommand,
  type GatherdServerEffect,
  type GatherdServerOptions,
  GatherdServerSession,
  type SequenceMark,
} from '../../protocols/gatherd/index.js';
import type { SummarySnapshot } from '../../storage/generations/snapshot.js';
import type { HostConnection } from '../host/connection.js';
import type { SessionShare } from '../host/fair-share.js';
import type { PeerLog } from '../host/log-limit.js';
import type { AccessDecision } from './access.js';
import type { ChunkCache } from './chunk-cache.js';
import type { CurrentSnapshot } from './current-snapshot.js';
import {
  compressToMember,
  type ExportCount,
  hasOtherSections,
  streamChanges,
  streamNumbered,
  streamUpdate,
} from './export-stream.js';
import { encodeInfo, type GathererIdentity } from './info.js';
import { streamReadyClear, streamReadyMember } from './ready-member.js';

/** Receives a {@link GatherdTransfer} for every update that was sent completely. */
const transferChannel = channel('harvest:gatherd:transfer');

/** Message of the channel `harvest:gatherd:transfer`. */
export interface GatherdTransfer {
  readonly address: string;
  readonly since: number;
  readonly compressed: boolean;
  readonly objects: number;
  /** On the wire, without status lines. */
  readonly bytes: number;
  readonly milliseconds: number;
}

/** The counts of a gatherd since its start, for a monitor. */
export interface GatherdCounts {
  /** Sessions that ended. */
  sessions: number;
  /** Connections that the access list refused. */
  denied: number;
  /** Updates that were sent completely. */
  transfers: number;
  /** Transfers that ended because the database could not be read. */
  failures: number;
  /** Why the last of them ended, and the generation that was served. */
  damage: { readonly message: string; readonly generation: number | undefined } | undefined;
  /** Objects sent. */
  objects: number;
  /** Bytes sent. */
  bytes: number;
  readonly commands: Map<GatherdCommand['kind'], number>;
}

export function zeroCounts(): GatherdCounts {
  return {
    sessions: 0,
    denied: 0,
    transfers: 0,
    failures: 0,
    damage: undefined,
    objects: 0,
    bytes: 0,
    commands: new Map(),
  };
}

/** State that all sessions of a server share. */
export interface SessionContext {
  readonly session: GatherdServerOptions;
  readonly identity: GathererIdentity;
  readonly database: CurrentSnapshot;
  /** Compressed chunks of running transfers. */
  readonly chunks: ChunkCache;
  /** Whether the peer may connect (GATHERD-9), with its name, for the log. */
  readonly admit: (connection: HostConnection) => Promise<AccessDecision>;
  /** Milliseconds without a complete command (GATHERD-12.3). */
  readonly commandTimeoutMs: number;
  readonly clock: Clock;
  readonly counts: GatherdCounts;
}

/**
 * The cost of a command in milliseconds of processor time, measured on a database of 100 000 objects. Costs
 * order the sessions that wait for the processor; a session that has used much comes after the others. Input
 * and output are charged by the host.
 */
const COMMAND_COST_MS: Partial<Readonly<Record<GatherdCommand['kind'], number>>> = {
  update: 0.8,
  info: 0.3,
  object: 0.3,
};
const OTHER_COST_MS = 0.02;

/** Serves one connection from the greeting to the end (GATHERD-1, 7), with the log lines of GATHERD-12.2. */
export async function serveGatherd(connection: HostConnection, context: SessionContext): Promise<void> {
  await new Session(connection, context).run();
}

type UpdateRequest = Extract<DataRequest, { kind: 'update' }>;

class Session {
  readonly #connection: HostConnection;
  readonly #context: SessionContext;
  readonly #engine: GatherdServerSession;
  readonly #address: string;
  readonly #log: PeerLog;
  readonly #share: SessionShare;
  readonly #output: Output;
  #objects = 0;
  #cancelDeadline: (() => void) | undefined;
  #timedOut = false;

  constructor(connection: HostConnection, context: SessionContext) {
    this.#connection = connection;
    this.#context = context;
    this.#engine = new GatherdServerSession(context.session);
    this.#output = new Output(connection);
    this.#address = connection.peer.address;
    this.#log = connection.log;
    this.#share = connection.share;
  }

  async run(): Promise<void> {
    const log = this.#log;
    let ending = 'end of session';
    try {
      const { allowed, busy = false, name } = await this.#context.admit(this.#connection);
      log.info(
        `connection${name === undefined ? '' : ` from ${name}`}: ${busy ? 'busy' : describeDecision(allowed)}`,
      );
      if (!allowed && !busy) this.#context.counts.denied++;
      await this.#performAll(allowed ? this.#engine.start() : this.#engine.refuse(busy ? 'busy' : 'denied'));
      await this.#readCommands();
    } catch (error) {
      // A peer may disconnect at any time (GATHERD-7.3).
      if (!(error instanceof ConnectionError)) throw error;
      ending = this.#timedOut ? 'end of session: no command in time' : `end of session: ${error.message}`;
      this.#connection.destroy();
    } finally {
      this.#cancelDeadline?.();
      this.#count();
      log.info(`${ending}, ${this.#objects} objects, ${this.#output.bytes} bytes sent`);
    }
  }

  #count(): void {
    const { counts } = this.#context;
    counts.sessions++;
    counts.objects += this.#objects;
    counts.bytes += this.#output.bytes;
  }

  async #readCommands(): Promise<void> {
    if (!this.#engine.acceptsInput) return;
    this.#expectCommand();
    for await (const chunk of this.#connection.chunks()) {
      await this.#performAll(this.#engine.push(chunk));
      if (!this.#engine.acceptsInput) return;
    }
    await this.#performAll(this.#engine.end());
  }

  /** GATHERD-12.3: ends the session of a peer that sends bytes but no complete command. */
  #expectCommand(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = this.#context.clock.setTimer(() => {
      this.#timedOut = true;
      this.#connection.destroy();
    }, this.#context.commandTimeoutMs);
  }

  async #performAll(effects: readonly GatherdServerEffect[]): Promise<void> {
    let pending = effects;
    while (pending.length > 0) {
      const next: GatherdServerEffect[] = [];
      for (const effect of pending) {
        if (effect.kind === 'send') await this.#output.put(effect.bytes);
        else next.push(...(await this.#perform(effect)));
      }
      pending = next;
    }
    await this.#output.flush();
  }

  async #perform(effect: Exclude<GatherdServerEffect, { kind: 'send' }>): Promise<GatherdServerEffect[]> {
    switch (effect.kind) {
      case 'command': {
        // A client that has sent many commands at once waits between them while others are served.
        if (!this.#share.mayContinue()) await this.#share.turn(this.#connection.signal);
        this.#share.charge(COMMAND_COST_MS[effect.command.kind] ?? OTHER_COST_MS);
        this.#log.info(describeCommand(effect.command));
        const { commands } = this.#context.counts;
        commands.set(effect.command.kind, (commands.get(effect.command.kind) ?? 0) + 1);
        this.#expectCommand();
        return [];
      }
      case 'update':
        return this.#dataCommand(() => this.#update(effect));
      case 'object':
        return this.#dataCommand(() => this.#object(effect.oid));
      case 'info':
        return this.#dataCommand(() => this.#info());
      case 'sequence':
        return this.#dataCommand(() => this.#sequence(effect.mark));
      case 'close':
        await this.#output.flush();
        await this.#connection.end();
        return [];
    }
  }

  /** The command timeout is off while data is sent. */
  async #dataCommand(work: () => Promise<GatherdServerEffect[]>): Promise<GatherdServerEffect[]> {
    this.#cancelDeadline?.();
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConnectionError || !(error instanceof KitError)) throw error;
      // GATHERD-3.11: the database failed; the missing end line tells the client that the data is incomplete.
      this.#context.counts.failures++;
      const { counts, database } = this.#context;
      counts.damage = { message: error.message, generation: database.serving?.generation };
      this.#log.error('transfer aborted', error);
      return this.#engine.fail();
    } finally {
      this.#expectCommand();
    }
  }

  async #update(request: UpdateRequest): Promise<GatherdServerEffect[]> {
    const { since, compressed } = request;
    const count: ExportCount = { objects: 0 };
    const before = this.#output.bytes;
    const started = performance.now();
    await using lease = await this.#lease();
    const stream = await this.#stream(request, lease.snapshot, count);
    try {
      for await (const piece of stream) await this.#output.put(piece);
    } finally {
      this.#objects += count.objects;
    }
    const bytes = this.#output.bytes - before;
    const milliseconds = performance.now() - started;
    const transfer: GatherdTransfer = {
      address: this.#address,
      since,
      compressed,
      ...count,
      bytes,
      milliseconds,
    };
    this.#context.counts.transfers++;
    transferChannel.publish(transfer);
    this.#log.info(`sent ${count.objects} objects, ${bytes} bytes`);
    const { numbered } = lease.snapshot ?? {};
    return this.#engine.dataDone('update', { objects: count.objects, last: numbered });
  }

  /** Returns the stream of an update, assembled from the ready-made blocks if possible. */
  async #stream(
    { since: time, compressed, sections, after }: UpdateRequest,
    snapshot: SummarySnapshot | undefined,
    count: ExportCount,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { signal } = this.#connection;
    const numbered = after === undefined ? undefined : snapshot?.numbered;
    if (after !== undefined && numbered?.has(after.origin, after.sequence)) {
      const stream = streamNumbered(numbered, after.sequence, sections, count, signal);
      return compressed ? compressToMember(stream) : stream;
    }
    // GATHERD-6.13: the database was replaced since the client asked. An update since 1 has every object and every
    // deletion.
    const since = after === undefined ? time : 1;
    if (sections && snapshot !== undefined && (await hasOtherSections(snapshot, since))) {
      const stream = streamChanges(snapshot, since, count, signal);
      return compressed ? compressToMember(stream) : stream;
    }
    const ready = snapshot?.ready;
    const { chunks } = this.#context;
    if (ready !== undefined)
      return compressed
        ? streamReadyMember(ready, since, chunks, count)
        : streamReadyClear(ready, since, chunks, count);
    const stream = streamUpdate(snapshot, since, count, signal);
    return compressed ? compressToMember(stream) : stream;
  }

  async #object(oid: string): Promise<GatherdServerEffect[]> {
    await using lease = await this.#lease();
    const object = await lease.snapshot?.get(oid);
    if (object !== undefined) this.#objects += 1;
    return this.#engine.dataDone('object', object);
  }

  /** GATHERD-6.13: whether the client may ask for the changes after this one. */
  async #sequence({ origin, sequence }: SequenceMark): Promise<GatherdServerEffect[]> {
    await using lease = await this.#lease();
    const isKnown = lease.snapshot?.numbered?.has(origin, sequence) === true;
    return this.#engine.dataDone('sequence', isKnown);
  }

  async #info(): Promise<GatherdServerEffect[]> {
    await using lease = await this.#lease();
    const now = Math.floor(Date.now() / 1000);
    return this.#engine.dataDone(
      'info',
      encodeInfo(this.#context.identity, await lease.snapshot?.info(), now),
    );
  }

  /** Acquires the newest generation for the duration of one command (GATHERD-12.4). */
  async #lease() {
    const snapshot = await this.#context.database.acquire();
    return {
      snapshot,
      async [Symbol.asyncDispose]() {
        await snapshot?.release();
      },
    };
  }
}

function describeDecision(allowed: boolean): string {
  return allowed ? 'allowed' : 'denied';
}

/** Smaller pieces are collected, because each write would be a separate packet and wake the peer. */
const SMALL_BYTES = 16 * 1024;

/** Longest time for which a small piece is held back. */
const MAX_DELAY_MS = 5;

/** Sends the pieces of a session in order: small pieces together, large ones as they are. */
class Output {
  readonly #connection: HostConnection;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: HostConnection) {
    this.#connection = connection;
  }

  /** Bytes passed to {@link put} so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when the memory of the piece may be reused. A small piece has been copied and may be sent later.
   */
  async put(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    if (piece.length >= SMALL_BYTES) {
      await this.flush();
      await this.#connection.deliver(piece);
      return;
    }
    this.#pending.push(Uint8Array.from(piece));
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= SMALL_BYTES) await this.flush();
    // If the connection has failed, the next write reports it.
    else this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), MAX_DELAY_MS);
  }

  /** Sends the collected pieces. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0) return;
    const bytes = Buffer.concat(this.#pending, this.#pendingBytes);
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#connection.write(bytes);
  }
}
