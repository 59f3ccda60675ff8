// Records SSTP on the wire: while tshark captures, the requests of section 10 of the specification are sent to
// refererd over loopback. Both directions of the record must be the examples byte for byte. Prints TAP. Needs
// tshark and the right to capture.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { fetchCommonConfiguration } from '../../clients/references/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { RawClient, serveFixture } from '../servers/refererd/helpers.js';

/** Request and reply of the examples in S6 and S10, as {@link textOf} renders them. */
const EXAMPLES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'S6: one result of a document',
    ['081 REQ_GET_REFERENCES', 'URI_ID: 10', 'NUMRESULTS: 1', 'START_RESULTS: 1'],
    ['081 REQ_GET_REFERENCES', 'NUMFOUND: 3', 'START_RESULTS: 1', 'NUMRESULTS: 1', 'URI_ID: 20'],
  ],
  [
    'S10: the links to a site',
    ['084 REQ_GET_SITEREFERERS', 'URL: http://a.example/x'],
    [
      '084 REQ_GET_SITEREFERERS',
      'NUMFOUND: 2',
      'START_RESULTS: 0',
      'NUMRESULTS: 2',
      'URI_ID: 20',
      'URI_ID: 12',
    ],
  ],
  [
    'S10: an unknown document',
    ['082 REQ_GET_REFERERS', 'URL: http://nowhere.example/'],
    ['404 REQ_PUT_NOT_FOUND', 'NUMFOUND: 0'],
  ],
  [
    'S10: the description of a resource',
    ['008 REQ_GET_URL_BYNAME', 'URL: http://a.example:81/'],
    [
      '008 REQ_GET_URL_BYNAME',
      'URI_ID: 12',
      'SERVER_ID: 2',
      'SERVER_PROTOCOL: http',
      'SERVER_NAME: a.example',
      'SERVER_PORT: 81',
      'URI: /',
      'URI_TIME: 1000000120',
      'URL_CHECKTIME: 1000001200',
      'URI_LEN: 1200',
    ],
  ],
];

const ALLOW_REQUEST = textOf([
  '017 REQ_GET_ALLOW',
  'AUTHORIZATION: Basic bmFtZWZyb21hZG1pbjphYnJha2FkYWJyYQ==',
]);
const ALLOW_BODY = '192.168.3.*\n*.turtle.ru\n';
const ALLOW_REPLY = `${textOf(['017 REQ_GET_ALLOW', 'CONTENT_LENGTH: 24'])}${ALLOW_BODY}`;

const REFUSAL = textOf(['403 FORBIDDEN']);

/** Number of checks whether tshark has captured packets, and the pause between them. */
const MAX_CHECKS = 2400;
const PAUSE_MS = 50;

/**
 * Renders a first line without `SSTP/1.0` and fields without `HEADER_`, with CR LF and an empty line at the
 * end.
 */
function textOf([first = '', ...fields]: readonly string[]): string {
  return `SSTP/1.0 ${[first, ...fields.map((field) => `HEADER_${field}`)].join('\r\n')}\r\n\r\n`;
}

/** Returns the reason to skip the tests, or false if tshark can capture. */
function reasonToSkip(): string | false {
  if (spawnSync('tshark', ['--version'], { stdio: 'ignore' }).status !== 0) return 'tshark is not installed';
  const { status } = spawnSync('tshark', ['-i', 'lo', '-a', 'duration:1', '-w', '/dev/null'], {
    stdio: 'ignore',
  });
  return status === 0 ? false : 'capturing is not allowed here';
}

/** A running tshark that captures the traffic of a port. */
class Recording {
  readonly #child: ChildProcess;
  readonly #file: string;

  private constructor(child: ChildProcess, file: string) {
    this.#child = child;
    this.#file = file;
  }

  /** Starts tshark. Resolves when it captures: connects to a probe port until a connection is in the file. */
  static async start(t: Test, port: number): Promise<Recording> {
    const file = join(await temporaryDirectory(t), 'recorded.pcapng');
    const probe = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const bound = probe.address();
    const probePort = bound !== null && typeof bound === 'object' ? bound.port : 0;
    const filter = `tcp port ${port} or tcp port ${probePort}`;
    const child = spawn('tshark', ['-i', 'lo', '-f', filter, '-w', file], { stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    const recording = new Recording(child, file);
    try {
      for (let checks = 0; checks < MAX_CHECKS; checks++) {
        await once(connect(probePort, '127.0.0.1').resume(), 'close');
        await pause(PAUSE_MS);
        if (recording.#hasCaptured(`tcp.port == ${probePort}`)) return recording;
      }
      throw new Error('tshark captures nothing');
    } finally {
      probe.close();
    }
  }

  /** Waits until the file contains this number of FIN packets of a port, then ends tshark. */
  async finish(port: number, finCount: number): Promise<void> {
    for (let checks = 0; checks < MAX_CHECKS; checks++) {
      if (this.#count(`tcp.port == ${port} && tcp.flags.fin == 1`) >= finCount) break;
      await pause(PAUSE_MS);
    }
    const closed = once(this.#child, 'exit');
    this.#child.kill('SIGINT');
    await closed;
  }

  /** Reads the bytes of both directions of the n-th connection to a port, by `follow,tcp,raw`. */
  conversation(port: number, n = 0): { readonly requests: string; readonly replies: string } {
    const streams = this.#read(['-Y', `tcp.dstport == ${port}`, '-T', 'fields', '-e', 'tcp.stream']).split(
      '\n',
    );
    const stream = [...new Set(streams.filter((line) => line !== ''))][n];
    const text = this.#read(['-q', '-z', `follow,tcp,raw,${stream}`]);
    // Lines of hexadecimal digits; those of the second node begin with a tab.
    const bytes = (lines: RegExp): string =>
      Buffer.from(Array.from(text.matchAll(lines), (match) => match[1]).join(''), 'hex').toString('latin1');
    return { requests: bytes(/^([0-9a-f]+)$/gm), replies: bytes(/^\t([0-9a-f]+)$/gm) };
  }

  #hasCaptured(filter: string): boolean {
    return this.#count(filter) > 0;
  }

  #count(filter: string): number {
    return this.#read(['-Y', filter, '-T', 'fields', '-e', 'frame.number']).split('\n').length - 1;
  }

  #read(words: readonly string[]): string {
    try {
      const output = ['ignore', 'pipe', 'ignore'] as const;
      return execFileSync('tshark', ['-r', this.#file, ...words], { encoding: 'utf8', stdio: [...output] });
    } catch {
      return ''; // The file does not exist yet, or its last packet is incomplete.
    }
  }
}

t.test('SSTP on the wire', { skip: reasonToSkip() }, async (t) => {
  await t.test('S-27 to S-40: requests and replies are the examples of S6 and S10', async (t) => {
    const { address } = await serveFixture(t);
    const recording = await Recording.start(t, address.port);
    for (const [, request] of EXAMPLES) {
      const client = await RawClient.connect(t, address.port);
      client.send(textOf(request));
      client.socket.end();
      await client.rest();
    }
    const pipelined = await RawClient.connect(t, address.port);
    pipelined.send(EXAMPLES.map(([, request]) => textOf(request)).join(''));
    pipelined.socket.end();
    await pipelined.rest();
    await recording.finish(address.port, 2 * (EXAMPLES.length + 1));
    for (const [n, [name, request, reply]] of EXAMPLES.entries()) {
      const seen = recording.conversation(address.port, n);
      t.equal(seen.requests, textOf(request), `${name}, request`);
      t.equal(seen.replies, textOf(reply), `${name}, reply`);
    }
    const seen = recording.conversation(address.port, EXAMPLES.length);
    const replies = EXAMPLES.map(([, , reply]) => textOf(reply)).join('');
    t.equal(seen.replies, replies, 'S-39: pipelined requests on one connection have the same replies');
  });

  await t.test('S-50 to S-52: the request for the allowed hosts is that of S-52', async (t) => {
    const dispatcher = createServer((socket) => {
      socket.once('data', (request) => {
        socket.end(request.toString('latin1') === ALLOW_REQUEST ? ALLOW_REPLY : REFUSAL, 'latin1');
      });
      socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    t.teardown(() => dispatcher.close());
    await once(dispatcher, 'listening');
    const bound = dispatcher.address();
    const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
    const recording = await Recording.start(t, port);
    const lists = await fetchCommonConfiguration({
      host: '127.0.0.1',
      port,
      user: 'namefromadmin',
      password: 'abrakadabra',
    });
    t.same(lists.allow, { ok: true, text: ALLOW_BODY });
    t.equal(lists.users.ok, false, 'S-53: the refusal is reported');
    await recording.finish(port, 4);
    // The two lists are fetched concurrently (S-54).
    const seen = [recording.conversation(port, 0), recording.conversation(port, 1)];
    const allow = seen.find(({ requests }) => requests.includes(' 017 '));
    const users = seen.find(({ requests }) => requests.includes(' 016 '));
    t.equal(allow?.requests, ALLOW_REQUEST, 'S-52, request');
    t.equal(allow?.replies, ALLOW_REPLY, 'S-52, reply');
    t.equal(
      users?.requests,
      ALLOW_REQUEST.replace('017 REQ_GET_ALLOW', '016 REQ_GET_PW'),
      'S-52, request for the users',
    );
    t.equal(users?.replies, REFUSAL, 'S-52, refusal');
  });
});
