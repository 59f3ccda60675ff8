// Drives the state machines of gatherd's server and client in memory, and has the bytes that both exchange.
import { crc32, gzipSync, inflateRawSync } from 'node:zlib';
import {
  type GatherdClientEvent,
  type GatherdClientOptions,
  GatherdClientSession,
  type GatherdServerEffect,
  GatherdServerSession,
} from '../../../protocols/gatherd/index.js';

export const bytes = (text: string) => Buffer.from(text, 'latin1');
export const text = (data: Uint8Array) => Buffer.from(data).toString('latin1');

export const ONE = '@FILE { http://a.example/\nTitle{3}:\tone\n}\n';
/** GATHERD-3.7: a value with a line that looks like an end line. */
export const TRAP = '@FILE { http://b.example/\nBody{21}:\tx\n499 - Sent 9 object\n}\n';
export const STREAM = `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${ONE}${TRAP}}\n`;
export const EMPTY = '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n';
export const INFO = '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n';

/** A server session whose effects are performed in memory, with two objects as its database. */
export class ServerRig {
  readonly session: GatherdServerSession;
  output = '';
  closed = false;
  /** The commands and requests of the client. */
  readonly requests: string[] = [];

  constructor(options: { compression?: boolean; maxLineBytes?: number; maxDroppedBytes?: number } = {}) {
    this.session = new GatherdServerSession({ hostname: 'gatherer.example.org', ...options });
  }

  start(): this {
    this.perform(this.session.start());
    return this;
  }

  /** Feeds input in pieces; input that the session does not accept is dropped, as by a closed connection. */
  feed(input: Uint8Array, size = input.length): this {
    for (let offset = 0; offset < input.length && this.session.acceptsInput; offset += size) {
      this.perform(this.session.push(input.subarray(offset, offset + size)));
    }
    return this;
  }

  perform(effects: readonly GatherdServerEffect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'send':
          this.output += text(effect.bytes);
          break;
        case 'update': {
          const { since, compressed, sections } = effect;
          this.requests.push(
            `update ${since}${compressed ? ' compressed' : ''}${sections ? ' sections' : ''}`,
          );
          this.output += compressed ? text(gzipSync(bytes(STREAM))) : STREAM;
          this.perform(this.session.dataDone('update', 2));
          break;
        }
        case 'object':
          this.requests.push(`object ${effect.oid}`);
          this.perform(
            this.session.dataDone('object', effect.oid === 'http://a.example/' ? bytes(ONE) : undefined),
          );
          break;
        case 'info':
          this.perform(this.session.dataDone('info', bytes(INFO)));
          break;
        case 'close':
          this.closed = true;
          break;
        case 'command':
          this.requests.push(effect.command.kind);
          break;
      }
    }
  }
}

export const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

/** A client session that reads given bytes, inflates in memory, and logs its events. */
export class ClientRig {
  readonly session: GatherdClientSession;
  readonly log: string[] = [];
  data = '';
  #member: Buffer[] = [];

  constructor(options: GatherdClientOptions = {}) {
    this.session = new GatherdClientSession(options);
  }

  feed(input: Uint8Array, size = Math.max(input.length, 1)): this {
    for (let offset = 0; offset < input.length; offset += size)
      this.take(this.session.push(input.subarray(offset, offset + size)));
    return this;
  }

  end(): this {
    this.take(this.session.end());
    return this;
  }

  /** Handles the events, then throws the error after them, as a client does. */
  take(events: readonly GatherdClientEvent[]): void {
    this.handle(events);
    if (this.session.failure !== undefined) throw this.session.failure;
  }

  handle(events: readonly GatherdClientEvent[]): void {
    for (const event of events) {
      switch (event.kind) {
        case 'greeting':
          this.log.push(`greeting ${event.version} ${event.hostname}`);
          break;
        case 'reply':
          this.log.push(`${event.to} ${event.accepted}`);
          break;
        case 'item':
          if (event.item.kind === 'object') this.log.push(`${event.item.section} ${event.item.object.url}`);
          if (event.item.kind === 'warning') this.log.push(`warning ${event.item.rule}`);
          break;
        case 'data':
          this.data += text(event.bytes);
          break;
        case 'inflate':
          this.#inflate(event.bytes);
          break;
        case 'update-end':
          this.log.push('update-end');
          break;
        case 'object':
          this.log.push(`object ${event.object.url}`);
          break;
        case 'object-end':
          this.log.push(`${event.to}-end ${event.found}`);
          break;
        case 'bye':
          this.log.push('bye');
          break;
      }
    }
  }

  /** Tries after every chunk whether the deflate data is complete. Slow, but independent of zlib streams. */
  #inflate(chunk: Uint8Array): void {
    this.#member.push(Buffer.from(chunk));
    const input = Buffer.concat(this.#member);
    let output: Buffer;
    let used: number;
    try {
      const result: unknown = inflateRawSync(input, { info: true });
      if (typeof result !== 'object' || result === null || !('buffer' in result) || !('engine' in result))
        return;
      const { buffer, engine } = result;
      if (!Buffer.isBuffer(buffer) || typeof engine !== 'object' || engine === null) return;
      if (!('bytesWritten' in engine) || typeof engine.bytesWritten !== 'number') return;
      output = buffer;
      used = engine.bytesWritten;
    } catch {
      return; // not complete yet
    }
    this.#member = [];
    this.handle(this.session.inflated(output));
    this.handle(this.session.inflateEnd(input.subarray(used), crc32(output), output.length));
  }
}

/** The stream as one gzip member. */
export const MEMBER = text(gzipSync(bytes(STREAM)));
/** The events that a client returns for the stream. */
export const OBJECTS = ['update http://a.example/', 'update http://b.example/', 'update-end'];
export const HELLO = `${GREETING}100 - HELLO c\n`;

export type Send = (session: GatherdClientSession) => void;
export const update: Send = (session) => {
  session.hello('c');
  session.sendUpdate(0);
};
export const compressedUpdate: Send = (session) => {
  session.hello('c');
  session.setCompression();
  session.sendUpdate(0);
};
export const changes: Send = (session) => {
  session.hello('c');
  session.setChanges();
  session.sendUpdate(0);
};
export const info: Send = (session) => {
  session.hello('c');
  session.info();
};
export const infoAndQuit: Send = (session) => {
  info(session);
  session.quit();
};
export const object: Send = (session) => {
  session.hello('c');
  session.sendObject('http://a.example/');
};

export const GREETED = ['greeting 1.8 gatherer.example.org', 'hello true'];
