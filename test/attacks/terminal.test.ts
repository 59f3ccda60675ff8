// Documents and servers whose text contains control sequences of terminals; and errors that hide other errors.
// Commands run on a real pseudo-terminal, by script(1).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import t from 'tap';
import { ConnectionError, errorsIn, messageOf, StorageError, UsageError } from '../../protocols/errors.js';
import { AllInOne, configFromRoots } from '../../servers/all-in-one/index.js';
import { EventLog } from '../../servers/broker/admin/event-log.js';
import { EXIT, exitStatusOf, isExpected } from '../../servers/cli/output/exit.js';
import { printableJson, TerminalText } from '../../servers/cli/output/printable.js';
import { escapeField, quoted as quotedField } from '../../servers/crawler/logs/line-fields.js';
import { createLoggerOn, openLog } from '../../servers/host/index.js';
import { LEVEL } from '../../servers/refererd/level.js';
import { FileLog } from '../../servers/refererd/log.js';
import { PROGRAM } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { document, NOW, openBroker, ScriptedGatherd, serveBroker } from '../servers/broker/helpers.js';

/** A folder to gather. */
const DOCUMENTS = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test', 'attacks');
const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const NEEDS_SCRIPT = { skip: !HAS_SCRIPT && 'script(1) is missing' };

/**
 * Sets the title, colors, moves the cursor, reports the terminal, in 7-bit, 8-bit and UTF-8 form; reorders
 * text.
 */
const EVIL = '\x1b]0;owned\x07\x1b[31m\x1b[6n\u009b5n\x9bA\u202egpj\x08\x7f\u200f';
const URL = 'http://h.example/x';

interface Ended {
  readonly status: number | null;
  readonly bytes: Buffer;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TERM: 'xterm' },
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, bytes: Buffer.concat(chunks) }));
  });
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
const onTerminal = (args: readonly string[]): Promise<Ended> =>
  run('script', ['-qec', [process.execPath, PROGRAM, ...args].map(quoted).join(' '), '/dev/null']);
const toPipe = (args: readonly string[]): Promise<Ended> => run(process.execPath, [PROGRAM, ...args]);

/** Whether a terminal would obey any of the bytes. */
function isHarmless(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  return (
    !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\p{Bidi_Control}/u.test(text) && !/\r(?!\n)/.test(text)
  );
}

/** The output without the program's own styles: bold and green, on and off. Text of others cannot begin one. */
function withoutStyle(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\x1b\[(?:1|22|32|39)m/g, ''), 'latin1');
}

t.test(
  'BRK-4.21, S-56: no command obeys control characters; pipes get the exact bytes',
  NEEDS_SCRIPT,
  async (t) => {
    const gatherd = await ScriptedGatherd.listen();
    t.teardown(() => gatherd.close());
    gatherd.documents = [
      {
        updateTime: NOW - 1000,
        text: document(URL, { Title: `wheat ${EVIL}`, 'URL-References': `http://h.example/${EVIL}` }),
      },
    ];
    const fixture = await openBroker(t, { points: [gatherd.point(0)] });
    await fixture.broker.collections.run();
    const server = await serveBroker(t, fixture);
    const broker = `127.0.0.1:${server.address.port}`;
    await using site = await Site.start({ '/x.txt': EVIL });
    const directory = await temporaryDirectory(t);
    const file = join(directory, 'objects.soif');
    writeFileSync(
      file,
      `${gatherd.documents[0]!.text}@FILE { http://h.example/${EVIL}\nTitle{5}:\tx\u009bA\n}\n`,
    );
    const evilServer = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`111 - ${EVIL}\n`);
    });
    const evilPort = await freePort();
    evilServer.listen(evilPort, '127.0.0.1');
    t.teardown(() => evilServer.close());

    // SSTP has no control octets of ASCII in a value (S-36); the page over HTTP is JSON.
    const values = EVIL.replace(/[\0-\x1f\x7f]/g, '');
    const page = JSON.stringify({
      view: 'to',
      found: 1,
      start: 0,
      results: [{ id: 1, url: `http://h/${EVIL}` }],
    });
    const references = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (request) =>
        socket.end(
          request.toString('latin1').startsWith('GET')
            ? `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${page}`
            : [
                ...[
                  'SSTP/1.0 008 X',
                  'HEADER_URI_ID: 1',
                  'HEADER_SERVER_ID: 1',
                  `HEADER_SERVER_PROTOCOL: x${values}`,
                ],
                ...[`HEADER_SERVER_NAME: x${values}`, 'HEADER_SERVER_PORT: 80', `HEADER_URI: /${values}`],
                ...['HEADER_URI_TIME: 0', 'HEADER_URL_CHECKTIME: 0', 'HEADER_URI_LEN: 0', '', ''],
              ].join('\r\n'),
        ),
      );
    });
    references.listen(0, '127.0.0.1');
    await once(references, 'listening');
    t.teardown(() => references.close());
    const { port: referencesPort } = references.address() as AddressInfo;
    const sstp = `127.0.0.1:${referencesPort}`;

    const commands: (readonly [args: readonly string[], raw: boolean])[] = [
      [['references', sstp, 'http://h/'], false],
      [['references', '--urls', '--json', sstp, 'http://h/'], false],
      [['references', '--describe', sstp, 'http://h/'], false],
      [['references', '--describe', '--json', sstp, 'http://h/'], false],
      [['bulk', broker], true],
      [['soif', 'cat', file], true],
      [['soif', 'cat', '--json', file], true],
      [['soif', 'convert', '--to', 'jsonl', file], true],
      [['print-attr', 'Title', file], true],
      [['print-template', '--no-print-time', file], true],
      [['brkclient', '127.0.0.1', String(server.address.port), '#USER #desc #END wheat'], true],
      [['urlget', '--no-cache', `${site.url}/x.txt`], true],
      [['query', broker, 'wheat'], false],
      [['brkclient', '127.0.0.1', String(evilPort), '#USER #END x'], true],
      [['query', `127.0.0.1:${evilPort}`, 'x'], false],
      [['gather', '127.0.0.1', String(evilPort)], false],
    ];
    for (const [args, hasRaw] of commands) {
      const name = args.join(' ').replace(directory, '').slice(0, 60);
      const shown = await onTerminal(args);
      t.ok(shown.bytes.length > 0, `${name}: something is shown`);
      t.ok(
        isHarmless(withoutStyle(shown.bytes)),
        `${name}: ${JSON.stringify(shown.bytes.toString('utf8')).slice(0, 200)}`,
      );
      if (!hasRaw) continue;
      t.match(shown.bytes.toString('utf8'), /\^\[|\\u001b|<U\+/, `${name}: it is visible`);
      const piped = await toPipe(args);
      t.ok(
        piped.bytes.includes(args.includes('--json') || args.includes('jsonl') ? '\u009b' : '\x1b'),
        `${name}: a pipe gets it unchanged`,
      );
      if (!['print-attr', 'urlget'].includes(args[0]!)) continue;
      const raw = await onTerminal([...args, '--raw']);
      t.ok(raw.bytes.includes(EVIL.slice(0, 20)), `${name}: --raw shows it unchanged`);
    }
  },
);

t.test('names and words neither control a terminal nor begin a line', NEEDS_SCRIPT, async (t) => {
  const directory = await temporaryDirectory(t);
  const names = [`x${EVIL}.txt`, 'y\nessence: forged.txt', 'z\u2028\u061c.gz'].map((name) =>
    join(directory, name.replaceAll('/', '_')),
  );
  for (const name of names) writeFileSync(name, '<title>wheat</title>');
  const commands: (readonly string[])[] = [
    ['essence', '--verbose', ...names],
    ['essence', '--explain', '--type-only', ...names],
    ['essence', '--json', '--verbose', ...names],
    [`frobnicate${EVIL}`],
    ['query', `--frobnicate${EVIL}`],
  ];
  for (const args of commands) {
    const name = args.join(' ').replaceAll(directory, '').slice(0, 60);
    const { bytes } = await onTerminal(args);
    t.ok(bytes.length > 0, `${name}: something is shown`);
    t.ok(isHarmless(bytes), `${name}: ${JSON.stringify(bytes.toString('utf8')).slice(0, 400)}`);
    t.notMatch(bytes.toString('utf8'), /^essence: forged/m, `${name}: no line is forged`);
  }
});

t.test('JSON on standard output and lines of logs have no controls and no marks of direction', (t) => {
  const value = { url: `http://h.example/${EVIL}\u2028` };
  const json = printableJson(value);
  t.same(JSON.parse(json), value, 'the value is the same');
  t.ok(isHarmless(Buffer.from(json)));
  const lines: string[] = [];
  const log = createLoggerOn({ write: (line) => void lines.push(line) }, { json: false, program: 'x' });
  log.info(`a${EVIL}\n991122 10:00:00: forged\u2028b`);
  t.equal(lines.length, 1);
  t.ok(isHarmless(Buffer.from(lines.join('').replace(/\n$/, ''))), String(lines[0]));
  t.notMatch(lines.join('').slice(0, -1), /\n/);
  t.end();
});

t.test('JSON lines of a log on standard error, the file, and every other log are harmless too', async (t) => {
  const directory = await temporaryDirectory(t);
  const text = `a${EVIL}\n20991122 10:00:00 Admin: forged\u2028\u0085b`;
  const file = join(directory, 'json.log');
  const opened = openLog({ program: 'x', json: true, file });
  opened.log.info({ url: `http://h.example/${text}`, err: new Error(text) }, text);
  await opened.flush();
  opened[Symbol.dispose]();
  using referer = new FileLog({ file: join(directory, 'referer.log'), progname: 'refererd', debuglevel: 99 });
  referer.write(LEVEL.notice, text);
  await referer.flush();
  using events = EventLog.open({
    directory,
    file: join(directory, 'broker.log'),
    types: ['Query'],
    now: () => NOW,
  });
  events.write('Query', text);
  await events.flush();
  for (const name of ['json.log', 'referer.log', 'broker.log']) {
    const bytes = readFileSync(join(directory, name));
    t.equal(bytes.toString().split('\n').length, 2, `${name} has one line`);
    t.ok(isHarmless(bytes), `${name}: ${JSON.stringify(bytes.toString())}`);
  }
  const record: unknown = JSON.parse(readFileSync(file, 'utf8'));
  t.match(record, { msg: text, url: `http://h.example/${text}` }, 'the values are the same');
  for (const line of [escapeField(text), quotedField(text)]) t.ok(isHarmless(Buffer.from(line)), line);
});

t.test('text for a terminal: pieces cut anywhere give the same text', (t) => {
  const bytes = Buffer.concat([
    Buffer.from(`a${EVIL}é😀\u2067b\tc\r\nd\re\n`),
    Buffer.from([0x9b, 0x41, 0xff]),
  ]);
  const whole = new TerminalText().push(bytes);
  t.equal(
    whole,
    'a^[]0;owned^G^[[31m^[[6n<U+009B>5n<U+009B>A<U+202E>gpj^H^?<U+200F>é😀<U+2067>b\tc\nd^Me\n\ufffdA\ufffd',
  );
  for (const size of [1, 2, 3, 5]) {
    const text = new TerminalText();
    let shown = '';
    for (let i = 0; i < bytes.length; i += size) shown += text.push(bytes.subarray(i, i + size));
    t.equal(shown.replaceAll('^M', ''), whole.replaceAll('^M', ''), `pieces of ${size}`);
  }
  t.end();
});

/** Closing fails after the block failed. */
async function failTwice(): Promise<void> {
  await using _ = {
    async [Symbol.asyncDispose]() {
      throw new StorageError('the store cannot be closed: no space');
    },
  };
  throw new ConnectionError('h.example: connection refused');
}

t.test('an error that is suppressed while closing is named, with the one that caused it', async (t) => {
  const error: unknown = await failTwice().catch((thrown: unknown) => thrown);
  t.equal(messageOf(error), 'h.example: connection refused; then: the store cannot be closed: no space');
  t.equal(isExpected(error), true);
  t.equal(exitStatusOf(error), EXIT.failure);
  t.match(errorsIn(error), [{ code: 'ERR_CONNECTION' }, { code: 'ERR_STORAGE' }]);
  const usage = Object.assign(new Error('An error was suppressed during disposal.'), {
    name: 'SuppressedError',
    error: new StorageError('b'),
    suppressed: new UsageError('a'),
  });
  t.equal(exitStatusOf(usage), EXIT.usage, 'the first error decides');
  t.equal(isExpected(Object.assign(usage, { suppressed: new TypeError('x') })), false, 'a bug stays a bug');
  t.equal(
    messageOf(new AggregateError([new Error('a'), new Error('b')], '2 resources failed to close')),
    'a; then: b',
  );
  const lines: string[] = [];
  const log = createLoggerOn({ write: (line) => void lines.push(line) }, { json: false, program: 'broker' });
  log.error({ err: error }, 'Collection failed');
  t.match(
    lines[0],
    /Collection failed \(h\.example: connection refused; then: the store cannot be closed: no space\)/,
  );
});

t.test('files that hold passwords are readable by their owner only', async (t) => {
  const data = await temporaryDirectory(t);
  const { config } = configFromRoots([DOCUMENTS], {});
  const kit = await AllInOne.start({
    dataDirectory: data,
    host: '127.0.0.1',
    gatherdPort: 0,
    brokerPort: 0,
    webPort: 0,
    referencesPort: 0,
    config,
    log: () => pino({ enabled: false }),
  });
  await kit.close();
  const directories = ['--gatherer-directory', join(data, 'g'), '--broker-directory', join(data, 'b')];
  const created = await toPipe([
    'init',
    '--json',
    '--yes',
    '--dont-run',
    '--name',
    'x',
    '--index',
    DOCUMENTS,
    ...directories,
  ]);
  t.equal(created.status, 0, created.bytes.toString());
  const files = ['broker/admin/broker.conf', 'b/admin/broker.conf', 'g/x.cf'].map((path) => join(data, path));
  for (const path of files) t.equal(statSync(path).mode & 0o077, 0, path);
});
