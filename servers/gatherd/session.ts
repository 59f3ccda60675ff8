import { channel } from 'node:diagnostics_channel';
import { ConnectionError, KitError } from '../../protocols/errors.js';
import {
  type GatherdCommand,
  type GatherdServerEffect,
  type GatherdServerOptions,
  GatherdServerSession,
} from '../../protocols/gatherd/index.js';
import type { SummarySnapshot } from '../../storage/index.js';
import type { HostConnection, Logger } from '../host/index.js';
import type { ChunkCache } from './chunk-cache.js';
import type { CurrentSnapshot } from './current-snapshot.js';
import {
  type ExportCount,
  gzipMember,
  hasOtherSections,
  wrappedChanges,
  wrappedUpdate,
} from './export-stream.js';
import { encodeInfo, type GathererIdentity } from './info.js';
import { Output } from './output.js';
import { readyMember } from './ready-member.js';

/** Told of every update that was sent whole: {@link GatherdTransfer}. */
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

/** What all sessions of a server share. */
export interface SessionContext {
  readonly session: GatherdServerOptions;
  readonly identity: GathererIdentity;
  readonly database: CurrentSnapshot;
  /** The compressed chunks that are being sent. */
  readonly chunks: ChunkCache;
  /** Whether the peer may be served (GATHERD-9), with the name it was known by, for the log. */
  readonly admit: (connection: HostConnection) => Promise<{ allowed: boolean; name: string | undefined }>;
  /** Milliseconds without a complete command (GATHERD-12.3). */
  readonly commandTimeoutMs: number;
  readonly log: Logger;
}

/**
 * Input is handed to the engine in pieces of this size: a piece full of `HELP` makes about a hundred times its
 * size in answers, and they all wait here while the peer reads.
 */
const INPUT_BYTES = 512;

/** Serves one connection from the greeting to the end (GATHERD-1, 7). Logs as GATHERD-12.2 says. */
export async function serveGatherd(connection: HostConnection, context: SessionContext): Promise<void> {
  await new Session(connection, context).run();
}

type UpdateRequest = Extract<GatherdServerEffect, { kind: 'update' }>;

class Session {
  readonly #connection: HostConnection;
  readonly #context: SessionContext;
  readonly #engine: GatherdServerSession;
  readonly #who: string;
  readonly #output: Output;
  #objects = 0;
  #deadline: NodeJS.Timeout | undefined;
  #late = false;

  constructor(connection: HostConnection, context: SessionContext) {
    this.#connection = connection;
    this.#context = context;
    this.#engine = new GatherdServerSession(context.session);
    this.#output = new Output(connection);
    this.#who = connection.peer.address;
  }

  async run(): Promise<void> {
    const { log } = this.#context;
    let ending = 'end of session';
    try {
      const { allowed, name } = await this.#context.admit(this.#connection);
      log.info(`${this.#who}: connection${name === undefined ? '' : ` from ${name}`}: ${verdict(allowed)}`);
      await this.#carryOut(allowed ? this.#engine.start() : this.#engine.refuse());
      await this.#converse();
    } catch (error) {
      // A peer that leaves early is nothing to worry about (GATHERD-7.3).
      if (!(error instanceof ConnectionError)) throw error;
      ending = this.#late ? 'end of session: no command in time' : `end of session: ${error.message}`;
      this.#connection.destroy();
    } finally {
      clearTimeout(this.#deadline);
      log.info(`${this.#who}: ${ending}, ${this.#objects} objects, ${this.#output.bytes} bytes sent`);
    }
  }

  async #converse(): Promise<void> {
    if (!this.#engine.wantsInput) return;
    this.#expectCommand();
    for await (const chunk of this.#connection.chunks()) {
      for (let at = 0; at < chunk.length && this.#engine.wantsInput; at += INPUT_BYTES) {
        await this.#carryOut(this.#engine.push(chunk.subarray(at, at + INPUT_BYTES)));
      }
      if (!this.#engine.wantsInput) return;
    }
    await this.#carryOut(this.#engine.end());
  }

  /** GATHERD-12.3: a peer that sends a byte now and then, but no command, is not served for ever. */
  #expectCommand(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      this.#late = true;
      this.#connection.destroy();
    }, this.#context.commandTimeoutMs);
  }

  async #carryOut(effects: readonly GatherdServerEffect[]): Promise<void> {
    let todo = effects;
    while (todo.length > 0) {
      const following: GatherdServerEffect[] = [];
      for (const effect of todo) {
        if (effect.kind === 'send') await this.#output.put(effect.bytes);
        else following.push(...(await this.#perform(effect)));
      }
      todo = following;
    }
    await this.#output.flush();
  }

  async #perform(effect: Exclude<GatherdServerEffect, { kind: 'send' }>): Promise<GatherdServerEffect[]> {
    switch (effect.kind) {
      case 'command':
        this.#context.log.info(`${this.#who}: ${describe(effect.command)}`);
        this.#expectCommand();
        return [];
      case 'update':
        return this.#dataCommand(() => this.#update(effect));
      case 'object':
        return this.#dataCommand(() => this.#object(effect.oid));
      case 'info':
        return this.#dataCommand(() => this.#info());
      case 'close':
        await this.#output.flush();
        await this.#connection.end();
        return [];
    }
  }

  /** No command can be complete while data is being sent, so its time does not count. */
  async #dataCommand(work: () => Promise<GatherdServerEffect[]>): Promise<GatherdServerEffect[]> {
    clearTimeout(this.#deadline);
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConnectionError || !(error instanceof KitError)) throw error;
      // GATHERD-3.11: the database failed; without an end line the client knows that this was not all.
      this.#context.log.error({ err: error }, `${this.#who}: transfer broken off`);
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
      address: this.#who,
      since,
      compressed,
      ...count,
      bytes,
      milliseconds,
    };
    transferChannel.publish(transfer);
    this.#context.log.info(`${this.#who}: sent ${count.objects} objects, ${bytes} bytes`);
    return this.#engine.updateDone(count.objects);
  }

  /** The stream of an update: out of the ready-made blocks wherever it can be. */
  async #stream(
    { since, compressed, sections }: UpdateRequest,
    snapshot: SummarySnapshot | undefined,
    count: ExportCount,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { signal } = this.#connection;
    if (sections && snapshot !== undefined && (await hasOtherSections(snapshot, since))) {
      const stream = wrappedChanges(snapshot, since, count, signal);
      return compressed ? gzipMember(stream) : stream;
    }
    const ready = snapshot?.ready;
    if (compressed && ready !== undefined) return readyMember(ready, since, this.#context.chunks, count);
    const stream = wrappedUpdate(snapshot, since, count, signal);
    return compressed ? gzipMember(stream) : stream;
  }

  async #object(oid: string): Promise<GatherdServerEffect[]> {
    await using lease = await this.#lease();
    const object = await lease.snapshot?.get(oid);
    if (object !== undefined) this.#objects += 1;
    return this.#engine.objectDone(object);
  }

  async #info(): Promise<GatherdServerEffect[]> {
    await using lease = await this.#lease();
    const now = Math.floor(Date.now() / 1000);
    return this.#engine.infoDone(encodeInfo(this.#context.identity, await lease.snapshot?.info(), now));
  }

  /** The newest generation for as long as one command needs it (GATHERD-12.4). */
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

function verdict(allowed: boolean): string {
  return allowed ? 'allowed' : 'denied';
}

/** A command as the log shows it. */
function describe(command: GatherdCommand): string {
  switch (command.kind) {
    case 'hello':
      return `HELLO ${command.name}`;
    case 'object':
      return `SEND-OBJECT ${command.oid}`;
    case 'update':
      return `SEND-UPDATE ${command.since}`;
    case 'set':
      return `SET ${command.what}`;
    case 'bad-timestamp':
      return 'SEND-UPDATE with a bad time stamp';
    case 'bad-argument':
      return `bad argument: ${command.text}`;
    case 'unknown':
      return `unknown command: ${command.verb}`;
    case 'help':
    case 'info':
    case 'quit':
      return command.kind.toUpperCase();
  }
}
