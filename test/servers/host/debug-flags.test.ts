// Debug flags (-D), the lines that they switch on, and traced connections.
import t from 'tap';
import { UsageError } from '../../../protocols/errors.js';
import {
  createDebug,
  createLoggerOn,
  DebugFlags,
  FairShare,
  type HostConnection,
  traceConnection,
} from '../../../servers/host/index.js';

t.test('GATHERD-12.5, G-149, G-151: debug flags select sections and levels; bad ones are refused', (t) => {
  const cases: [
    options: string[],
    environment: string,
    shown: [number, number][],
    hidden: [number, number][],
  ][] = [
    [[], '', [], [[69, 1]]],
    [
      ['-D69,5'],
      '',
      [
        [69, 1],
        [69, 5],
      ],
      [
        [69, 6],
        [70, 1],
      ],
    ],
    [['69,5'], '', [[69, 5]], [[69, 6]]],
    [['-D69'], '', [[69, 9]], [[68, 1]]],
    [
      ['-D68,5 -D44,1'],
      '',
      [
        [68, 5],
        [44, 1],
      ],
      [[44, 2]],
    ],
    [
      ['-D1,1', '-D255,9'],
      '',
      [
        [1, 1],
        [255, 9],
      ],
      [],
    ],
    [
      [],
      '-D20,1 -D23,1 -D63,1',
      [
        [20, 1],
        [63, 1],
      ],
      [[20, 2]],
    ],
    [['-D20,3'], '-D20,9', [[20, 3]], [[20, 4]]],
    [
      [],
      'yes -D999,1 -D20,0 69,9 -D21,1',
      [[21, 1]],
      [
        [20, 1],
        [69, 1],
      ],
    ],
  ];
  for (const [options, environment, shown, hidden] of cases) {
    const flags = DebugFlags.parse(options, environment);
    const name = `${options.join(' ')} | ${environment}`;
    for (const [section, level] of shown) t.ok(flags.shows(section, level), `${name}: ${section},${level}`);
    for (const [section, level] of hidden)
      t.notOk(flags.shows(section, level), `${name}: not ${section},${level}`);
    t.equal(flags.any, shown.length > 0);
  }
  for (const bad of ['-D', '-D0,1', '-D256,1', '-D69,0', '-D69,10', '-D69,', '-Dx', '-D6 9,x', '--D69'])
    t.throws(() => DebugFlags.parse([bad]), UsageError, bad);
  t.end();
});

t.test('GATHERD-12.5: a debug line is written if its section is on, and not computed otherwise', (t) => {
  const lines: string[] = [];
  const log = createLoggerOn(
    { write: (line) => void lines.push(line) },
    { json: false, program: 'gatherd', level: 'debug' },
  );
  const debug = createDebug(DebugFlags.parse(['-D69,5']), log);
  debug(69, 5, 'plain');
  debug(69, 1, () => 'made');
  debug(69, 9, () => {
    throw new Error('this line must not be computed');
  });
  t.equal(lines.length, 2);
  t.match(lines[0], /^gatherd: \d{6} \d\d:\d\d:\d\d: \[69,5\] plain\n$/);
  t.match(lines[1], /\[69,1\] made\n$/);
  t.same([debug.shows(69, 5), debug.shows(69, 6)], [true, false]);
  t.end();
});

t.test('a traced connection logs the start of each chunk printably, and passes the chunk on', async (t) => {
  const written: Uint8Array[] = [];
  const ended: string[] = [];
  const plain: HostConnection = {
    peer: { address: '192.0.2.7', port: 1, name: async () => undefined },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    share: new FairShare().join(),
    signal: new AbortController().signal,
    async *chunks() {
      yield Buffer.from('HELP\r\n');
    },
    async write(bytes) {
      written.push(bytes);
    },
    deliver(bytes) {
      return this.write(bytes);
    },
    pollEnd: () => false,
    watchEnd: () => undefined,
    async end() {
      ended.push('end');
    },
    destroy: () => void ended.push('destroy'),
  };
  const lines: string[] = [];
  const traced = traceConnection(plain, (text) => void lines.push(text()));
  const received: string[] = [];
  for await (const chunk of traced.chunks()) received.push(Buffer.from(chunk).toString());
  const long = Buffer.alloc(200, 'x');
  await traced.write(long);
  await traced.deliver(Buffer.from('\0'));
  await traced.end();
  traced.destroy();
  t.same(received, ['HELP\r\n']);
  t.equal(written[0], long);
  t.same(ended, ['end', 'destroy']);
  t.equal(lines[0], '192.0.2.7: received 6 bytes: "HELP\\r\\n"');
  t.equal(lines[1], `192.0.2.7: sends 200 bytes: "${'x'.repeat(96)}"...`);
  t.equal(lines[2], '192.0.2.7: sends 1 bytes: "\\u0000"');
});
