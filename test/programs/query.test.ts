// `harvest query`, `gather` and `brkclient` as processes, against scripted servers.
import { spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import t, { type Test } from 'tap';
import { parseMessage } from '../../protocols/broker/index.js';
import { peerAddress } from '../../servers/cli/options/option-values.js';
import { originalOptions } from '../../servers/cli/options/original-options.js';
import { StandardOutput } from '../../servers/cli/output/standard-output.js';
import { type Finished, finishedOf, jsonLines } from '../helpers/cli.js';
import { tcpServer } from '../helpers/tcp-server.js';

// Each test starts processes, which takes long on a busy machine.

/** Runs one command as a process, without the rest of the program. */
function run(command: 'query' | 'gather' | 'brkclient', args: readonly string[]): Promise<Finished> {
  const folder = new URL('../../servers/cli/', import.meta.url).href;
  const program =
    `import { findCommand } from '${folder}commands.js';` +
    `import { originalOptions } from '${folder}options/original-options.js';` +
    `const argv = originalOptions(['node', 'harvest', '${command}', ...process.argv.slice(1)]);` +
    `const command = await findCommand('${command}').load();` +
    `await command.parseAsync(argv.slice(3), { from: 'user' });`;
  const words = ['--input-type=module', '-e', program, '--', ...args];
  return finishedOf(spawn(process.execPath, words));
}

/**
 * Starts a server that sends `greeting` and answers each line with the result of `reply`; undefined closes the
 * connection.
 */
async function startScriptedServer(
  t: Test,
  greeting: string,
  reply: (line: string) => string | undefined,
): Promise<{ address: string; port: number; received: string[] }> {
  const received: string[] = [];
  const port = await tcpServer(t, (socket) => {
    socket.write(greeting);
    let rest = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        received.push(line);
        const answer = reply(line);
        if (answer === undefined) socket.end();
        else socket.write(answer, 'latin1');
      }
    });
  });
  return { address: `127.0.0.1:${port}`, port, received };
}

const GREETING = '200 - HARVEST Broker 1.0\n';

t.test('GATHERD-11.1, GATHERD-11.4, BRK-6.1: original single-dash options', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['gather -info -nocompress host', 'gather --info --no-compress host'],
    ['gather --info host -- -info', 'gather --info host -- -info'],
    ['broker b.conf -new -nocol', 'broker b.conf --new --nocol'],
    ['gatherd -dir d 0', 'gatherd --dir d 0'],
    ['gatherd -d d 0', 'gatherd -d d 0'],
    ['query host gather -info', 'query host gather -info'],
    ['--version', '--version'],
    ['', ''],
  ];
  for (const [given, expected] of cases) {
    const words = given.split(' ').filter((word) => word !== '');
    const result = originalOptions(['node', '/x/gather', ...words]);
    t.equal(result.slice(2).join(' '), expected, given);
  }
});

t.test('peerAddress reads host names, IPv6 addresses and ports', async (t) => {
  t.same(peerAddress('host'), { host: 'host', port: undefined });
  t.same(peerAddress('host:85'), { host: 'host', port: 85 });
  t.same(peerAddress('[::1]:85'), { host: '::1', port: 85 });
  t.same(peerAddress('::1'), { host: '::1', port: undefined });
  for (const bad of ['', 'a:b', 'a:1:2', 'a:65536']) t.throws(() => peerAddress(bad), bad);
});

t.test('standard output: a reader that closes the pipe is not an error, a full disk is', async (t) => {
  const failing = (code: string) =>
    new StandardOutput({
      stream: new Writable({
        write: (_piece, _encoding, done) => done(Object.assign(new Error(code), { code })),
      }),
    });
  const pipe = failing('EPIPE');
  t.same([await pipe.write('a'), await pipe.write('b')], [false, false]);
  await t.rejects(failing('ENOSPC').write('a'), /ENOSPC/);
});

t.test('query prints text and JSON and exits with 0', async (t) => {
  const reply =
    '120 - http://a.test/1\n126 - http://b.test/\n124 - 12\nA title\x1b[31m\n122 - Matched line: title# title{7}:\tA title\n' +
    '127 - Title 9\nThe title\n127 - size 2\n12\n130 - object end\n120 - http://a.test/2\n130 - object end\n101 - a note\n';
  const [text, json, more] = await Promise.all([
    runQuery(t, reply, ['--words', '--attribute', 'size', '--lifetime', '20', 'title:x', 'or', '"a b"']),
    runQuery(t, reply, ['--json', '--case-sensitive', '--no-lines', '--no-desc', '--max', '0', '#allb']),
    runQuery(t, reply, ['--max', '1', '--errors', '2', '--opaque-mode', 'show', 'x']),
  ]);
  t.same(text, {
    code: 0,
    signal: null,
    stdout: '1. The title\n   http://a.test/1\n   A title [31m\n   size: 12\n2. http://a.test/2\n',
    stderr: 'query: a note\n',
    received:
      '#USER #desc #index case insensitive #index accents insensitive #index scope content #index matchword ' +
      '#index maxfiles 51 #index maxlines 200 #index lifetime 20 ' +
      '#attribute Title #attribute size #END title:x or "a b"',
  });
  t.equal(json.code, 0);
  t.same(jsonLines(json.stdout), [
    {
      url: 'http://a.test/1',
      homePage: 'http://b.test/',
      description: 'A title\x1b[31m',
      attributes: { Title: 'The title', size: '12' },
    },
    { url: 'http://a.test/2', homePage: 'http://b.test/', attributes: {} },
  ]);
  t.equal(
    json.received,
    '#USER #opaque #index case sensitive #index accents insensitive #index scope content #END #allb',
  );
  t.equal(more.stdout.match(/^\d+\./gm)?.length, 1);
  t.match(more.stderr, /1 to 1 of more than 1 matches; --page 2 has the next/);
  t.equal(
    more.received,
    '#USER #desc #opaque #index case insensitive #index accents insensitive #index scope content #index error 2 ' +
      '#index maxfiles 2 #index maxlines 200 #attribute Title #END x',
  );
});

/** Starts a Broker that replies to one message and closes the connection. */
async function startBroker(t: Test, reply: (message: string) => string) {
  const received: string[] = [];
  const port = await tcpServer(t, (socket) => {
    socket.write(GREETING);
    socket.once('data', (line: Buffer) => {
      received.push(line.toString('latin1'));
      socket.end(reply(line.toString('latin1').trimEnd()), 'latin1');
    });
  });
  return { port: String(port), received };
}

/** Runs `harvest query` against a Broker with one reply. */
async function runQuery(t: Test, reply: string, args: readonly string[]) {
  const { port, received } = await startBroker(t, () => reply);
  const finished = await run('query', [`127.0.0.1:${port}`, ...args]);
  return { ...finished, received: received[0]?.trimEnd() };
}

t.test('BRK-3.3, BRK-3.5, BRK-4.16: query: every flag, and pages of matched lines', async (t) => {
  const lines = (numbers: readonly number[]) =>
    numbers.map((n) => `122 - Matched line: body# line ${n}\n`).join('');
  const reply = `120 - u1\n${lines([1, 2, 3, 4, 5])}130 - object end\n120 - u2\n${lines([1, 2, 3])}130 - object end\n`;
  const [second, json, plain, alone] = await Promise.all([
    runQuery(t, reply, ['--max-lines', '2', '--lines-page', '2', '--max-results', '9', '--since', '7', 'x']),
    runQuery(t, reply, ['--json', '--max-lines', '1', '--index', 'rank "by date"', '--index', 'fuzzy', 'x']),
    runQuery(t, reply, ['--max-lines', '9', 'x']),
    run('query', ['127.0.0.1:1', '--lines-page', '2', 'x']),
  ]);
  t.equal(
    second.stdout,
    '1. u1\n     body: line 3\n     body: line 4\n     ... more matched lines: --lines-page 3\n2. u2\n     body: line 3\n',
  );
  t.equal(
    second.received,
    '#USER #since 7 #desc #index case insensitive #index accents insensitive #index scope content #index maxresult 9 ' +
      '#index maxfiles 51 #index maxlines 5 #attribute Title #END x',
  );
  t.same(
    jsonLines(json.stdout).map(({ matchedLines }) => matchedLines),
    [['Matched line: body# line 1'], ['Matched line: body# line 1']],
  );
  t.match(json.received, /#index maxlines 2 #index rank "by date" #index fuzzy #END x$/);
  t.notMatch(plain.stdout, /more matched lines/);
  t.equal(plain.stdout.match(/body: /g)?.length, 8);
  t.not(alone.code, 0);
  t.match(alone.stderr, /--lines-page needs --max-lines/);
});

t.test('query: the passage is first, matched lines with --lines; pages do not overlap', async (t) => {
  const lines =
    '122 - Matched line: title# title{7}:\tThe fox\n' +
    '122 - Matched line: body# body{9}:\tNothing of this line is about it.\n' +
    '122 - Matched line: body# A quick fox jumps over a lazy dog.\n';
  const match = (n: number) =>
    `120 - http://a.test/${n}\n125 - http://b.test/${n}\n124 - 4\nText\n${lines}130 - object end\n`;
  const reply = match(1);
  const [text, json, withLines, without] = await Promise.all([
    runQuery(t, reply, ['fox', 'dog']),
    runQuery(t, reply, ['--json', 'fox dog']),
    runQuery(t, reply, ['--json', '--lines', 'fox dog']),
    runQuery(t, reply, ['--no-lines', 'fox dog']),
  ]);
  const passage = '… A quick fox jumps over a lazy dog.';
  t.equal(text.stdout, `1. http://a.test/1\n   ${passage}\n`);
  t.match(jsonLines(json.stdout)[0], { url: 'http://a.test/1', passage, description: 'Text' });
  t.equal(Object.keys(jsonLines(json.stdout)[0] ?? {})[1], 'passage', 'before the rest');
  t.equal(jsonLines(json.stdout)[0]?.matchedLines, undefined);
  t.equal(jsonLines(withLines.stdout).map(({ matchedLines }) => (matchedLines as string[]).length)[0], 3);
  t.notMatch(withLines.received, 'maxlines');
  t.match(without.received, /^#USER #desc #opaque /);

  const port = await tcpServer(t, (socket) => {
    socket.write(GREETING);
    socket.once('data', (line: Buffer) => {
      const most = Number(/maxfiles (\d+)/.exec(line.toString())?.[1]);
      const all = Array.from({ length: 130 }, (_, i) => i);
      socket.end(all.slice(0, most).map(match).join(''));
    });
  });
  const pages = await Promise.all(
    [1, 2, 3].map((page) =>
      run('query', [`127.0.0.1:${port}`, '--json', '--max', '50', '--page', String(page), 'fox']),
    ),
  );
  const urls = pages.map(({ stdout }) => jsonLines(stdout).map(({ url }) => url));
  t.same(
    urls.map(({ length }) => length),
    [50, 50, 30],
  );
  t.equal(new Set(urls.flat()).size, 130);
  t.match(pages[1]?.stderr, '51 to 100 of more than 100 matches; --page 3 has the next');
  t.equal(pages[2]?.stderr, '');
  t.match(await run('query', ['127.0.0.1:1', '--max', '0', '--page', '2', 'x']), {
    code: 1,
    stderr: /--page needs --max/,
  });
});

t.test('query: what is no query searches its words; nothing with all words: most of them', async (t) => {
  const one = '120 - http://a.test/1\n130 - object end\n';
  for (const [typed, sent, said] of [
    ['a and', 'a', '“and” is left out'],
    ['and', '"and"', '“and” is searched for as text'],
    ['"open quote', '"open" "quote"', 'A quote is not closed'],
    ['(a', 'a', '“(” is left out'],
    ['title :', 'title', '“:” is left out'],
    ['a & b', 'a b', '“&” is left out'],
  ] as const) {
    const { code, received, stderr } = await runQuery(t, one, [typed]);
    t.equal(code, 0, typed);
    t.equal(received?.slice(received.indexOf('#END ') + 5), sent, typed);
    t.match(stderr, said, typed);
  }
  const asked: string[] = [];
  const { port } = await startBroker(t, (message) => {
    asked.push(message.slice(message.indexOf('#END ') + 5));
    return asked.length < 3 ? '101 - No objects matched your query.\n' : one;
  });
  const most = await run('query', [`127.0.0.1:${port}`, 'x y z']);
  t.same(asked, ['x y z', '(x and y or z) or y and z', 'x or y or z']);
  t.match(most, { code: 0, stderr: 'query: Nothing has all of the words; these have most of them.\n' });
  const asksForMost = '#index words most';
  const mixed = await runQuery(
    t,
    '120 - http://a.test/1\n127 - Missing-Words 1\ny\n130 - object end\n120 - http://a.test/2\n130 - object end\n',
    ['x y'],
  );
  t.match(mixed.received, asksForMost, 'one order of the matches with all and with most of the words');
  t.equal(mixed.stdout, '1. http://a.test/1\n   without: y\n2. http://a.test/2\n');
  t.equal(mixed.stderr, 'query: 1 of these 2 lack some of the words.\n');
  for (const words of [['x'], ['--exact', 'x y'], ['x or y'], ['not x']])
    t.notMatch((await runQuery(t, one, words)).received, asksForMost, words.join(' '));
  const exact = await runQuery(t, '101 - No objects matched your query.\n', ['--exact', 'x y']);
  t.match(exact, { code: 1, stderr: 'query: No objects matched your query.\n' });
});

t.test('BRK-6.7: brkclient sends a message unchanged and prints the raw reply', async (t) => {
  const silent = await startScriptedServer(
    t,
    GREETING,
    () => '120 - caf\xe9\r\n124 - 17\n\n111 - ERROR: no\n\nnoise\n',
  );
  const replies: Readonly<Record<string, string>> = {
    '#what EVER "it is"': '120 - caf\xe9\r\n124 - 17\n\n111 - ERROR: no\n\nnoise\n130 - object end',
    '#ADMIN #password x #shutdown': '111 - ERROR: Invalid password\n',
  };
  const { port, received } = await startBroker(t, (message) => replies[message] ?? '');
  const [reply, refused, stalled, absent, usage] = await Promise.all([
    run('brkclient', ['127.0.0.1', port, '#what EVER "it is"']),
    run('brkclient', ['127.0.0.1', port, '#ADMIN #password x #shutdown']),
    run('brkclient', ['127.0.0.1', String(silent.port), '--timeout', '0.5', 'x']),
    run('brkclient', ['127.0.0.1', '1', 'x']),
    run('brkclient', ['127.0.0.1', port, 'an "open quote']),
  ]);
  t.equal(reply.code, 0, 'an error line within counted bytes is data');
  // Standard output is read as UTF-8 here; its one Latin-1 byte becomes the replacement character.
  t.equal(
    reply.stdout,
    `${GREETING}120 - caf\ufffd\r\n124 - 17\n\n111 - ERROR: no\n\nnoise\n130 - object end`,
  );
  t.same([refused.code, refused.stdout], [1, `${GREETING}111 - ERROR: Invalid password\n`]);
  t.same(received.sort(), ['#ADMIN #password x #shutdown\r\n', '#what EVER "it is"\r\n']);
  t.equal(stalled.code, 3);
  t.match(stalled.stderr, /no complete answer within 0\.5 s/);
  t.match(stalled.stdout, /^200 - HARVEST Broker 1\.0\n120 - /, 'the partial answer is printed');
  t.equal(absent.code, 3);
  t.match(absent.stderr, /connection refused/);
  t.not(usage.code, 0);
  t.match(usage.stderr, /closes its double quotes/);
});

t.test('query exits with 1 for no match, 2 for a wrong query, 3 for a failed server', async (t) => {
  const [nothing, syntax, failed, absent, stalled] = await Promise.all([
    runQuery(t, '101 - No objects matched your query.\n', ['x']),
    run('query', ['--exact', '127.0.0.1:1', 'é (a']),
    runQuery(t, '120 - u\n130 - object end\n111 - ERROR: Broker is too busy, try again later\n', ['x']),
    run('query', ['127.0.0.1:1', 'x']),
    startScriptedServer(t, GREETING, () => '').then(({ address }) =>
      run('query', [address, '--timeout', '0.1', 'x']),
    ),
  ]);
  t.same([nothing.code, nothing.stdout, nothing.stderr], [1, '', 'query: No objects matched your query.\n']);
  t.equal(syntax.code, 2);
  t.equal(syntax.stderr, 'query: a "(" is never closed (BRK-2.4, offset 3)\n  é (a\n    ^\n');
  const wide = await run('query', ['--exact', '127.0.0.1:1', 'é and except b']);
  t.equal(
    wide.stderr,
    'query: a term expected, found the operator "except" (in double quotes it is a term) (BRK-2.3, offset 7)\n' +
      '  é and except b\n        ^^^^^^\n',
  );
  t.same([failed.code, failed.stdout], [3, '1. u\n']);
  t.match(failed.stderr, /too busy/);
  t.equal(absent.code, 3);
  t.match(absent.stderr, /127\.0\.0\.1:1: connection refused/);
  t.equal(stalled.code, 3);
  t.match(stalled.stderr, /no complete answer within 0\.1 s/);
});

t.test('query --help: every example query parses', async (t) => {
  const { code, stdout } = await run('query', ['--help']);
  t.equal(code, 0);
  const shown = Array.from(stdout.matchAll(/'([^'\n]+)'/g), (match) => match[1] ?? '');
  t.ok(shown.length >= 9);
  for (const query of shown) t.doesNotThrow(() => parseMessage(Buffer.from(`#USER #END ${query}`)), query);
  t.match(stdout, /Exit status: 0/);
});

const STREAM =
  '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { http://a.test/\nTitle{13}:\t499 - Sent 9 x\n}\n}\n';

/** Starts a minimal gatherd, without compression and `SET changes`. */
async function startScriptedGatherd(t: Test, end: string | undefined) {
  return startScriptedServer(t, '000 - HELLO 1.8 a.test\n', (line) => {
    const [verb] = line.split(' ');
    switch (verb) {
      case 'HELLO':
        return '100 - HELLO\n';
      case 'SEND-UPDATE':
        return end === undefined ? undefined : `400 - Sending\n${STREAM}${end}`;
      case 'INFO':
        return '@GATHERER { http://a.test/\nCount{1}:\t7\n}\n600 - End of INFO\n';
      case 'QUIT':
        return '999 - Bye\n';
      default:
        return '900 - Unknown command\n';
    }
  });
}

t.test('GATHERD-11.4, GATHERD-11.5: gather prints the export, a part, or its description', async (t) => {
  const good = await startScriptedGatherd(t, '499 - Sent 1 objects\n');
  const cut = await startScriptedGatherd(t, undefined);
  const [full, since, info, broken, absent] = await Promise.all([
    run('gather', ['-nocompress', good.address]),
    run('gather', ['127.0.0.1', String(good.port), '1735689600']),
    run('gather', ['-info', '127.0.0.1', String(good.port)]),
    run('gather', ['-nocompress', cut.address]),
    run('gather', ['127.0.0.1:1']),
  ]);
  t.same(full, { code: 0, signal: null, stdout: STREAM, stderr: '' });
  t.equal(since.code, 0);
  t.ok(good.received.includes('SEND-UPDATE 1735689600'));
  t.same(info, {
    code: 0,
    signal: null,
    stdout: '@GATHERER { http://a.test/\nCount{1}:\t7\n}\n',
    stderr: '',
  });
  t.same([broken.code, broken.stdout], [3, '']);
  t.match(broken.stderr, /^gather: /);
  t.equal(absent.code, 3);
});
