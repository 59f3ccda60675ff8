// Tests the gatherd engine of the client with answers that are cut anywhere.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { GatherdClientSession } from '../../../protocols/gatherd/index.js';
import {
  bytes,
  ClientRig,
  changes,
  compressedUpdate,
  EMPTY,
  GREETED,
  GREETING,
  HELLO,
  INFO,
  info,
  infoAndQuit,
  MEMBER,
  OBJECTS,
  ONE,
  object,
  type Send,
  STREAM,
  TRAP,
  text,
  update,
} from './rigs.js';

/** A stream that breaks off within a value. */
const CUT = STREAM.slice(0, -12);

/**
 * The requests of the client, the bytes of the server, and the events of the client; `eof` closes the
 * connection.
 */
const RECEIVED: readonly (readonly [
  name: string,
  send: Send,
  server: string,
  log: string[],
  eof: boolean,
])[] = [
  [
    'GATHERD-3.7: an end line inside a value is data',
    update,
    `${HELLO}400 - x\n${STREAM}499 - Sent 2 objects\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.5, 1.6: CR LF and unknown texts',
    update,
    `000 - HELLO 1.8 gatherer.example.org and more\r\n100 -\r\n400 - \r\n${STREAM}499 - \r\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.7: lines without meaning',
    update,
    `what?\n${GREETING}\n12 - x\n100 - HELLO\n450 - wait\nxyz\n400 - x\n${STREAM}499 - x\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.7: lines before the greeting',
    update,
    `Welcome\n\n220 ready\n${HELLO}400 - x\n${STREAM}499 - x\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-1.7, 3.13: unknown numbers before the answer to SET',
    compressedUpdate,
    `${HELLO}123 - x\n250 - x\n399 - x\n650 - x\n750 - x\n500 - x\n400 - x\n${MEMBER}499 - x\n`,
    [...GREETED, 'compression true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-3.7: the end line closes a group that is open',
    update,
    `${HELLO}400 - x\n@UPDATE {\n${ONE}499 - x\n`,
    [...GREETED, OBJECTS[0] ?? '', 'warning GATHERD-3.7', 'update-end'],
    false,
  ],
  [
    'GATHERD-3.11: a malformed object loses itself only',
    update,
    `${HELLO}400 - x\n@UPDATE {\n@FILE { http://x.example/\nTitle{x}:\ty\n}\n${ONE}}\n499 - x\n`,
    [...GREETED, 'warning SOIF-4.4', 'warning SOIF-4.5', OBJECTS[0] ?? '', 'update-end'],
    false,
  ],
  [
    'GATHERD-3.3: 099 ends an update too',
    update,
    `${HELLO}400 - x\n${STREAM}099 - done\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-4.5: an empty update',
    update,
    `${HELLO}400 - x\n${EMPTY}499 - x\n`,
    [...GREETED, 'update-end'],
    false,
  ],
  [
    'an update without wrappers',
    update,
    `${HELLO}400 - x\n${ONE}${TRAP}499 - x\n`,
    [...GREETED, ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.3: a compressed update',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${MEMBER}499 - x\n`,
    [...GREETED, 'compression true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.5: the server closes instead of 499',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${MEMBER}`,
    [...GREETED, 'compression true', ...OBJECTS],
    true,
  ],
  [
    'GATHERD-6.5: 499 after a member that ends within an object, which is lost',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${text(gzipSync(bytes(CUT)))}499 - x\n`,
    [
      ...GREETED,
      'compression true',
      OBJECTS[0] ?? '',
      'warning SOIF-4.4',
      'warning SOIF-4.5',
      'warning SOIF-8.9',
      'update-end',
    ],
    false,
  ],
  [
    'GATHERD-6.6: two members',
    compressedUpdate,
    `${HELLO}500 - x\n400 - x\n${text(gzipSync(bytes(STREAM.slice(0, 70))))}${text(gzipSync(bytes(STREAM.slice(70))))}499 - x\n`,
    [...GREETED, 'compression true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.9: compression declined',
    compressedUpdate,
    `${HELLO}900 - Compression not available\n400 - x\n${STREAM}499 - x\n`,
    [...GREETED, 'compression false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-3.13, 6.9: another number of the hundred of SET declines',
    compressedUpdate,
    `${HELLO}599 - no gzip here\n400 - x\n${STREAM}499 - x\n`,
    [...GREETED, 'compression false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11: SET changes accepted',
    changes,
    `${HELLO}500 - x\n400 - x\n${STREAM}499 - x\n`,
    [...GREETED, 'changes true', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11: SET changes declined',
    changes,
    `${HELLO}900 - x\n400 - x\n${STREAM}499 - x\n`,
    [...GREETED, 'changes false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-6.11: SET changes not answered',
    changes,
    `${HELLO}400 - x\n${STREAM}499 - x\n`,
    [...GREETED, 'changes false', ...OBJECTS],
    false,
  ],
  [
    'GATHERD-3.6: INFO: object, then 600',
    infoAndQuit,
    `${HELLO}${INFO}600 - x\n999 - x\n`,
    [...GREETED, 'object -', 'info-end true', 'bye'],
    false,
  ],
  [
    'GATHERD-3.6: INFO: 600, then object',
    infoAndQuit,
    `${HELLO}600 - x\n${INFO}999 - x\n`,
    [...GREETED, 'object -', 'info-end true', 'bye'],
    false,
  ],
  [
    'GATHERD-3.6: INFO: 600, object, 699',
    infoAndQuit,
    `${HELLO}600 - x\n${INFO}699 - x\n999 - x\n`,
    [...GREETED, 'object -', 'info-end true', 'bye'],
    false,
  ],
  [
    'GATHERD-3.6: INFO: only the object',
    info,
    `${HELLO}${INFO}`,
    [...GREETED, 'object -', 'info-end true'],
    true,
  ],
  [
    'GATHERD-3.6: INFO: no description',
    infoAndQuit,
    `${HELLO}699 - x\n999 - x\n`,
    [...GREETED, 'info-end false', 'bye'],
    false,
  ],
  [
    'GATHERD-3.13: INFO: a malformed description is no description',
    infoAndQuit,
    `${HELLO}@GATHERER { -\nTitle{x}:\ty\n}\n600 - x\n999 - x\n`,
    [...GREETED, 'info-end false', 'bye'],
    false,
  ],
  [
    'INFO unknown to the server',
    infoAndQuit,
    `${HELLO}900 - x\n999 - x\n`,
    [...GREETED, 'info-end false', 'bye'],
    false,
  ],
  [
    'GATHERD-5.2: a bare object',
    object,
    `${HELLO}300 - x\n${ONE}399 - x\n`,
    [...GREETED, 'object http://a.example/', 'object-end true'],
    false,
  ],
  [
    'GATHERD-3.8: no such object',
    object,
    `${HELLO}399 - No such object\n`,
    [...GREETED, 'object-end false'],
    false,
  ],
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

t.test('client: the bytes of an update are exactly the stream, wherever the input is cut', async (t) => {
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
    ['GATHERD-3.10: access denied', update, '999 - Access denied\n', 999],
    ['a Broker answers', update, '200 - Harvest Broker\n', 200],
    ['GATHERD-3.9: bad time stamp', update, `${HELLO}499 - Bad timestamp\n`, 499],
    ['SEND-UPDATE not understood', update, `${HELLO}900 - Unknown command\n`, 900],
    ['aborted by the server', update, `${HELLO}400 - x\n@DELETE {\n}\n900 - disk error\n`, 900],
    [
      'GATHERD-6.5: aborted after a member',
      compressedUpdate,
      `${HELLO}500 - x\n400 - x\n${MEMBER}900 - x\n`,
      900,
    ],
    ['GATHERD-6.5: another number', compressedUpdate, `${HELLO}500 - x\n400 - x\n${MEMBER}\n450 - x\n`, 450],
    ['SEND-OBJECT not understood', object, `${HELLO}900 - Unknown command\n`, 900],
    ['GATHERD-3.1: session ended', update, `${HELLO}999 - Bye\n`, 999],
  ];
  for (const [name, send, server, status] of cases) {
    const rig = new ClientRig();
    send(rig.session);
    t.throws(() => rig.feed(bytes(server), 7), { code: 'ERR_PEER', status }, name);
    t.equal(rig.session.state, 'closed');
  }
});

/** The size says that the last lines belong to the value. */
const FORGED = '@UPDATE {\n@FILE { u\nbody{99}:\tx\n}\n}\n499 - Sent 1 objects\n';

t.test('client: an early close is a ConnectionError', async (t) => {
  const cut = (whole: string) => whole.slice(0, -5);
  const cases: readonly (readonly [name: string, send: Send, server: string])[] = [
    ['no greeting', update, ''],
    ['no answer to HELLO', update, GREETING],
    ['no 400', update, HELLO],
    ['GATHERD-3.11: no end line', update, `${HELLO}400 - x\n${STREAM}`],
    ['inside an object', update, `${HELLO}400 - x\n${STREAM.slice(0, 80)}`],
    ['GATHERD-3.11: inside the number', update, `${HELLO}400 - x\n${STREAM}49`],
    ['GATHERD-3.11: inside the end line', update, `${HELLO}400 - x\n${STREAM}499 - Sent 1 obj`],
    ['GATHERD-3.11: inside a value with a line like the end line', update, `${HELLO}400 - x\n${FORGED}`],
    ['GATHERD-6.5: gzip header', compressedUpdate, `${HELLO}500 - x\n400 - x\n${MEMBER.slice(0, 5)}`],
    ['GATHERD-6.5: deflate data', compressedUpdate, `${HELLO}500 - x\n400 - x\n${MEMBER.slice(0, 50)}`],
    ['GATHERD-6.5: gzip trailer', compressedUpdate, `${HELLO}500 - x\n400 - x\n${cut(MEMBER)}`],
    [
      'GATHERD-6.5: a member that ends within an object',
      compressedUpdate,
      `${HELLO}500 - x\n400 - x\n${text(gzipSync(bytes(CUT)))}`,
    ],
    [
      'GATHERD-6.5: a member that ends within a group',
      compressedUpdate,
      `${HELLO}500 - x\n400 - x\n${text(gzipSync(bytes(STREAM.slice(0, -2))))}`,
    ],
    [
      'GATHERD-6.5: the same as bytes',
      (session) => {
        session.setCompression();
        session.sendUpdate(0, 'bytes');
      },
      `${GREETING}500 - x\n400 - x\n${text(gzipSync(bytes(CUT)))}`,
    ],
    ['object', object, `${HELLO}300 - x\n${cut(ONE)}`],
    ['GATHERD-3.8: no 399', object, `${HELLO}300 - x\n${ONE}`],
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
  t.equal(rig.log.at(-1), 'bye', 'GATHERD-7.3: after QUIT a close is equivalent to 999');
});

t.test('client: a protocol violation is a ProtocolError', async (t) => {
  const flip = (data: string, offsetFromEnd: number) => {
    const copy = bytes(data);
    copy[copy.length + offsetFromEnd] = (copy[copy.length + offsetFromEnd] ?? 0) ^ 1;
    return text(copy);
  };
  const cases: readonly (readonly [name: string, send: Send, server: string, rule: string])[] = [
    ['endless line', update, 'x'.repeat(9000), 'GATHERD-1.6'],
    ['endless chatter', update, `${GREETING}${'bla\n'.repeat(300_000)}`, 'GATHERD-1.7'],
    ['greeting without HELLO', update, '000 - hi\n', 'GATHERD-3.1'],
    ['not gzip', compressedUpdate, `${HELLO}500 - x\n400 - x\n${STREAM}`, 'GATHERD-6.5'],
    ['wrong checksum', compressedUpdate, `${HELLO}500 - x\n400 - x\n${flip(MEMBER, -8)}`, 'GATHERD-6.5'],
    ['wrong length', compressedUpdate, `${HELLO}500 - x\n400 - x\n${flip(MEMBER, -4)}`, 'GATHERD-6.5'],
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
