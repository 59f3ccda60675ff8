import { readdir, readFile } from 'node:fs/promises';
import { crc32, deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { KitError } from '../../../protocols/errors.js';
import {
  CLIENT_STATES,
  encodeGzipTrailer,
  GATHERD_CODES,
  type GatherdClientEvent,
  GatherdClientSession,
  type GatherdServerEffect,
  GatherdServerSession,
  GZIP_HEADER,
  GzipHeaderReader,
  GzipTrailerReader,
  crc32 as headerCrc32,
  nextState,
  parseCommand,
  parseStatusLine,
  SERVER_STATES,
} from '../../../protocols/gatherd/index.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const text = (data: Uint8Array) => Buffer.from(data).toString('latin1');

const ONE = '@FILE { http://a.example/\nTitle{3}:\tone\n}\n';
/** GATHERD-3.7: a value with a line that looks like an end line. */
const TRAP = '@FILE { http://b.example/\nBody{21}:\tx\n499 - Sent 9 object\n}\n';
const STREAM = `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${ONE}${TRAP}}\n`;
const EMPTY = '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n';
const INFO = '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n';

// ---------------------------------------------------------------- the server, answered from memory

class ServerRig {
  readonly session: GatherdServerSession;
  output = '';
  closed = false;
  readonly asked: string[] = [];

  constructor(options: { compression?: boolean; maxLineBytes?: number; maxDroppedBytes?: number } = {}) {
    this.session = new GatherdServerSession({ hostname: 'gatherer.example.org', ...options });
  }

  start(): this {
    this.perform(this.session.start());
    return this;
  }

  /** Feeds input in pieces; input that the session does not accept is dropped, as by a closed connection. */
  feed(input: Uint8Array, size = input.length): this {
    for (let at = 0; at < input.length && this.session.acceptsInput; at += size) {
      this.perform(this.session.push(input.subarray(at, at + size)));
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
          this.asked.push(`update ${since}${compressed ? ' compressed' : ''}${sections ? ' sections' : ''}`);
          this.output += compressed ? text(gzipSync(bytes(STREAM))) : STREAM;
          this.perform(this.session.updateDone(2));
          break;
        }
        case 'object':
          this.asked.push(`object ${effect.oid}`);
          this.perform(this.session.objectDone(effect.oid === 'http://a.example/' ? bytes(ONE) : undefined));
          break;
        case 'info':
          this.perform(this.session.infoDone(bytes(INFO)));
          break;
        case 'close':
          this.closed = true;
          break;
        case 'command':
          this.asked.push(effect.command.kind);
          break;
      }
    }
  }
}

const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

/** The client's input, and the server's output after its greeting. */
const DIALOGUES: readonly (readonly [name: string, client: string, server: string, closes: boolean])[] = [
  [
    'GATHERD-2.6 HELLO, also without a name',
    'HELLO c.example\nHELLO\n',
    '100 - HELLO c.example\n100 - HELLO \n',
    false,
  ],
  ['GATHERD-1.4 LF and CR LF', 'HELLO a\r\nHELLO b\n', '100 - HELLO a\n100 - HELLO b\n', false],
  [
    'GATHERD-2.3 verbs and keywords in any case',
    'hello a\nSet COMPRESSION\n',
    '100 - HELLO a\n500 - Compression enabled\n',
    false,
  ],
  ['GATHERD-2.4 blanks and empty lines', '\n  \r\n \tHELLO \t a \t\r\n\n', '100 - HELLO a\n', false],
  [
    'GATHERD-7.1 full copy',
    'HELLO a\nSEND-UPDATE 0\nQUIT\n',
    `100 - HELLO a\n400 - Sending all objects since 0\n${STREAM}499 - Sent 2 objects\n999 - Bye\n`,
    true,
  ],
  [
    'GATHERD-2.5 HELLO is optional, GATHERD-4.8 several updates',
    'SEND-UPDATE 0\nSEND-UPDATE 007\n',
    `400 - Sending all objects since 0\n${STREAM}499 - Sent 2 objects\n400 - Sending all objects since 7\n${STREAM}499 - Sent 2 objects\n`,
    false,
  ],
  [
    'GATHERD-3.4 SEND-OBJECT',
    'SEND-OBJECT http://a.example/\n',
    `300 - Sending object http://a.example/\n${ONE}399 - Sent object\n`,
    false,
  ],
  [
    'GATHERD-3.8 unknown object',
    'SEND-OBJECT http://x.example/\n',
    '399 - No such object http://x.example/\n',
    false,
  ],
  ['GATHERD-3.6 INFO: the object, then 600', 'INFO\n', `${INFO}600 - End of INFO\n`, false],
  [
    'GATHERD-3.9 bad time stamps get 499',
    'SEND-UPDATE\nSEND-UPDATE -1\nSEND-UPDATE 1x\nSEND-UPDATE 1.5\nSEND-UPDATE 99999999999999999999\n',
    '499 - Bad timestamp\n'.repeat(5),
    false,
  ],
  [
    'GATHERD-3.9, 6.10 unknown commands and arguments',
    'FROB x\nSET\nSET speed\nSEND-OBJECT\nHELLO a\n',
    '900 - Unknown command: FROB\n900 - Bad argument: SET\n900 - Bad argument: speed\n900 - Bad argument: SEND-OBJECT\n100 - HELLO a\n',
    false,
  ],
  ['GATHERD-6.11 SET changes', 'SET changes\n', '500 - Changes enabled\n', false],
  ['nothing after QUIT is carried out', 'QUIT\nHELLO a\n', '999 - Bye\n', true],
];

for (const [name, client, server, closes] of DIALOGUES) {
  t.test(name, async (t) => {
    for (let size = 1; size <= client.length; size++) {
      const rig = new ServerRig().start().feed(bytes(client), size);
      t.equal(rig.closed, closes);
      if (rig.output !== GREETING + server) {
        t.equal(rig.output, GREETING + server, `cuts of ${size}`);
        return;
      }
    }
  });
}

t.test('GATHERD-2.1 HELP lists the commands as 200 lines', async (t) => {
  const { output } = new ServerRig().start().feed(bytes('HELP\n'));
  const lines = output.slice(GREETING.length).trimEnd().split('\n');
  const verbs = [
    'HELLO',
    'HELP',
    'INFO',
    'SEND-OBJECT',
    'SEND-UPDATE',
    'SET compression',
    'SET changes',
    'QUIT',
  ];
  t.equal(lines.length, verbs.length);
  for (const [i, verb] of verbs.entries()) t.ok(lines[i]?.startsWith(`200 - ${verb}`), lines[i] ?? '');
});

t.test('GATHERD-6.1 SET compression applies to the session; 6.8 objects stay uncompressed', async (t) => {
  const commands =
    'SET compression\nSET changes\nSEND-UPDATE 5\nSEND-OBJECT http://a.example/\nSEND-UPDATE 6\n';
  const rig = new ServerRig().start().feed(bytes(commands));
  t.same(
    rig.asked.filter((line) => line.startsWith('update ')),
    ['update 5 compressed sections', 'update 6 compressed sections'],
  );
  t.match(rig.output, ONE);
});

t.test('GATHERD-6.9 compression not available', async (t) => {
  const rig = new ServerRig({ compression: false }).start().feed(bytes('SET compression\nSEND-UPDATE 0\n'));
  t.match(rig.output, '900 - Compression not available\n400 - Sending all objects since 0\n@DELETE');
});

t.test('GATHERD-1.8 pipelined commands wait while data is being sent', async (t) => {
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  const effects = session.push(bytes('SEND-UPDATE 0\nHELLO a\nINFO\nQUIT\n'));
  t.same(
    effects.map((effect) => effect.kind),
    ['command', 'send', 'update'],
  );
  t.equal(session.acceptsInput, false);
  t.throws(() => session.push(bytes('HELLO b\n')), { code: 'ERR_STATE' });
  const after = session.updateDone(7);
  t.same(
    after.map((effect) => effect.kind),
    ['send', 'command', 'send', 'command', 'info'],
  );
  const last = session.infoDone(bytes(INFO));
  t.same(
    last.map((effect) => effect.kind),
    ['send', 'send', 'command', 'send', 'close'],
  );
  t.equal(session.state, 'closed');
  t.same(session.push(bytes('HELLO c\n')), []);
});

t.test('GATHERD-2.4 the longest line, one byte more, and an endless one', async (t) => {
  const name = 'n'.repeat(8192 - 6);
  for (const end of ['\n', '\r\n']) {
    const whole = new ServerRig().start().feed(bytes(`HELLO ${name}${end}HELLO b\n`), 1000);
    t.equal(whole.output, `${GREETING}100 - HELLO ${name}\n100 - HELLO b\n`);
    const longer = new ServerRig().start().feed(bytes(`HELLO ${name}x${end}HELLO b\n`), 1000);
    t.equal(longer.output, `${GREETING}900 - Bad argument: line too long\n100 - HELLO b\n`);
  }
  const long = `HELLO ${'n'.repeat(40_000)}\nHELLO b\n`;
  const longest = `HELLO ${'n'.repeat(1 << 20)}\nHELLO b\n`;
  for (const [text, size] of [
    [long, 1],
    [long, 777],
    [long, long.length],
    [longest, 1 << 16],
  ] as const) {
    const rig = new ServerRig().start().feed(bytes(text), size);
    t.equal(
      rig.output,
      `${GREETING}900 - Bad argument: line too long\n100 - HELLO b\n`,
      'GATHERD-3.9 reported once, and the session continues',
    );
  }
  const endless = new ServerRig().start().feed(Buffer.alloc(3 << 20, 'x'), 1 << 16);
  t.equal(endless.closed, true, 'cut off');
  t.equal(endless.output, `${GREETING}900 - Bad argument: line too long\n`);
});

t.test('GATHERD-3.10 refused: one line, no greeting', async (t) => {
  const rig = new ServerRig();
  rig.perform(rig.session.refuse());
  t.equal(rig.output, '999 - Access denied\n');
  t.equal(rig.closed, true);
  t.equal(rig.session.acceptsInput, false);
});

t.test('GATHERD-3.11 a failure in the middle of data closes without an end line', async (t) => {
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  session.push(bytes('SEND-UPDATE 0\nHELLO a\n'));
  t.same(session.fail(), [{ kind: 'close' }]);
  t.equal(session.state, 'closed');
});

t.test(
  'a client that has finished sending gets its replies first; an incomplete line is not a command',
  async (t) => {
    const rig = new ServerRig().start().feed(bytes('HELLO a\nSEND-UPDATE 12'));
    rig.perform(rig.session.end());
    t.equal(rig.output, `${GREETING}100 - HELLO a\n`);
    t.equal(rig.closed, true);
    const session = new GatherdServerSession({ hostname: 'h' });
    session.start();
    session.push(bytes('SEND-UPDATE 0\nHELLO a\n'));
    t.same(session.end(), [], 'the update continues');
    t.same(
      session.updateDone(0).map((effect) => effect.kind),
      ['send', 'command', 'send', 'close'],
    );
  },
);

t.test('GATHERD-3.5 host name and version are words', async (t) => {
  for (const hostname of ['', 'a b', 'a\n']) {
    t.throws(() => new GatherdServerSession({ hostname }), { code: 'ERR_USAGE' });
  }
  t.throws(() => new GatherdServerSession({ hostname: 'h', version: '' }), { code: 'ERR_USAGE' });
});

t.test('the state tables allow only the transitions they name', async (t) => {
  t.equal(nextState(SERVER_STATES, 'ready', 'send'), 'sending');
  t.throws(() => nextState(SERVER_STATES, 'closed', 'send'), { code: 'ERR_STATE' });
  t.throws(() => nextState(CLIENT_STATES, 'lines', 'trailer'), { code: 'ERR_STATE' });
  const session = new GatherdServerSession({ hostname: 'h' });
  t.throws(() => session.updateDone(1), { code: 'ERR_STATE' });
});

// ---------------------------------------------------------------- the client, with its inflate stream in memory

/** Runs a client session over given bytes and logs its events. */
class ClientRig {
  readonly session = new GatherdClientSession();
  readonly log: string[] = [];
  data = '';
  #member: Buffer[] = [];

  feed(input: Uint8Array, size = Math.max(input.length, 1)): this {
    for (let at = 0; at < input.length; at += size)
      this.take(this.session.push(input.subarray(at, at + size)));
    return this;
  }

  end(): this {
    this.take(this.session.end());
    return this;
  }

  take(events: readonly GatherdClientEvent[]): void {
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

  /** Tries after every chunk whether the deflate data is complete: slow, and independent of streams. */
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
    this.take(this.session.inflated(output));
    this.take(this.session.inflateEnd(input.subarray(used), crc32(output), output.length));
  }
}

const MEMBER = text(gzipSync(bytes(STREAM)));
const OBJECTS = ['update http://a.example/', 'update http://b.example/', 'update-end'];
const HELLO = `${GREETING}100 - HELLO c\n`;

type Send = (session: GatherdClientSession) => void;
const update: Send = (session) => {
  session.hello('c');
  session.sendUpdate(0);
};
const compressedUpdate: Send = (session) => {
  session.hello('c');
  session.setCompression();
  session.sendUpdate(0);
};
const changes: Send = (session) => {
  session.hello('c');
  session.setChanges();
  session.sendUpdate(0);
};
const info: Send = (session) => {
  session.hello('c');
  session.info();
};
const infoTwice: Send = (session) => {
  info(session);
  session.quit();
};
const object: Send = (session) => {
  session.hello('c');
  session.sendObject('http://a.example/');
};

const G = ['greeting 1.8 gatherer.example.org', 'hello true'];

/** The client's requests, the server's bytes, and the client's events (with or without an end). */
const RECEIVED: readonly (readonly [
  name: string,
  send: Send,
  server: string,
  log: string[],
  eof: boolean,
])[] = [
  [
    'GATHERD-3.7 an end line inside a value ends nothing',
    update,
    `${HELLO}400 - x\n${STREAM}499 - Sent 2 objects\n`,
    [...G, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.5, 1.6 CR LF and unknown texts',
    update,
    `000 - HELLO 1.8 gatherer.example.org and more\r\n100 -\r\n400 - \r\n${STREAM}499 - \r\n`,
    [...G, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.7 lines without meaning',
    update,
    `what?\n${GREETING}\n12 - x\n100 - HELLO\n450 - wait\nxyz\n400 - x\n${STREAM}499 - x\n`,
    [...G, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-3.3 099 ends an update, too',
    update,
    `${HELLO}400 - x\n${STREAM}099 - done\n`,
    [...G, ...OBJECTS],
    false,
  ],
  ['GATHERD-4.5 an empty update', update, `${HELLO}400 - x\n${EMPTY}499 - x\n`, [...G, 'update-end'], false],
  [
    'an update without wrappers',
    update,
    `${HELLO}400 - x\n${ONE}${TRAP}499 - x\n`,
    [...G, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.3 compressed',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${MEMBER}499 - x\n`,
    [...G, 'compression true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.5 the server closes instead of 499',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${MEMBER}`,
    [...G, 'compression true', ...OBJECTS],
    true,
  ],
  [
    'GATHERD-6.6 two members',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${text(gzipSync(bytes(STREAM.slice(0, 70))))}${text(gzipSync(bytes(STREAM.slice(70))))}499 - x\n`,
    [...G, 'compression true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.9 compression declined',
    compressedUpdate,
    `${HELLO}900 - Compression not available\n400 - x\n${STREAM}499 - x\n`,
    [...G, 'compression false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11 SET changes accepted',
    changes,
    `${HELLO}500 - x\n400 - x\n${STREAM}499 - x\n`,
    [...G, 'changes true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11 SET changes declined',
    changes,
    `${HELLO}900 - x\n400 - x\n${STREAM}499 - x\n`,
    [...G, 'changes false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11 SET changes not answered at all',
    changes,
    `${HELLO}400 - x\n${STREAM}499 - x\n`,
    [...G, 'changes false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-3.6 INFO: object, then 600',
    infoTwice,
    `${HELLO}${INFO}600 - x\n999 - x\n`,
    [...G, 'object -', 'info-end true', 'bye'],
    false,
  ],
  [
    'GATHERD-3.6 INFO: 600, then object',
    infoTwice,
    `${HELLO}600 - x\n${INFO}999 - x\n`,
    [...G, 'object -', 'info-end true', 'bye'],
    false,
  ],
  [
    'GATHERD-3.6 INFO: 600, object, 699',
    infoTwice,
    `${HELLO}600 - x\n${INFO}699 - x\n999 - x\n`,
    [...G, 'object -', 'info-end true', 'bye'],
    false,
  ],
  ['GATHERD-3.6 INFO: only the object', info, `${HELLO}${INFO}`, [...G, 'object -', 'info-end true'], true],
  [
    'INFO unknown to the server',
    infoTwice,
    `${HELLO}900 - x\n999 - x\n`,
    [...G, 'info-end false', 'bye'],
    false,
  ],
  [
    'GATHERD-5.2 a bare object',
    object,
    `${HELLO}300 - x\n${ONE}399 - x\n`,
    [...G, 'object http://a.example/', 'object-end true'],
    false,
  ],
  ['GATHERD-3.8 no such object', object, `${HELLO}399 - No such object\n`, [...G, 'object-end false'], false],
  [
    'HELLO not understood',
    object,
    `${GREETING}900 - x\n399 - x\n`,
    ['greeting 1.8 gatherer.example.org', 'hello false', 'object-end false'],
    false,
  ],
];

for (const [name, send, server, log, eof] of RECEIVED) {
  t.test(`client: ${name}`, async (t) => {
    const input = bytes(server);
    for (let cut = 0; cut <= input.length; cut++) {
      const rig = new ClientRig();
      send(rig.session);
      rig.feed(input.subarray(0, cut)).feed(input.subarray(cut));
      if (eof) rig.end();
      if (rig.log.join() !== log.join()) {
        t.same(rig.log, log, `cut at ${cut}`);
        return;
      }
    }
    const rig = new ClientRig();
    send(rig.session);
    rig.feed(input, 1);
    if (eof) rig.end();
    t.same(rig.log, log, 'byte by byte');
  });
}

t.test('client: an update as bytes is exactly the stream, wherever it is cut', async (t) => {
  for (const [answer, body] of [
    ['900 - no\n', `${STREAM}499 - Sent 2 objects\n999 - Bye\n`],
    ['500 - yes\n', `${MEMBER}499 - Sent 2 objects\n999 - Bye\n`],
  ] as const) {
    const input = bytes(`${GREETING}${answer}400 - x\n${body}`);
    for (let size = 1; size <= input.length; size++) {
      const rig = new ClientRig();
      rig.session.setCompression();
      rig.session.sendUpdate(0, 'bytes');
      rig.session.quit();
      rig.feed(input, size);
      if (rig.data !== STREAM) {
        t.equal(rig.data, STREAM, `cuts of ${size}`);
        return;
      }
      if (rig.log.at(-1) !== 'bye') {
        t.same(rig.log, [], `cuts of ${size}`);
        return;
      }
    }
  }
});

t.test('client: a refusal is a PeerError', async (t) => {
  const cases: readonly (readonly [name: string, send: Send, server: string, status: number])[] = [
    ['GATHERD-3.10 access denied', update, '999 - Access denied\n', 999],
    ['a Broker answers', update, '200 - Harvest Broker\n', 200],
    ['GATHERD-3.9 bad time stamp', update, `${HELLO}499 - Bad timestamp\n`, 499],
    ['SEND-UPDATE not understood', update, `${HELLO}900 - Unknown command\n`, 900],
    ['broken off by the server', update, `${HELLO}400 - x\n@DELETE {\n}\n900 - disk error\n`, 900],
    ['SEND-OBJECT not understood', object, `${HELLO}900 - Unknown command\n`, 900],
    ['GATHERD-3.1 session ended', update, `${HELLO}999 - Bye\n`, 999],
  ];
  for (const [name, send, server, status] of cases) {
    const rig = new ClientRig();
    send(rig.session);
    t.throws(() => rig.feed(bytes(server), 7), { code: 'ERR_PEER', status }, name);
    t.equal(rig.session.state, 'closed');
  }
});

t.test('client: an early close is a ConnectionError', async (t) => {
  const cut = (whole: string) => whole.slice(0, -5);
  const cases: readonly (readonly [name: string, send: Send, server: string])[] = [
    ['no greeting', update, ''],
    ['no answer to HELLO', update, GREETING],
    ['no 400', update, HELLO],
    ['GATHERD-3.11 no end line', update, `${HELLO}400 - x\n${STREAM}`],
    ['inside an object', update, `${HELLO}400 - x\n${STREAM.slice(0, 80)}`],
    ['GATHERD-6.5 gzip header', compressedUpdate, `${HELLO}500 - x\n400 - x\n${MEMBER.slice(0, 5)}`],
    ['GATHERD-6.5 deflate data', compressedUpdate, `${HELLO}500 - x\n400 - x\n${MEMBER.slice(0, 50)}`],
    ['GATHERD-6.5 gzip trailer', compressedUpdate, `${HELLO}500 - x\n400 - x\n${cut(MEMBER)}`],
    ['object', object, `${HELLO}300 - x\n${cut(ONE)}`],
    ['GATHERD-3.8 no 399', object, `${HELLO}300 - x\n${ONE}`],
    ['description', info, `${HELLO}600 - x\n`],
  ];
  for (const [name, send, server] of cases) {
    const rig = new ClientRig();
    send(rig.session);
    rig.feed(bytes(server));
    t.throws(() => rig.end(), { code: 'ERR_CONNECTION' }, name);
  }
  const rig = new ClientRig();
  rig.session.quit();
  rig.feed(bytes(GREETING)).end().end();
  t.equal(rig.log.at(-1), 'bye', 'GATHERD-7.3 after QUIT closing is as good as 999');
});

t.test('client: a protocol violation is a ProtocolError', async (t) => {
  const flip = (data: string, at: number) => {
    const copy = bytes(data);
    copy[copy.length + at] = (copy[copy.length + at] ?? 0) ^ 1;
    return text(copy);
  };
  const cases: readonly (readonly [name: string, send: Send, server: string, rule: string])[] = [
    ['endless line', update, 'x'.repeat(9000), 'GATHERD-1.6'],
    ['endless chatter', update, `${GREETING}${'bla\n'.repeat(300_000)}`, 'GATHERD-1.7'],
    ['greeting without HELLO', update, '000 - hi\n', 'GATHERD-3.1'],
    ['not gzip', compressedUpdate, `${HELLO}500 - x\n400 - x\n${STREAM}`, 'GATHERD-6.6'],
    ['wrong checksum', compressedUpdate, `${HELLO}500 - x\n400 - x\n${flip(MEMBER, -8)}`, 'GATHERD-6.6'],
    ['wrong length', compressedUpdate, `${HELLO}500 - x\n400 - x\n${flip(MEMBER, -4)}`, 'GATHERD-6.6'],
  ];
  for (const [name, send, server, rule] of cases) {
    const rig = new ClientRig();
    send(rig.session);
    t.throws(() => rig.feed(bytes(server)), { code: 'ERR_PROTOCOL', rule, protocol: 'gatherd' }, name);
  }
});

t.test('client: a call that is not allowed now is a StateError, a wrong argument a RangeError', async (t) => {
  const session = new GatherdClientSession();
  t.equal(text(session.hello('c.example')), 'HELLO c.example\n');
  t.throws(() => session.hello('c'), { code: 'ERR_STATE' });
  t.throws(() => session.sendUpdate(-1), RangeError);
  t.throws(() => session.sendUpdate(1.5), RangeError);
  t.throws(() => session.sendObject('http://a/\nQUIT'), { code: 'ERR_USAGE' });
  t.throws(() => session.inflated(bytes('x')), { code: 'ERR_STATE' });
  t.throws(() => session.inflateEnd(bytes('x'), 0, 0), { code: 'ERR_STATE' });
  t.equal(text(session.quit()), 'QUIT\n');
  t.throws(() => session.info(), { code: 'ERR_STATE' });
});

t.test('both engines, joined in memory and cut anywhere', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (compress, cuts) => {
          const server = new ServerRig();
          const client = new ClientRig();
          let commands = [client.session.hello('c')];
          if (compress) commands.push(client.session.setCompression());
          commands = [
            ...commands,
            client.session.setChanges(),
            client.session.sendUpdate(3),
            client.session.info(),
            client.session.sendObject('http://a.example/'),
            client.session.quit(),
          ];
          server.start().feed(Buffer.concat(commands), cuts[0]);
          let at = 0;
          for (let i = 0; at < server.output.length; i++) {
            const size = cuts[i % cuts.length] ?? 1;
            client.feed(bytes(server.output.slice(at, at + size)));
            at += size;
          }
          return (
            server.closed &&
            client.log.join(';') ===
              [
                ...G.slice(0, 1),
                'hello true',
                ...(compress ? ['compression true'] : []),
                'changes true',
                ...OBJECTS,
                'object -',
                'info-end true',
                'object http://a.example/',
                'object-end true',
                'bye',
              ].join(';')
          );
        },
      ),
      { numRuns: 100 },
    ),
  );
});

t.test('garbage: the server answers or ignores, the client throws only errors of the kit', async (t) => {
  const word = fc.constantFrom(
    'HELLO',
    'SEND-UPDATE',
    'SEND-OBJECT',
    'SET',
    'compression',
    'changes',
    'INFO',
    'QUIT',
    'HELP',
    ' ',
    '\n',
    '\r\n',
    '0',
    '000 - HELLO 1 h\n',
    '100 - x\n',
    '300 - x\n',
    '399 - x\n',
    '400 - x\n',
    '499 - x\n',
    '500 - x\n',
    '600 - x\n',
    '999 - x\n',
    STREAM,
    ONE,
    INFO,
    MEMBER,
    '@UPDATE {',
    '}\n',
    '\x1f\x8b\x08\x00',
  );
  const mix = fc
    .array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 12 })
    .map((parts) => bytes(parts.join('')));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(mix, fc.integer({ min: 1, max: 50 }), (input, size) => {
        const rig = new ServerRig().start().feed(input, size);
        rig.perform(rig.session.end());
        return rig.closed;
      }),
      { numRuns: 200 },
    ),
  );
  for (const send of [update, compressedUpdate, changes, infoTwice, object]) {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(mix, fc.integer({ min: 1, max: 50 }), fc.boolean(), (input, size, greeted) => {
          const rig = new ClientRig();
          send(rig.session);
          try {
            if (greeted) rig.feed(bytes(HELLO));
            rig.feed(input, size).end();
          } catch (error) {
            if (!(error instanceof KitError) || error.code === 'ERR_STATE') throw error;
          }
        }),
        { numRuns: 60 },
      ),
    );
  }
});

t.test('corpus: only errors of the kit are thrown', async (t) => {
  const corpus = new URL('test/fuzz/corpus/gatherd/', import.meta.resolve('#package.json'));
  const files = await readdir(corpus);
  t.ok(files.length > 0);
  for (const file of files) {
    const input = await readFile(new URL(file, corpus));
    const outcomes = new Set<string>();
    for (const size of [input.length, 1, 7]) {
      if (file.startsWith('client-')) {
        const rig = new ServerRig().start().feed(input, size);
        rig.perform(rig.session.end());
        outcomes.add(rig.output);
      }
      for (const send of [update, compressedUpdate, infoTwice, object]) {
        const rig = new ClientRig();
        send(rig.session);
        try {
          rig.feed(input, size).end();
        } catch (error) {
          if (!(error instanceof KitError) || error.code === 'ERR_STATE') throw error;
        }
      }
    }
    t.ok(outcomes.size <= 1, `${file}: chunk boundaries do not matter`);
  }
});

t.test('the state tables in the README are those of the code', async (t) => {
  const file = new URL('protocols/gatherd/README.md', import.meta.resolve('#package.json'));
  const readme = (await readFile(file, 'utf8')).replace(/ +/g, ' ');
  const row = (state: string, steps: Readonly<Record<string, string>>, hidden: string) =>
    `| ${state} | ${Object.entries(steps)
      .filter(([step]) => step !== hidden)
      .map(([step, next]) => `${step} -> ${next}`)
      .join(', ')} |`;
  for (const [state, steps] of Object.entries(SERVER_STATES)) {
    if (state !== 'closed') t.ok(readme.includes(row(state, steps, '')), row(state, steps, ''));
  }
  for (const [state, steps] of Object.entries(CLIENT_STATES)) {
    if (state !== 'closed') t.ok(readme.includes(row(state, steps, 'close')), row(state, steps, 'close'));
  }
});

// ---------------------------------------------------------------- pieces

t.test('GATHERD-2.2, 2.3 commands', async (t) => {
  t.same(parseCommand('SEND-OBJECT http://a.example/a b '), { kind: 'object', oid: 'http://a.example/a b' });
  t.same(parseCommand('\tset\tCHANGES'), { kind: 'set', option: 'changes' });
  t.same(parseCommand('send-update 000'), { kind: 'update', since: 0 });
  t.equal(parseCommand(' \t'), undefined);
  t.same(parseCommand(`x${' '.repeat(8000)}y`), { kind: 'unknown', verb: 'x' });
});

t.test('GATHERD-1.6 status lines', async (t) => {
  t.same(parseStatusLine('499 - Sent 2 objects'), { code: 499, text: 'Sent 2 objects' });
  t.same(parseStatusLine('099 -'), { code: 99, text: '' });
  for (const line of ['', '49 - x', '4999 - x', '499', '499 x', '499  - x', ' 499 - x', 'abc - x']) {
    t.equal(parseStatusLine(line), undefined, line);
  }
  t.equal(new Set(Object.values(GATHERD_CODES)).size, Object.keys(GATHERD_CODES).length);
});

t.test('GATHERD-6.7 gzip headers with every field, cut anywhere', async (t) => {
  const crc16 = (header: string) => {
    const sum = crc32(bytes(header)) & 0xffff;
    return String.fromCharCode(sum & 0xff, sum >> 8);
  };
  const fixed = (flags: number) => `\x1f\x8b\x08${String.fromCharCode(flags)}\x01\x02\x03\x04\x00\x03`;
  const all = `${fixed(0x1f)}\x03\x00abcname\x00comment\x00`;
  const headers = [
    text(GZIP_HEADER),
    fixed(0x01),
    `${fixed(0x04)}\x00\x00`,
    `${fixed(0x04)}\x04\x00wxyz`,
    `${fixed(0x08)}\x00`,
    `${fixed(0x08)}name\x00`,
    `${fixed(0x10)}comment\x00`,
    `${fixed(0x0c)}\x01\x00ename\x00`,
    `${fixed(0x02)}${crc16(fixed(0x02))}`,
    `${all}${crc16(all)}`,
  ];
  for (const header of headers) {
    for (let size = 1; size <= header.length + 4; size++) {
      const reader = new GzipHeaderReader();
      const input = bytes(`${header}DATA`);
      let rest = '';
      for (let at = 0; at < input.length; at += size)
        rest += text(reader.push(input.subarray(at, at + size)));
      if (!reader.done || rest !== 'DATA') {
        t.fail(`${JSON.stringify(header)} in cuts of ${size}: ${rest}`);
        return;
      }
    }
  }
  const bad = ['\x1f\x8c\x08\x00', 'PK', `\x1f\x8b\x07`, fixed(0x20), fixed(0x80), `${fixed(0x02)}\x00\x00`];
  for (const header of bad) {
    const input = bytes(header.padEnd(12, '\x00'));
    t.throws(() => new GzipHeaderReader().push(input), { code: 'ERR_PROTOCOL' }, JSON.stringify(header));
  }
  t.throws(() => new GzipHeaderReader(100).push(bytes(`${fixed(0x08)}${'n'.repeat(200)}`)), {
    code: 'ERR_PROTOCOL',
  });
  const one = new GzipHeaderReader(50_000);
  const name = bytes(`${fixed(0x08)}${'n'.repeat(40_000)}\x00`);
  for (const byte of name) one.push(Uint8Array.of(byte));
  t.ok(one.done, 'a long name byte by byte');
});

t.test('GATHERD-6.3 header, deflate data and trailer make a member that gzip accepts', async (t) => {
  const content = bytes(STREAM);
  const member = Buffer.concat([
    GZIP_HEADER,
    deflateRawSync(content),
    encodeGzipTrailer(crc32(content), content.length),
  ]);
  t.equal(text(gunzipSync(member)), STREAM);
  t.equal(headerCrc32(bytes('123456789')), 0xcbf43926);
  const trailer = new GzipTrailerReader();
  t.equal(text(trailer.push(encodeGzipTrailer(1, 2 ** 32 + 5))), '');
  t.doesNotThrow(() => trailer.check(1, 5), 'the length is stored modulo 2^32');
});
