// A gatherd independent of the kit's code, for the tests of the conformance suite.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import type { Entry } from './gatherd-reference.js';

/** The settings of a session, and its number of updates so far. */
interface SessionState {
  compressed: boolean;
  updates: number;
}

/** Text (Latin-1) or bytes to send; `close` closes after it. */
export interface Answer {
  readonly bytes: Uint8Array | string;
  readonly close?: boolean;
}

/** The behavior of the gatherd. {@link CORRECT} is correct, and any member can be replaced. */
export interface GatherdBehavior {
  readonly entries: readonly Entry[];
  readonly greeting: string;
  readonly eol: string;
  readonly maxLine: number;
  /** Removes white space around a line of the client. */
  trim(line: string): string;
  /** The form in which verbs and keywords are compared. */
  fold(word: string): string;
  isSelected(entry: Entry, since: number): boolean;
  parseSince(argument: string): number | undefined;
  badSince(): Answer;
  /** The stream of an update. */
  wrap(objects: readonly Entry[], since: number, session: SessionState): Buffer;
  gzip(stream: Buffer, since: number, session: SessionState): Buffer;
  /** The line after the data. */
  endUpdate(count: number, session: SessionState): Answer;
  startUpdate(session: SessionState): string;
  object(entry: Entry, session: SessionState): Answer;
  noObject(): Answer;
  find(oid: string, entries: readonly Entry[]): Entry | undefined;
  info(object: Buffer, session: SessionState): Answer;
  describe(entries: readonly Entry[]): Buffer;
  hello(session: SessionState): Answer;
  help(): Answer;
  set(setting: string, session: SessionState): Answer;
  unknown(): Answer;
  tooLong(): Answer;
  quit(): Answer;
  /** Orders the answers to the commands of one chunk. */
  arrange(answers: readonly Answer[]): readonly Answer[];
  /** Whether a connection is served, given the number of open ones. */
  admits(sessions: number): boolean;
}

export const EMPTY_SECTIONS = '@DELETE {\n}\n@REFRESH {\n}\n';

export function stream(header: string, objects: readonly Entry[], trailer = '}\n'): Buffer {
  return Buffer.concat([Buffer.from(header), ...objects.map(({ soif }) => soif), Buffer.from(trailer)]);
}

export function line(text: string, close = false): Answer {
  return { bytes: `${text}\n`, close };
}

export const CORRECT: Omit<GatherdBehavior, 'entries'> = {
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
  set: (setting, session) => {
    if (setting !== 'COMPRESSION') return line('900 - no');
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
export async function simpleGatherd(t: Test, behavior: GatherdBehavior): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('end', () => socket.end());
    if (behavior.admits(sockets.size)) serve(socket, behavior);
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

function serve(socket: Socket, behavior: GatherdBehavior): void {
  const session: SessionState = { compressed: false, updates: 0 };
  let input = '';
  const send = ({ bytes, close }: Answer) => {
    if (socket.writable) socket.write(withLineEnds(bytes, behavior.eol));
    if (close === true) socket.end();
  };
  send(line(behavior.greeting));
  socket.on('data', (chunk) => {
    const lines = (input + chunk.toString('latin1')).split('\n');
    input = lines.pop() ?? '';
    const answers = lines.map((text) => answer(text, session, behavior)).filter((one) => one !== undefined);
    for (const one of behavior.arrange(answers)) {
      if (socket.writableEnded) return;
      send(one);
    }
  });
}

/** Changes the line ends of text; bytes stay unchanged. */
function withLineEnds(bytes: Uint8Array | string, eol: string): Uint8Array {
  return typeof bytes === 'string' ? Buffer.from(bytes.replaceAll('\n', eol), 'latin1') : bytes;
}

function answer(raw: string, session: SessionState, behavior: GatherdBehavior): Answer | undefined {
  if (raw.length > behavior.maxLine) return behavior.tooLong();
  const text = behavior.trim(raw);
  if (text === '') return undefined;
  const [word = '', ...words] = text.split(/[ \t]+/);
  const argument = words.join(' ');
  switch (behavior.fold(word)) {
    case 'HELLO':
      return behavior.hello(session);
    case 'HELP':
      return behavior.help();
    case 'INFO':
      return behavior.info(behavior.describe(behavior.entries), session);
    case 'QUIT':
      return behavior.quit();
    case 'SET':
      return behavior.set(behavior.fold(argument), session);
    case 'SEND-OBJECT': {
      if (argument === '') return behavior.unknown();
      const found = behavior.find(argument, behavior.entries);
      return found === undefined ? behavior.noObject() : behavior.object(found, session);
    }
    case 'SEND-UPDATE': {
      const since = behavior.parseSince(argument);
      return since === undefined ? behavior.badSince() : update(since, session, behavior);
    }
    default:
      return behavior.unknown();
  }
}

function update(since: number, session: SessionState, behavior: GatherdBehavior): Answer {
  session.updates++;
  const objects = behavior.entries.filter((entry) => behavior.isSelected(entry, since));
  const clear = behavior.wrap(objects, since, session);
  const data = session.compressed ? behavior.gzip(clear, since, session) : clear;
  const end = behavior.endUpdate(objects.length, session);
  const start = withLineEnds(behavior.startUpdate(session), behavior.eol);
  return { ...end, bytes: Buffer.concat([start, data, withLineEnds(end.bytes, behavior.eol)]) };
}
