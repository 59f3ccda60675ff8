// Tests collectChanges: transfers that break anywhere, from our server and from servers that do not keep its
// promises.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type CollectOptions, type CollectRetry, collectChanges } from '../../../clients/gatherd/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';
import { entry, fakeServer, soif, startGatherd, updateStream } from '../../servers/gatherd/helpers.js';

/** The data of one connection of a server that breaks. */
interface Transfer {
  readonly stream: string;
  /** Bytes to send before the connection breaks, after compression; undefined sends everything and 499. */
  readonly cut?: number;
}

interface BreakingServer {
  readonly port: number;
  /** The requested times, one per connection. */
  readonly requestedTimes: number[];
  /** Whether the client sent `SET changes`, for each connection. */
  readonly sentSetChanges: boolean[];
}

/** A server that behaves like ours except for `transfer`. It accepts SET changes, or answers it with 900. */
async function breakingServer(
  t: Test,
  transfer: (since: number, connection: number, sections: boolean) => Transfer,
  { accepts = true, reset = false }: { accepts?: boolean; reset?: boolean } = {},
): Promise<BreakingServer> {
  const requestedTimes: number[] = [];
  const sentSetChanges: boolean[] = [];
  const port = await fakeServer(t, async (line, socket) => {
    let compressed = false;
    let sections = false;
    socket.write('000 - HELLO 1.8 broken.example.org\n');
    for (let command = await line(); command !== undefined; command = await line()) {
      if (command.startsWith('HELLO')) socket.write('100 - x\n');
      else if (command === 'SET changes') {
        sections = true;
        socket.write(accepts ? '500 - x\n' : '900 - x\n');
      } else if (command === 'SET compression') {
        compressed = true;
        socket.write('500 - x\n');
      } else if (command === 'QUIT') return void socket.end('999 - x\n');
      else {
        const since = Number(command.slice('SEND-UPDATE '.length));
        sentSetChanges.push(sections);
        const { stream, cut } = transfer(since, requestedTimes.push(since) - 1, sections && accepts);
        const data = compressed ? gzipSync(Buffer.from(stream, 'latin1')) : Buffer.from(stream, 'latin1');
        socket.write('400 - x\n');
        if (cut === undefined) socket.write(Buffer.concat([data, Buffer.from('499 - x\n')]));
        else {
          const size = Math.min(cut, data.length - 1);
          await new Promise<void>((resolve) => socket.write(data.subarray(0, size), () => resolve()));
          return void (reset ? socket.resetAndDestroy() : socket.end());
        }
      }
    }
  });
  return { port, requestedTimes, sentSetChanges };
}

/** Collects everything, with the changes as `kind url time`, and the error that ended the collection. */
async function collect(port: number, options: Partial<CollectOptions> = {}) {
  const collection = collectChanges({
    host: '127.0.0.1',
    port,
    clientName: 'c',
    pauseMs: 0,
    compression: false,
    ...options,
  });
  const changes: string[] = [];
  let error: unknown;
  try {
    for await (const { kind, object } of collection) {
      changes.push(`${kind} ${object.url} ${object.text('Update-Time') ?? '-'}`);
    }
  } catch (cause) {
    error = cause;
  }
  return { changes, error, totals: collection.totals, collection };
}

const url = (i: number) => `http://${i}.example/`;
const objectWithoutTime = (i: number) => `@FILE { ${url(i)}\nBody{1}:\tx\n}\n`;
const sections = (deleted: string, refreshed: string, updated: string) =>
  `@DELETE {\n${deleted}}\n@REFRESH {\n${refreshed}}\n@UPDATE {\n${updated}}\n`;

const A = soif(url(1), 100, 'a');
const B = soif(url(2), 200, 'b');
const C = soif(url(3), 200, 'c');
const D = soif(url(4), 300, 'd');
const ALL = [
  'update http://1.example/ 100',
  'update http://2.example/ 200',
  'update http://3.example/ 200',
  'update http://4.example/ 300',
];

t.test('GATHERD-13.6: the first collection has everything, the next one the new objects', async (t) => {
  const { port, database } = await startGatherd(t, [entry(url(1), 100, 'a'), entry(url(2), 200, 'b')]);
  const first = await collect(port, { compression: true });
  t.same(first.changes, ALL.slice(0, 2));
  t.same(first.totals, { objects: 2, repeated: 0, connections: 1, complete: true, next: 200 });
  await database.publish([entry(url(4), 300, 'd')]);
  const second = await collect(port, { since: first.totals.next });
  t.same(second.changes, [ALL[1], ALL[3]], 'GATHERD-4.3: the objects of the requested time come again');
  t.equal(second.totals.next, 300);
  t.equal((await collect(port, { since: 301 })).totals.next, 301, 'without new objects: the requested time');
});

t.test('GATHERD-4.6: after a break only the rest is requested, if the server keeps order', async (t) => {
  const { port, requestedTimes, sentSetChanges } = await breakingServer(t, (since, connection) => {
    if (connection === 0) return { stream: updateStream(A + B + C + D), cut: updateStream(A + B).length };
    return {
      stream: updateStream(since === 200 ? B + C + D : ''),
      ...(connection === 1 ? { cut: 60 } : {}),
    };
  });
  const { changes, totals, error } = await collect(port);
  t.equal(error, undefined);
  t.same(changes, ALL);
  t.same(requestedTimes, [0, 200, 200]);
  t.same(
    sentSetChanges,
    [true, false, false],
    'GATHERD-4.4: the rest is requested without SET changes, so that its objects have their content',
  );
  t.same(totals, { objects: 4, repeated: 1, connections: 3, complete: true, next: 200 }, 'GATHERD-4.9');
});

t.test('after a break, everything is requested again from an unknown server', async (t) => {
  const stream = updateStream(D + A + C + B);
  const cuts = [updateStream(D + A).length, updateStream(D + A + C).length];
  const { port, requestedTimes } = await breakingServer(
    t,
    (_, i) => ({ stream, ...(i < cuts.length ? { cut: cuts[i] ?? 0 } : {}) }),
    { accepts: false },
  );
  const { changes, totals } = await collect(port, { since: 50 });
  t.same(changes, [ALL[3], ALL[0], ALL[2], ALL[1]], 'in the order of their first arrival');
  t.same(requestedTimes, [50, 50, 50]);
  t.same(totals, { objects: 4, repeated: 5, connections: 3, complete: true, next: 300 });
});

t.test('a stream in ascending order without a promise is trusted only with trustOrder', async (t) => {
  const transfer = (since: number, i: number) =>
    i === 0
      ? { stream: updateStream(A + B + C + D), cut: updateStream(A + B + C).length }
      : { stream: updateStream(since === 0 ? A + B + C + D : B + C + D) };
  const careful = await breakingServer(t, transfer, { accepts: false });
  t.same((await collect(careful.port)).changes, ALL);
  t.same(careful.requestedTimes, [0, 0]);
  const trusting = await breakingServer(t, transfer, { accepts: false });
  t.same((await collect(trusting.port, { trustOrder: true })).changes, ALL);
  t.same(trusting.requestedTimes, [0, 200]);
});

t.test('GATHERD-4.4: after a break in @DELETE or @REFRESH nothing is delivered twice', async (t) => {
  const gone = `@FILE { ${url(8)}\n}\n@FILE { ${url(9)}\n}\n`;
  const kept = soif(url(7), 250, 'r');
  const stream = sections(gone, kept, A + D);
  const cuts = [stream.indexOf(url(9)), stream.indexOf('@REFRESH') + 30, stream.indexOf(url(4))];
  const { port, requestedTimes } = await breakingServer(t, (since, i) =>
    i < cuts.length
      ? { stream, cut: cuts[i] ?? 0 }
      : { stream: sections(gone, kept, since <= 100 ? A + D : D) },
  );
  const { changes } = await collect(port, { since: 90 });
  t.same(changes, [
    'delete http://8.example/ -',
    'delete http://9.example/ -',
    'refresh http://7.example/ 250',
    'update http://1.example/ 100',
    'update http://4.example/ 300',
  ]);
  t.same(requestedTimes, [90, 90, 90, 100]);
});

t.test('GATHERD-4.3: objects without a time are in every transfer and are delivered once', async (t) => {
  const { port, requestedTimes } = await breakingServer(t, (since, i) => {
    const stream = updateStream(objectWithoutTime(5) + (since === 0 ? A : '') + B + C + D);
    return i < 2 ? { stream, cut: stream.indexOf(url(3)) } : { stream };
  });
  const { changes } = await collect(port);
  t.same(changes, ['update http://5.example/ -', ...ALL]);
  t.same(requestedTimes, [0, 200, 200]);
});

t.test('an object that changed between two connections is delivered again', async (t) => {
  const newer = soif(url(1), 400, 'new');
  const { port } = await breakingServer(t, (_, i) =>
    i === 0
      ? { stream: updateStream(A + B + C), cut: updateStream(A + B).length }
      : { stream: updateStream(B + C + newer) },
  );
  const { changes } = await collect(port);
  t.same(changes, [...ALL.slice(0, 3), 'update http://1.example/ 400']);
});

t.test('a server that breaks its promised order costs a full transfer, and no object', async (t) => {
  const early = await breakingServer(t, (_, i) =>
    i === 0
      ? { stream: updateStream(B + A + D), cut: updateStream(B + A).length }
      : { stream: updateStream(B + A + C + D) },
  );
  t.same((await collect(early.port)).changes, [ALL[1], ALL[0], ALL[2], ALL[3]]);
  t.same(early.requestedTimes, [0, 0], 'seen before the break: everything is requested again');

  const late = await breakingServer(t, () => ({
    stream: updateStream(B + D + A),
    cut: updateStream(B + D + A).length,
  }));
  const { error, changes, totals } = await collect(late.port);
  t.match(error, { code: 'ERR_CONNECTION' });
  t.equal(changes.length, 3);
  t.equal(
    totals.connections,
    1,
    'seen after changes were forgotten: the collection cannot go on without repeating',
  );

  const sloppy = await breakingServer(t, (_, i) =>
    i === 0
      ? { stream: updateStream(A + B + C + D), cut: updateStream(A + B).length }
      : { stream: updateStream(A + B + C + D) },
  );
  t.same((await collect(sloppy.port)).changes, ALL, 'a server that sends more than requested');
});

t.test('a collection that cannot continue ends with an error after the complete changes', async (t) => {
  const stream = updateStream(A + B);
  const { port } = await breakingServer(t, () => ({ stream, cut: stream.indexOf(url(2)) }));
  const retries: CollectRetry[] = [];
  const settings = {
    pauseMs: 1,
    maxPauseMs: 6,
    maxFailures: 5,
    onRetry: (retry: CollectRetry) => void retries.push(retry),
  };
  const { changes, error, totals } = await collect(port, { since: 10, ...settings });
  t.match(error, { code: 'ERR_CONNECTION' });
  t.same(changes, [ALL[0]], 'the complete change is delivered');
  t.same(totals, { objects: 1, repeated: 5, connections: 1 + 5, complete: false, next: 10 }, 'GATHERD-13.6');
  t.same(
    retries.map((retry) => retry.pauseMs),
    [1, 2, 4, 6, 6],
    'pauses grow up to the limit',
  );
  t.same(new Set(retries.map((retry) => retry.since)), new Set([100]));

  t.equal((await collect(port, { maxConnections: 3 })).totals.connections, 3);
  const forgetful = await breakingServer(t, () => ({ stream, cut: stream.length - 2 }), { accepts: false });
  t.equal((await collect(forgetful.port, { maxMemoryBytes: 250 })).totals.connections, 1, 'maxMemoryBytes');

  const denied = await fakeServer(t, async (_, socket) => void socket.end('999 - Access denied\n'));
  const refused = await collect(denied);
  t.match(refused.error, { code: 'ERR_PEER', status: 999 }, 'GATHERD-3.10: a refusal is not retried');
  t.equal(refused.totals.connections, 1);
});

t.test('a damaged member is not retried; an absent server is', async (t) => {
  let connections = 0;
  const damaged = await fakeServer(t, async (line, socket) => {
    connections += 1;
    socket.write('000 - HELLO 1.8 x\n');
    const member = gzipSync(updateStream(A));
    member[member.length - 8] = (member[member.length - 8] ?? 0) ^ 1;
    for (let command = await line(); command !== undefined; command = await line()) {
      if (!command.startsWith('SEND')) socket.write(command.startsWith('HELLO') ? '100 - x\n' : '500 - x\n');
      else socket.write(Buffer.concat([Buffer.from('400 - x\n'), member, Buffer.from('499 - x\n')]));
    }
  });
  const { error } = await collect(damaged, { compression: true });
  t.match(error, { code: 'ERR_PROTOCOL', rule: 'GATHERD-6.5' });
  t.equal(connections, 1);

  const { server, port } = await startGatherd(t);
  await server.close();
  const absent = await collect(port, { maxFailures: 3 });
  t.match(absent.error, { code: 'ERR_CONNECTION', message: /connection refused/ });
  t.equal(absent.totals.connections, 3);
});

t.test('a signal ends reading and pausing; a collection can be iterated once', async (t) => {
  const stream = updateStream(A + B);
  const { port } = await breakingServer(t, () => ({ stream, cut: stream.indexOf(url(2)) }));
  const stop = new AbortController();
  const onRetry = () => setImmediate(() => stop.abort(new Error('enough')));
  const { error, collection } = await collect(port, { pauseMs: 60_000, signal: stop.signal, onRetry });
  t.match(error, { message: 'enough' });
  t.throws(() => collection[Symbol.asyncIterator](), { code: 'ERR_STATE' });
  for (const wrong of [{ since: -1 }, { since: 1.5 }, { pauseMs: -1 }, { maxFailures: Number.NaN }]) {
    t.throws(() => collectChanges({ host: 'x', ...wrong }), UsageError);
  }
});

t.test('an object with an Update-Time in the far future is delivered but does not change next', async (t) => {
  const { port } = await breakingServer(t, () => ({
    stream: updateStream(A + soif(url(2), 99_999_999_999, 'x')),
  }));
  const { changes, totals } = await collect(port);
  t.equal(changes.length, 2);
  t.equal(totals.next, 100);
});

/** An object of a database. */
interface Stored {
  readonly url: string;
  /** Its Update-Time, or null if it has none. */
  readonly time: number | null;
  /** When its content changed last. */
  readonly content: number;
}

/** The stream that our server sends (GATHERD-4.3, 4.4, 4.9). */
function streamOf(
  stored: readonly Stored[],
  deleted: readonly Stored[],
  since: number,
  inSections: boolean,
): string {
  const write = ({ url, time, content }: Stored, full: boolean) => {
    const update = time === null ? '' : `Update-Time{${String(time).length}}:\t${time}\n`;
    const body = full ? `Body{${String(content).length}}:\t${content}\n` : '';
    return `@FILE { ${url}\n${update}${body}}\n`;
  };
  const selected = stored.filter(({ time }) => time === null || time >= since);
  const isRefreshed = ({ time, content }: Stored) => inSections && time !== null && content < since;
  const tombstones = deleted.filter(({ time }) => inSections && since > 0 && (time ?? 0) >= since);
  return sections(
    tombstones.map((one) => write(one, false)).join(''),
    selected
      .filter(isRefreshed)
      .map((one) => write(one, false))
      .join(''),
    selected
      .filter((one) => !isRefreshed(one))
      .map((one) => write(one, true))
      .join(''),
  );
}

t.test('GATHERD-3.11, 4.4, 4.6, 13.6: wherever transfers break, no change is lost or repeated', async (t) => {
  const object = fc.record({
    time: fc.option(fc.integer({ min: 1, max: 12 }), { freq: 8 }),
    age: fc.nat({ max: 11 }),
  });
  const plan = fc.record({
    objects: fc.array(object, { minLength: 1, maxLength: 40 }),
    deletionTimes: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
    /** Where each transfer is cut, as a fraction of its length. */
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
    ordered: fc.boolean(),
    compression: fc.boolean(),
    reset: fc.boolean(),
    since: fc.nat({ max: 6 }),
  });
  await t.resolves(
    assertProperty(
      fc.asyncProperty(plan, async ({ objects, deletionTimes, cuts, ordered, compression, reset, since }) => {
        const stored = objects.map(
          ({ time, age }, i): Stored => ({
            url: url(i),
            time,
            content: time === null ? 0 : Math.max(time - age, 1),
          }),
        );
        if (ordered) stored.sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
        const deleted = deletionTimes.map((time, i): Stored => ({ url: url(1000 + i), time, content: 0 }));
        const { port, requestedTimes } = await breakingServer(
          t,
          (from, connection, inSections) => {
            const stream = streamOf(stored, deleted, from, inSections);
            const cut = cuts[connection];
            return cut === undefined ? { stream } : { stream, cut: Math.floor(cut * stream.length) };
          },
          { accepts: ordered, reset },
        );
        // The Broker begins with the older objects, including those deleted since.
        const broker = new Map<string, string>(deleted.map((one) => [one.url, 'old']));
        for (const one of stored)
          if (one.time !== null && one.content < since) broker.set(one.url, `${one.content}`);
        const delivered: string[] = [];
        const collection = collectChanges({
          host: '127.0.0.1',
          port,
          clientName: 'c',
          since,
          compression,
          pauseMs: 0,
          maxFailures: 10,
        });
        for await (const { kind, object } of collection) {
          delivered.push(object.url);
          if (kind === 'delete') broker.delete(object.url);
          else if (kind === 'update') broker.set(object.url, object.text('Body') ?? '');
          else if (!broker.has(object.url)) return false; // refreshed, but its content never came
        }
        const selected = stored.filter(({ time }) => time === null || time >= since);
        const announced = deleted.filter(({ time }) => ordered && since > 0 && (time ?? 0) >= since);
        const newest = Math.max(since, ...[...selected, ...announced].map(({ time }) => time ?? 0));
        const { complete, connections, next } = collection.totals;
        const isResumed = requestedTimes.some((from) => from !== since);
        return (
          complete &&
          connections === cuts.length + 1 &&
          (isResumed ? next >= since && next <= newest : next === newest) &&
          delivered.sort().join() ===
            [...selected, ...announced]
              .map((one) => one.url)
              .sort()
              .join() &&
          selected.every((one) => broker.get(one.url) === `${one.content}`) &&
          deleted.every((one) => broker.has(one.url) !== announced.includes(one))
        );
      }),
      { numRuns: 60 },
    ),
  );
});
