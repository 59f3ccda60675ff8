import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import type { Entry } from './reference.js';

/** The settings of a session, and its number of requests by kind. */
interface SessionState {
  compressed: boolean;
  helloSaid: boolean;
  updates: number;
}

/** Text (Latin-1) or bytes to send; `close` closes after it. */
export interface Answer {
  readonly bytes: Uint8Array | string;
  readonly close?: boolean;
}

/**
 * A gatherd independent of the kit's code. Every behavior can be replaced; {@link SOUND} is correct.
 */
export interface Habits {
  readonly entries: readonly Entry[];
  readonly greeting: string;
  readonly eol: string;
  readonly maxLine: number;
  /** How a line of a client is read. */
  trim(line: string): string;
  /** How verbs and keywords are compared. */
  fold(word: string): string;
  isSelected(entry: Entry, since: number): boolean;
  parseSince(argument: string): number | undefined;
  badSince(): Answer;
  /** The stream of an update. */
  wrap(objects: readonly Entry[], since: number, session: SessionState): Buffer;
  gzip(stream: Buffer, since: number, session: SessionState): Buffer;
  /** What follows the data. */
  endUpdate(count: number, session: SessionState): Answer;
  startUpdate(session: SessionState): string;
  object(entry: Entry, session: SessionState): Answer;
  noObject(): Answer;
  find(oid: string, entries: readonly Entry[]): Entry | undefined;
  info(object: Buffer, session: SessionState): Answer;
  describe(entries: readonly Entry[]): Buffer;
  hello(session: SessionState): Answer;
  help(): Answer;
  set(what: string, session: SessionState): Answer;
  unknown(): Answer;
  tooLong(): Answer;
  quit(): Answer;
  /** Orders the answers to the commands of one chunk. */
  arrange(answers: readonly Answer[]): readonly Answer[];
  /** Whether another session is served. */
  admits(sessions: number): boolean;
}

export const EMPTY_SECTIONS = '@DELETE {\n}\n@REFRESH {\n}\n';

export function stream(before: string, objects: readonly Entry[], behind = '}\n'): Buffer {
  return Buffer.concat([Buffer.from(before), ...objects.map(({ soif }) => soif), Buffer.from(behind)]);
}

export function line(text: string, close = false): Answer {
  return { bytes: `${text}\n`, close };
}

export const SOUND: Omit<Habits, 'entries'> = {
  greeting: '000 - HELLO 1.8 simple.example.org',
  eol: '\n',
  maxLine: 8192,
  trim: (text) => text.replace(/^[ \t\r]+|[ \t\r]+$/g, ''),
  fold: (word) => word.toUpperCase(),
  isSelected: ({ time }, since) => time >= since,
  parseSince: (argument) => (/^\d+$/.test(argument) ? Number(argument) : undefined),
  badSince: () => line('499 - bad time'),
  wrap: (objects) => stream(`${EMPTY_SECTIONS}@UPDATE {\n`, objects),
  gzip: (bytes) => gzipSync(bytes),
  endUpdate: (count) => line(`499 - ${count}`),
  startUpdate: () => '400 - update\n',
  object: ({ soif }) => ({
    bytes: Buffer.concat([Buffer.from('300 - object\n'), soif, Buffer.from('399 - ok\n')]),
  }),
  noObject: () => line('399 - none'),
  find: (oid, entries) => entries.find(({ url }) => url === oid),
  info: (object) => ({ bytes: Buffer.concat([object, Buffer.from('600 - end\n')]) }),
  describe: (entries) => {
    const times = entries.map(({ time }) => time);
    const values: Record<string, string> = {
      'Gatherer-Host': 'simple.example.org',
      'Gatherer-Name': 'Simple',
      'Gatherer-Port': '1',
      'Gatherer-Version': '1.8',
      'Last-Modification-Time': '0',
      'Refresh-Rate': '604800',
      'Time-to-Live': '2419200',
      'Update-Time': '5000',
      'Number-Of-Objects': String(entries.length),
      'Oldest-Update-Time': String(Math.min(...times)),
      'Newest-Update-Time': String(Math.max(...times)),
      Attributes: 'Body',
    };
    const lines = Object.entries(values).map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
    return Buffer.from(`@GATHERER { -\n${lines.join('')}}\n`);
  },
  hello: () => line('100 - hello'),
  help: () => line('200 - HELLO HELP SEND-OBJECT SEND-UPDATE SET compression QUIT'),
  set: (what, session) => {
    if (what !== 'COMPRESSION') return line('900 - no');
    session.compressed = true;
    return line('500 - yes');
  },
  unknown: () => line('900 - what'),
  tooLong: () => line('900 - too long'),
  quit: () => line('999 - bye', true),
  arrange: (answers) => answers,
  admits: () => true,
};

/** Listens on a free port of loopback until the test ends. */
export async function simpleGatherd(t: Test, habits: Habits): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('end', () => socket.end());
    if (habits.admits(sockets.size)) serve(socket, habits);
    else socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return address.port;
}

function serve(socket: Socket, habits: Habits): void {
  const session: SessionState = { compressed: false, helloSaid: false, updates: 0 };
  let input = '';
  const say = ({ bytes, close }: Answer) => {
    if (socket.writable) socket.write(ended(bytes, habits.eol));
    if (close === true) socket.end();
  };
  say(line(habits.greeting));
  socket.on('data', (chunk) => {
    const lines = (input + chunk.toString('latin1')).split('\n');
    input = lines.pop() ?? '';
    const answers = lines.map((text) => answer(text, session, habits)).filter((one) => one !== undefined);
    for (const one of habits.arrange(answers)) {
      if (socket.writableEnded) return;
      say(one);
    }
  });
}

/** Changes status lines only; data stays unchanged. */
function ended(bytes: Uint8Array | string, eol: string): Uint8Array {
  return typeof bytes === 'string' ? Buffer.from(bytes.replaceAll('\n', eol), 'latin1') : bytes;
}

function answer(raw: string, session: SessionState, habits: Habits): Answer | undefined {
  if (raw.length > habits.maxLine) return habits.tooLong();
  const text = habits.trim(raw);
  if (text === '') return undefined;
  const [word = '', ...words] = text.split(/[ \t]+/);
  const argument = words.join(' ');
  switch (habits.fold(word)) {
    case 'HELLO':
      session.helloSaid = true;
      return habits.hello(session);
    case 'HELP':
      return habits.help();
    case 'INFO':
      return habits.info(habits.describe(habits.entries), session);
    case 'QUIT':
      return habits.quit();
    case 'SET':
      return habits.set(habits.fold(argument), session);
    case 'SEND-OBJECT': {
      if (argument === '') return habits.unknown();
      const found = habits.find(argument, habits.entries);
      return found === undefined ? habits.noObject() : habits.object(found, session);
    }
    case 'SEND-UPDATE': {
      const since = habits.parseSince(argument);
      return since === undefined ? habits.badSince() : update(since, session, habits);
    }
    default:
      return habits.unknown();
  }
}

function update(since: number, session: SessionState, habits: Habits): Answer {
  session.updates++;
  const objects = habits.entries.filter((entry) => habits.isSelected(entry, since));
  const clear = habits.wrap(objects, since, session);
  const data = session.compressed ? habits.gzip(clear, since, session) : clear;
  const end = habits.endUpdate(objects.length, session);
  const start = ended(habits.startUpdate(session), habits.eol);
  return { ...end, bytes: Buffer.concat([start, data, ended(end.bytes, habits.eol)]) };
}
