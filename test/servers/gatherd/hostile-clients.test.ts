// Bad networks and hostile clients: fragmented input, cut connections, resets, floods, stalls. All tests use
// GatherdServer over TCP.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { assertProperty } from '../../helpers/property.js';
import {
  entry,
  exchange,
  RawClient,
  startGatherd,
  updateStream,
  waitForDisconnects,
  waitForLog,
} from './helpers.js';

const A = entry('http://a.example/', 100, 'first');
const B = entry('http://b.example/', 200, 'second\n499 - Sent 7 objects\n');
const ALL = updateStream(A.soif + B.soif);
const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';
const IDENTITY = { name: 'Ants', host: 'ants.example.org', port: 8500, version: '0.1' };

const FULL = `400 - Sending all objects since 0\n${ALL}499 - Sent 2 objects\n`;
const BYE = '999 - Bye\n';

/** GATHERD-7: client lines, with their replies as {@link normalize} returns them. */
const SESSIONS: Readonly<Record<string, readonly (readonly [line: string, reply: string])[]>> = {
  '7.1': [
    ['HELLO client.host.name\n', '100 - HELLO client.host.name\n'],
    ['SEND-UPDATE 0\n', FULL],
    ['QUIT\n', BYE],
  ],
  '7.2': [
    ['HELLO client.example.org\n', '100 - HELLO client.example.org\n'],
    ['SET compression\n', '500 - Compression enabled\n'],
    ['SEND-UPDATE 0\n', FULL],
    ['QUIT\n', BYE],
  ],
  '7.3': [
    ['SEND-UPDATE 0\r\n', FULL],
    ['QUIT\r\n', BYE],
  ],
  '7.4': [
    ['HELLO c\n', '100 - HELLO c\n'],
    ['INFO\n', '@GATHERER\n600 - End of INFO\n'],
    ['QUIT\n', BYE],
  ],
};

/** Decompresses the gzip members of a reply, and reduces each description to its first word. */
function normalize(received: string): string {
  return received
    .replace(/\x1f\x8b[\s\S]*?(?=499 - )/g, (member) =>
      gunzipSync(Buffer.from(member, 'latin1')).toString('latin1'),
    )
    .replace(/@GATHERER \{ -\n(?:[^\n]*\n)*?\}\n/g, '@GATHERER\n');
}

/** Returns the replies to the complete lines within the first `length` bytes. */
function replyTo(lines: readonly (readonly [string, string])[], length: number): string {
  let remaining = length;
  let replies = GREETING;
  for (const [line, reply] of lines) {
    remaining -= line.length;
    if (remaining < 0) break;
    replies += reply;
  }
  return replies;
}

/** Runs the work for every item, in order, at most `size` items concurrently. */
async function inBatches<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += size)
    await Promise.all(items.slice(start, start + size).map(work));
}

/** Returns the offsets 0 to `length`. */
const offsetsTo = (length: number) => Array.from({ length: length + 1 }, (_, i) => i);

t.test('GATHERD-1.3, 7.1 to 7.4: sessions fed one byte at a time', async (t) => {
  const { port } = await startGatherd(t, [A, B], { identity: IDENTITY });
  for (const [rule, lines] of Object.entries(SESSIONS)) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    for (const byte of Buffer.from(lines.map(([line]) => line).join(''), 'latin1')) {
      await new Promise<void>((resolve) => socket.write(Uint8Array.of(byte), () => resolve()));
      await immediate();
    }
    await once(socket, 'close');
    const length = lines.reduce((sum, [line]) => sum + line.length, 0);
    t.equal(normalize(Buffer.concat(received).toString('latin1')), replyTo(lines, length), rule);
  }
});

t.test('GATHERD-7: the client stops sending at every offset: no reply to a partial line', async (t) => {
  const { port, server } = await startGatherd(t, [A, B], { identity: IDENTITY });
  for (const [rule, lines] of Object.entries(SESSIONS)) {
    const text = lines.map(([line]) => line).join('');
    const failures: string[] = [];
    await inBatches(offsetsTo(text.length), 16, async (length) => {
      const client = new RawClient(t, port);
      client.socket.end(text.slice(0, length), 'latin1');
      await client.closed;
      if (normalize(client.received) !== replyTo(lines, length))
        failures.push(`${length}: ${client.received}`);
    });
    t.same(failures, [], rule);
  }
  await waitForDisconnects(server);
});

t.test('GATHERD-7.3: the connection is reset at every offset of the commands', async (t) => {
  const { port, server, log } = await startGatherd(t, [A, B], { identity: IDENTITY });
  for (const lines of Object.values(SESSIONS)) {
    const text = lines.map(([line]) => line).join('');
    await inBatches(offsetsTo(text.length), 16, async (length) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      await new Promise<void>((resolve) => socket.write(text.slice(0, length), 'latin1', () => resolve()));
      socket.resetAndDestroy();
    });
  }
  await waitForDisconnects(server);
  t.same(
    log.filter((line) => /ERROR|FATAL/.test(line)),
    [],
    'no error is logged',
  );
  t.equal(await exchange(t, port, 'QUIT\n'), GREETING + BYE, 'the server keeps serving');
});

t.test('GATHERD-3.11: the client resets the connection at many offsets of the reply', async (t) => {
  const entries = Array.from({ length: 40 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, `${i} `.repeat(20_000)),
  );
  const { port, server, log } = await startGatherd(t, entries);
  for (const commands of ['SEND-UPDATE 0\nQUIT\n', 'SET compression\nSEND-UPDATE 0\nSEND-UPDATE 0\nQUIT\n']) {
    const offsets = [...offsetsTo(110), ...Array.from({ length: 20 }, (_, i) => 200 + i * 100_009)];
    await inBatches(offsets, 8, async (offset) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      let received = 0;
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received >= offset) socket.resetAndDestroy();
      });
      socket.write(commands);
      await new Promise<void>((resolve) => socket.on('close', () => resolve()));
    });
  }
  await waitForDisconnects(server);
  t.same(
    log.filter((line) => /ERROR|FATAL/.test(line)),
    [],
  );
  t.match(await exchange(t, port, 'SEND-UPDATE 139\nQUIT\n'), /499 - Sent 1 objects\n999 - Bye\n$/);
});

t.test('GATHERD-1.8, 4.8: pipelined commands in any fragments get their replies in order', async (t) => {
  const { port } = await startGatherd(t, [A, B], { identity: IDENTITY });
  const since = (time: number, objects: string, count: number) =>
    [
      `SEND-UPDATE ${time}\n`,
      `400 - Sending all objects since ${time}\n${updateStream(objects)}499 - Sent ${count} objects\n`,
    ] as const;
  const command = fc.constantFrom(
    since(0, A.soif + B.soif, 2),
    since(101, B.soif, 1),
    since(201, '', 0),
    ['HELLO me\n', '100 - HELLO me\n'] as const,
    ['SET compression\n', '500 - Compression enabled\n'] as const,
    ['SET changes\r\n', '500 - Changes enabled\n'] as const,
    [
      'SEND-OBJECT http://a.example/\n',
      `300 - Sending object http://a.example/\n${A.soif}399 - Sent object\n`,
    ] as const,
    ['SEND-OBJECT nothing\n', '399 - No such object nothing\n'] as const,
    ['SEND-UPDATE x\n', '499 - Bad timestamp\n'] as const,
    ['INFO\n', '@GATHERER\n600 - End of INFO\n'] as const,
    ['\r\n', ''] as const,
    ['nonsense 1\n', '900 - Unknown command: nonsense\n'] as const,
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });
  await t.resolves(
    assertProperty(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), cuts, async (commands, sizes) => {
        const text = `${commands.map(([line]) => line).join('')}QUIT\n`;
        const client = new RawClient(t, port);
        for (let start = 0, i = 0; start < text.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          client.send(text.slice(start, start + size));
          start += size;
          if (i % 3 === 0) await immediate();
        }
        await client.closed;
        return (
          normalize(client.received) === `${GREETING}${commands.map(([, reply]) => reply).join('')}${BYE}`
        );
      }),
      { numRuns: 60 },
    ),
  );
});

t.test('GATHERD-4.8, 7.1: a hundred updates in one packet, followed by QUIT', async (t) => {
  const entries = Array.from({ length: 20 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, `body ${i} `.repeat(500)),
  );
  const { port } = await startGatherd(t, entries);
  const replies = Array.from({ length: 100 }, (_, i) => {
    const selected = entries.slice(i % 21);
    return `400 - Sending all objects since ${100 + (i % 21)}\n${updateStream(selected.map(({ soif }) => soif).join(''))}499 - Sent ${selected.length} objects\n`;
  });
  const commands = replies.map((_, i) => `SEND-UPDATE ${100 + (i % 21)}\n`);
  const received = await exchange(
    t,
    port,
    `${commands.slice(0, 50).join('')}SET compression\n${commands.slice(50).join('')}QUIT\nHELLO late\n`,
  );
  const expected = `${GREETING}${replies.slice(0, 50).join('')}500 - Compression enabled\n${replies.slice(50).join('')}${BYE}`;
  t.equal(digest(normalize(received)), digest(expected));
});

/** Returns the peak growth of memory in bytes while the work runs. */
async function peakWhile(work: Promise<unknown>): Promise<number> {
  const used = () => {
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return heapUsed + external + arrayBuffers;
  };
  const start = used();
  let peak = start;
  let done = false;
  const ending = work.finally(() => {
    done = true;
  });
  ending.catch(() => {});
  while (!done) {
    peak = Math.max(peak, used());
    await pause(5);
  }
  await ending;
  return peak - start;
}

/** Number of pipelined commands. */
const FLOOD = 100_000;

t.test('a hundred thousand pipelined commands wait at a client that does not read', async (t) => {
  const { port, log, server } = await startGatherd(t, [A], { drainTimeoutMs: 400 });
  const flood = Buffer.from('HELP\n'.repeat(FLOOD));
  const client = new RawClient(t, port);
  client.socket.pause();
  client.socket.write(flood);
  await waitForLog(log, /HELP/);
  const peak = await peakWhile(waitForDisconnects(server));
  t.ok(peak < 30 << 20, `memory grows by ${peak} bytes; all replies have ${FLOOD * 400}`);
  // The log passes over lines of a second with too many.
  const ending = log.find((line) => line.includes('end of session'));
  if (ending !== undefined) t.match(ending, /accepted no data for 400 ms/);
});

t.test('a client that reads receives the replies to twenty thousand pipelined commands', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const socket = connect(port, '127.0.0.1');
  socket.write('HELP\n'.repeat(20_000));
  socket.write('QUIT\n');
  let lines = 0;
  let last = '';
  socket.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
    last = (last + chunk.toString('latin1')).slice(-20);
  });
  await once(socket, 'close');
  t.equal((lines - 2) % 20_000, 0, `${lines} lines`);
  t.ok(lines > 6 * 20_000);
  t.ok(last.endsWith(BYE));
});

t.test('GATHERD-2.4, 3.9: a line of a gigabyte is refused once, then the connection is closed', async (t) => {
  const { port, server } = await startGatherd(t, [A]);
  const client = new RawClient(t, port);
  const piece = Buffer.alloc(1 << 20, 'x');
  let sent = 0;
  const sending = async () => {
    while (sent < 2 ** 30 && !client.socket.destroyed) {
      sent += piece.length;
      if (!client.socket.write(piece))
        await Promise.race([once(client.socket, 'drain').catch(() => {}), client.closed]);
    }
    await client.closed;
  };
  const peak = await peakWhile(sending());
  t.ok(sent < 64 << 20, `the server closes after ${sent} bytes`);
  t.ok(peak < 64 << 20, `memory grows by ${peak} bytes`);
  t.equal(client.received, `${GREETING}900 - Bad argument: line too long\n`);
  await waitForDisconnects(server);

  const long = await exchange(t, port, `HELLO ${'x'.repeat(1 << 20)}\nHELLO me\nQUIT\n`);
  t.equal(
    long,
    `${GREETING}900 - Bad argument: line too long\n100 - HELLO me\n${BYE}`,
    'after a line of a megabyte the session continues',
  );
});

t.test('GATHERD-12.4: a thousand idle sessions next to transfers', async (t) => {
  const entries = Array.from({ length: 200 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, `${i} `.repeat(5000)),
  );
  const { port, server } = await startGatherd(t, entries, { maxConnections: 1100 });
  const idle: RawClient[] = [];
  for (let i = 0; i < 20; i++) {
    const batch = Array.from({ length: 50 }, () => new RawClient(t, port));
    idle.push(...batch);
    await Promise.all(batch.map((client) => client.until(/^000 - HELLO .*\n/)));
  }
  t.equal(server.connections, 1000);
  const expected = `${GREETING}400 - Sending all objects since 0\n${updateStream(entries.map(({ soif }) => soif).join(''))}499 - Sent 200 objects\n${BYE}`;
  const copies = await Promise.all(
    Array.from({ length: 5 }, () => exchange(t, port, 'SEND-UPDATE 0\nQUIT\n')),
  );
  t.same(
    copies.map(digest),
    Array.from({ length: 5 }, () => digest(expected)),
  );
  for (const client of idle) client.send('QUIT\n');
  await Promise.all(idle.map((client) => client.closed));
  t.equal(idle.filter(({ received }) => received === GREETING + BYE).length, 1000);
  await waitForDisconnects(server);
});

t.test('GATHERD-12.3: a very slow client receives every byte, plain and compressed', async (t) => {
  // Digests compress badly, so the compressed stream is long too.
  const noise = (i: number) =>
    Array.from({ length: 500 }, (_, k) => createHash('sha256').update(`${i} ${k}`).digest('base64')).join(
      '\n',
    );
  const entries = Array.from({ length: 150 }, (_, i) => entry(`http://${i}.example/`, 100 + i, noise(i)));
  const { port } = await startGatherd(t, entries);
  const data = `400 - Sending all objects since 0\n${updateStream(entries.map(({ soif }) => soif).join(''))}499 - Sent 150 objects\n`;
  for (const compression of ['', 'SET compression\n']) {
    const received = await readSlowly(port, `${compression}SEND-UPDATE 0\nQUIT\n`);
    const setReply = compression === '' ? '' : '500 - Compression enabled\n';
    t.equal(
      digest(normalize(received)),
      digest(`${GREETING}${setReply}${data}${BYE}`),
      `${received.length} bytes`,
    );
  }
});

/** Reads at most 8 KiB per millisecond. */
async function readSlowly(port: number, lines: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  let ended = false;
  socket.on('end', () => {
    ended = true;
  });
  socket.write(lines);
  const received: Buffer[] = [];
  while (!ended) {
    const chunk: Buffer | null = socket.read(8192) ?? socket.read();
    if (chunk !== null) received.push(chunk);
    await pause(1);
  }
  return Buffer.concat(received).toString('latin1');
}

t.test('DESIGN 4: a compressed transfer keeps its generation during publications', async (t) => {
  const noise = (i: number) =>
    Array.from({ length: 800 }, (_, k) => createHash('sha256').update(`old ${i} ${k}`).digest('base64')).join(
      '\n',
    );
  const entries = Array.from({ length: 300 }, (_, i) => entry(`http://${i}.example/`, 100 + i, noise(i)));
  const { port, database } = await startGatherd(t, entries);
  const client = new RawClient(t, port);
  await client.until(/^000/);
  client.send('SET compression\nSEND-UPDATE 0\nSEND-UPDATE 1000\nQUIT\n');
  await client.until(/^400 - .*\n[\s\S]/m);
  client.socket.pause();
  for (let i = 0; i < 4; i++) {
    await database.publish([entry(`http://${i}.example/`, 1000 + i, `new ${i}`)]);
    t.match(await exchange(t, port, `SEND-UPDATE ${1000 + i}\nQUIT\n`), `new ${i}`);
  }
  client.socket.resume();
  await client.closed;
  const old = updateStream(entries.map(({ soif }) => soif).join(''));
  const fresh = updateStream(
    [0, 1, 2, 3].map((i) => entry(`http://${i}.example/`, 1000 + i, `new ${i}`).soif).join(''),
  );
  t.equal(
    digest(normalize(client.received)),
    digest(
      `${GREETING}500 - Compression enabled\n400 - Sending all objects since 0\n${old}499 - Sent 300 objects\n` +
        `400 - Sending all objects since 1000\n${fresh}499 - Sent 4 objects\n${BYE}`,
    ),
  );
});

function digest(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex');
}
