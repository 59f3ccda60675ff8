// A gatherd independent of the kit's code, for the tests of the conformance suite.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';
import { ENTRIES, type Entry } from './gatherd-reference.js';

/** What tests change of the gatherd. */
interface GatherdBehavior {
  /** Default: a greeting with version and host. */
  readonly greeting?: string;
  /** Whether verbs are known in lower case, too. Default: true. */
  readonly foldsCase?: boolean;
  /** The answer to `SET compression`. Default: 500. */
  readonly compression?: string;
}

interface Session extends Required<GatherdBehavior> {
  compressed: boolean;
}

const MAX_LINE = 8192;

/** Listens on a free port of loopback until the test ends. */
export function simpleGatherd(t: Test, behavior: GatherdBehavior = {}): Promise<number> {
  const onConnection = (socket: Socket) => {
    socket.on('end', () => socket.end());
    serve(socket, {
      greeting: '000 - HELLO 1.8 simple.example.org',
      foldsCase: true,
      compression: '500 - yes',
      compressed: false,
      ...behavior,
    });
  };
  return tcpServer(t, onConnection, { allowHalfOpen: true, noDelay: true });
}

function serve(socket: Socket, session: Session): void {
  let input = '';
  socket.write(`${session.greeting}\n`);
  socket.on('data', (chunk) => {
    const lines = (input + chunk.toString('latin1')).split('\n');
    input = lines.pop() ?? '';
    for (const line of lines) {
      if (socket.writableEnded) return;
      const bytes = answer(line, session);
      socket.write(bytes, 'latin1');
      if (bytes === QUIT) socket.end();
    }
  });
}

const QUIT = '999 - bye\n';

/** Returns the answer to a line: bytes, or Latin-1. */
function answer(raw: string, session: Session): Uint8Array | string {
  if (raw.length > MAX_LINE) return '900 - too long\n';
  const fold = (word: string) => (session.foldsCase ? word.toUpperCase() : word);
  const text = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
  if (text === '') return '';
  const [word = '', ...words] = text.split(/[ \t]+/);
  const argument = words.join(' ');
  switch (fold(word)) {
    case 'HELLO':
      return '100 - hello\n';
    case 'HELP':
      return '200 - HELLO HELP SEND-OBJECT SEND-UPDATE SET compression QUIT\n';
    case 'INFO':
      return `${description()}600 - end\n`;
    case 'QUIT':
      return QUIT;
    case 'SET':
      if (fold(argument) !== 'COMPRESSION') return '900 - no\n';
      session.compressed = session.compression.startsWith('500');
      return `${session.compression}\n`;
    case 'SEND-OBJECT': {
      if (argument === '') return '900 - what\n';
      const found = ENTRIES.find(({ url }) => url === argument);
      return found === undefined ? '399 - none\n' : framed('300 - object\n', found.soif, '399 - ok\n');
    }
    case 'SEND-UPDATE': {
      if (!/^\d+$/.test(argument)) return '499 - bad time\n';
      const objects = ENTRIES.filter(({ time }) => time >= Number(argument));
      const data = framed('@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n', ...objects.map(soifOf), '}\n');
      const sent = session.compressed ? gzipSync(data) : data;
      return framed('400 - update\n', sent, `499 - ${objects.length}\n`);
    }
    default:
      return '900 - what\n';
  }
}

function framed(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function soifOf({ soif }: Entry): Uint8Array {
  return soif;
}

function description(): string {
  const times = ENTRIES.map(({ time }) => time);
  const values: Record<string, string> = {
    'Gatherer-Host': 'simple.example.org',
    'Gatherer-Name': 'Simple',
    'Gatherer-Port': '1',
    'Gatherer-Version': '1.8',
    'Last-Modification-Time': '0',
    'Refresh-Rate': '604800',
    'Time-to-Live': '2419200',
    'Update-Time': '5000',
    'Number-Of-Objects': String(ENTRIES.length),
    'Oldest-Update-Time': String(Math.min(...times)),
    'Newest-Update-Time': String(Math.max(...times)),
    Attributes: 'Body\nGatherer-Host\nGatherer-Name\nGatherer-Version\nUpdate-Time\n',
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@GATHERER { -\n${lines.join('')}}\n`;
}
