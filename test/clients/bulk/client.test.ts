// Tests clients/bulk, `harvest bulk` and `harvest compare` over real sockets, against a Broker whose every byte
// the test determines.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  BulkClient,
  type BulkClientOptions,
  type BulkTransfer,
  compareBrokers,
} from '../../../clients/bulk/index.js';
import { parseMessage } from '../../../protocols/broker/index.js';
import {
  BulkReplyEncoder,
  digestOfIdentity,
  encodeDigest,
  formatTransferText,
  hexOf,
  SetDigest,
} from '../../../protocols/bulk/index.js';
import { ConnectionError, PeerError, ProtocolError, StateError } from '../../../protocols/errors.js';
import { cli } from '../../helpers/cli.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { type FakeBroker, fakeBroker } from '../broker/fake-broker.js';

const answering = (t: Test, reply: string | Uint8Array): Promise<FakeBroker> =>
  fakeBroker(t, (socket) => {
    socket.end(reply);
  });

const clientOf = ({ host, port }: FakeBroker, options: Partial<BulkClientOptions> = {}): BulkClient =>
  new BulkClient({ host, port, ...options });

/** The changes as `KIND URL TIME`, and the error that ended the transfer. */
async function received(transfer: BulkTransfer): Promise<{ lines: string[]; error: unknown }> {
  const lines: string[] = [];
  try {
    for await (const { kind, object, time } of transfer) lines.push(`${kind} ${object.url} ${time}`);
    return { lines, error: undefined };
  } catch (error) {
    return { lines, error };
  }
}

const object = (url: string, time: number): string =>
  `@FILE { ${url}\nGatherer-Name{1}:\tg\nGatherer-Host{1}:\th\nGatherer-Version{1}:\t1\nUpdate-Time{${String(time).length}}:\t${time}\n}\n`;
const groups = (updates: string): string =>
  `@DELETE {\n${object('http://a.test/gone', 5)}}\n\n@REFRESH {\n}\n\n@UPDATE {\n${updates}}\n`;
const TWO = groups(object('http://a.test/1', 7) + object('http://a.test/2', 80));
const LINES = ['delete http://a.test/gone 5', 'update http://a.test/1 7', 'update http://a.test/2 80'];
const encoder = new BulkReplyEncoder();

t.test('BT-3, BT-5: a transfer yields and counts changes, and keeps the announced time', async (t) => {
  const broker = await answering(t, `000 - ${formatTransferText(900)}\n${TWO}`);
  const transfer = clientOf(broker).changes({ since: 0 });
  t.same(await received(transfer), { lines: LINES, error: undefined });
  t.same(broker.messages, ['#BULK #SINCE 0 #END #ALLB']);
  const { bytes, ...totals } = transfer.totals;
  t.equal(bytes, object('http://a.test/gone', 5).length + object('http://a.test/1', 7).length * 2 + 1);
  t.same(totals, {
    received: { delete: 1, refresh: 0, update: 2 },
    complete: true,
    next: 900,
    interface: 1,
  });
  const again = await received(transfer);
  t.ok(again.error instanceof StateError, 'a transfer can be iterated once');
});

t.test('BT-5: without an announced time the next request starts a second before this one', async (t) => {
  const transfer = clientOf(await answering(t, TWO), { now: () => 5000 }).changes({ since: 4 });
  t.equal(transfer.totals.next, undefined);
  await received(transfer);
  t.equal(transfer.totals.next, 4999);
});

t.test('BT-10, BT-19: a refused or incomplete transfer has no next time', async (t) => {
  const cases: readonly (readonly [string, string | Uint8Array, number, (error: unknown) => boolean])[] = [
    ['400', '400 - ERROR: no\n', 0, (e) => e instanceof PeerError && e.status === 400],
    ['111', '111 - ERROR: busy\n', 0, (e) => e instanceof PeerError && e.status === 111],
    ['cut', TWO.slice(0, -20), 2, (e) => e instanceof ConnectionError],
    ['closed', '', 0, (e) => e instanceof ConnectionError],
    [
      'between groups',
      `000 - ${formatTransferText(9)}\n${TWO.slice(0, TWO.indexOf('@UPDATE'))}`,
      1,
      (e) => e instanceof ConnectionError,
    ],
    [
      'BP-23',
      Buffer.concat([encoder.version('x'), encoder.trailer({ kind: 'error', number: 4, text: 'busy' })]),
      0,
      (e) => e instanceof PeerError && e.status === 4,
    ],
    [
      'BP-28',
      Buffer.concat([encoder.version('x'), Buffer.from('999 - ')]),
      0,
      (e) => e instanceof ProtocolError && e.rule === 'BP-28',
    ],
  ];
  for (const [name, reply, count, isExpected] of cases) {
    const transfer = clientOf(await answering(t, reply)).changes({ since: 0 });
    const { lines, error } = await received(transfer);
    t.ok(isExpected(error), `${name}: ${String(error)}`);
    t.equal(lines.length, count, `${name}: the changes before the error are delivered`);
    t.equal(transfer.totals.next, undefined);
  }
});

t.test('BP-12, BP-16, BP-29: compressed groups of interface 2 after the shipped greeting', async (t) => {
  const broker = await answering(
    t,
    Buffer.concat([
      encoder.version('x'),
      encoder.info({ field: 'message', text: formatTransferText(70) }),
      encoder.compressedStart(),
      gzipSync(TWO),
      encoder.compressedEnd(),
      encoder.trailer({ kind: 'count', count: 3 }),
    ]),
  );
  const transfer = clientOf(broker).changes({ since: 6, interface: 2, compress: true });
  t.same(await received(transfer), { lines: LINES, error: undefined });
  t.same(broker.messages, ['#BULK #SINCE 6 #interface 2 #compress #END #ALLB']);
  t.equal(transfer.totals.interface, 2);
  t.equal(transfer.totals.next, 70);
});

t.test('BP-16: damaged or excessive compressed data is a ProtocolError', async (t) => {
  const wrapped = (gzip: Uint8Array): Uint8Array =>
    Buffer.concat([encoder.version('x'), encoder.compressedStart(), gzip, encoder.compressedEnd()]);
  const damaged = gzipSync(TWO.repeat(50));
  damaged.fill(0xff, 60, 90);
  const bad = await received(clientOf(await answering(t, wrapped(damaged))).changes({ since: 0 }));
  t.ok(bad.error instanceof ProtocolError && bad.error.rule === 'BP-16', String(bad.error));
  const big = gzipSync(TWO.repeat(3000));
  const limited = clientOf(await answering(t, wrapped(big)), { maxInflatedBytes: 100_000 });
  const excess = await received(limited.changes({ since: 0 }));
  t.ok(excess.error instanceof ProtocolError && excess.error.rule === 'BP-16', String(excess.error));
});

t.test('backpressure: an endless transfer is read only as fast as the caller takes changes', async (t) => {
  const piece = Buffer.from(object('http://a.test/x', 7).repeat(1000));
  let sent = 0;
  const broker = await fakeBroker(t, (socket) => {
    const writeUntilFull = (): void => {
      while (socket.writable && sent < 2 ** 28) {
        sent += piece.length;
        if (!socket.write(piece)) break;
      }
    };
    socket.on('drain', writeUntilFull);
    socket.write('@UPDATE {\n');
    writeUntilFull();
  });
  let taken = 0;
  for await (const { bytes } of clientOf(broker).changes({ since: 0 })) {
    taken += bytes.length;
    if (taken > 1_000_000) break;
  }
  const [socket] = broker.sockets;
  if (socket !== undefined && !socket.destroyed) {
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
  }
  t.ok(
    sent < 2 ** 27,
    `${sent} bytes are sent for ${taken} taken, and leaving the loop closes the connection`,
  );
});

t.test('an idle time-out and an abort end the wait for a silent Broker', async (t) => {
  const silent = await fakeBroker(t, (socket) => {
    socket.write('@UPDATE {\n');
  });
  const stalled = await received(clientOf(silent, { timeoutMs: 50 }).changes({ since: 0 }));
  t.ok(stalled.error instanceof ConnectionError, String(stalled.error));
  const stop = new AbortController();
  const reason = new Error('enough');
  const waiting = received(clientOf(silent).changes({ since: 0, signal: stop.signal }));
  setImmediate(() => stop.abort(reason));
  t.equal((await waiting).error, reason);
});

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** A Broker with digests over numbered objects; lists of up to `leaf` identities are not divided. */
function digestBroker(t: Test, numbers: readonly number[], leaf: number): Promise<FakeBroker> {
  const entries = numbers.map((number) => {
    const url = `http://a.test/${number}`;
    const identity = { url, gathererName: 'g', gathererHost: 'h', gathererVersion: '1', updateTime: 7 };
    return { digest: hexOf(digestOfIdentity(identity, sha256)), updateTime: 7, url };
  });
  const setOf = (prefix: string): SetDigest => {
    const set = new SetDigest();
    for (const { digest } of entries) if (digest.startsWith(prefix)) set.add(Buffer.from(digest, 'hex'));
    return set;
  };
  return fakeBroker(t, (socket, line) => {
    const message = parseMessage(Buffer.from(line));
    const prefix = message.kind === 'bulk' ? message.flags.digest : undefined;
    if (prefix === undefined) {
      socket.end('400 - ERROR: only digests\n');
      return;
    }
    const { count, hex: digest } = setOf(prefix);
    const identities = entries.filter((entry) => entry.digest.startsWith(prefix));
    const buckets = Array.from({ length: 16 }, (_, i) => {
      const below = setOf(prefix + i.toString(16));
      return { count: below.count, digest: below.hex };
    });
    const data = encodeDigest({ prefix, count, digest, ...(count <= leaf ? { identities } : { buckets }) });
    socket.end(Buffer.concat([encoder.version('x'), encoder.trailer({ kind: 'stats', data })]));
  });
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

t.test('compareBrokers descends only into digests that differ', async (t) => {
  const all = upTo(300);
  const a = await digestBroker(t, all, 8);
  const same = await compareBrokers(clientOf(a), clientOf(await digestBroker(t, all, 8)));
  t.same([same.equal, same.objects, same.method], [true, { a: 300, b: 300 }, 'digests']);
  t.equal(a.messages.length, 1, 'equal roots need one request');
  const b = await digestBroker(t, [...all.filter((number) => number !== 17), 1000], 8);
  a.messages.length = 0;
  const different = await compareBrokers(clientOf(a), clientOf(b));
  t.same(
    [different.equal, different.onlyA.map(({ url }) => url), different.onlyB.map(({ url }) => url)],
    [false, ['http://a.test/17'], ['http://a.test/1000']],
  );
  t.ok(a.messages.length < 10, `${a.messages.length} requests`);
  t.ok(different.bytes > 0);
});

t.test('compareBrokers compares buckets and an empty Broker, up to its limit', async (t) => {
  const few = await digestBroker(t, upTo(6), 8);
  const many = await digestBroker(t, upTo(40), 8);
  const unequal = await compareBrokers(clientOf(few), clientOf(many));
  t.equal(unequal.onlyA.length, 0);
  t.same(
    unequal.onlyB.map(({ url }) => Number(url.slice(14))).sort((x, y) => x - y),
    upTo(40).slice(6),
  );
  const none = await digestBroker(t, [], 8);
  t.equal((await compareBrokers(clientOf(many), clientOf(none))).onlyA.length, 40);
  const limited = await compareBrokers(clientOf(many), clientOf(none), { maxDifferences: 5 });
  t.same([limited.onlyA.length, limited.truncated, limited.equal], [5, true, false]);
});

t.test('compareBrokers without digests reads both Brokers completely', async (t) => {
  const shipped = (numbers: readonly number[]): Promise<FakeBroker> =>
    fakeBroker(t, (socket, line) => {
      if (line.includes('#interface')) socket.end('111 - ERROR: Malformed message\n');
      else socket.end(groups(numbers.map((number) => object(`http://a.test/${number}`, 7)).join('')));
    });
  const a = await shipped([1, 2, 3]);
  const difference = await compareBrokers(clientOf(a), clientOf(await shipped([2, 3, 4])));
  t.same(
    [difference.onlyA, difference.onlyB].map((side) =>
      side.map(({ url, updateTime }) => `${url} ${updateTime}`),
    ),
    [['http://a.test/1 7'], ['http://a.test/4 7']],
  );
  t.same([difference.method, difference.objects, difference.equal], ['transfer', { a: 3, b: 3 }, false]);
  const same = await compareBrokers(clientOf(a), clientOf(await shipped([3, 2, 1])));
  t.equal(same.equal, true);
  const mixed = await compareBrokers(
    clientOf(a),
    clientOf(await answering(t, groups(object('http://a.test/1', 7)))),
  );
  t.equal(mixed.onlyA.length, 2, 'a Broker that ignores the flags answers every request with objects');
});

t.test('BT-9, BT-10: an error of compareBrokers names its Broker', async (t) => {
  const good = await digestBroker(t, [1], 8);
  const refusing = await fakeBroker(t, (socket) => socket.end('400 - ERROR: not today\n'));
  const cutting = await fakeBroker(t, (socket) => socket.end('@UPDATE {\n'));
  const magic = await fakeBroker(t, (socket) =>
    socket.end(Buffer.concat([new BulkReplyEncoder().version('x'), Buffer.from('999 - ')])),
  );
  for (const [bad, kind] of [
    [refusing, PeerError],
    [cutting, ConnectionError],
    [magic, ProtocolError],
  ] as const) {
    const prefix = new RegExp(`^broker at 127.0.0.1:${bad.port}: `);
    const failed = await compareBrokers(clientOf(bad), clientOf(good)).catch((error: unknown) => error);
    t.ok(failed instanceof kind);
    t.match(failed, { message: prefix });
  }
});

t.test('`harvest bulk` writes groups, JSON lines, counts or a file, and sets its exit status', async (t) => {
  const broker = await answering(t, `000 - ${formatTransferText(900)}\n${TWO}`);
  const address = `127.0.0.1:${broker.port}`;
  const file = join(await temporaryDirectory(t), 'all.soif');
  const refusing = await answering(t, '400 - ERROR: no\n');
  const cut = await answering(t, TWO.slice(0, -20));
  const [soif, json, count, output, refused, broken, usage] = await Promise.all([
    cli('bulk', address, '--since', '6', '--query', 'title : x'),
    cli('bulk', address, '--json'),
    cli('bulk', address, '--count'),
    cli('bulk', address, '--output', file),
    cli('bulk', `127.0.0.1:${refusing.port}`),
    cli('bulk', `127.0.0.1:${cut.port}`),
    cli('bulk', address, '--compress'),
  ]);
  t.equal(soif.stdout, TWO, 'BT-15, BT-17: every group in its order, byte for byte');
  t.match(soif.stderr, 'next time --since 900');
  t.ok(broker.messages.includes('#BULK #SINCE 6 #END title : x'));
  const urls = json.stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { url, section = 'update' } = JSON.parse(line) as { url: string; section?: string };
      return `${section} ${url}`;
    });
  t.same(urls, ['delete http://a.test/gone', 'update http://a.test/1', 'update http://a.test/2']);
  t.match(JSON.parse(count.stdout), { delete: 1, refresh: 0, update: 2, next: 900 });
  t.equal(await readFile(file, 'latin1'), soif.stdout);
  t.same([soif.code, json.code, count.code, output.code], [0, 0, 0, 0]);
  t.same([refused.code, broken.code, usage.code], [1, 3, 2]);
  t.match(broken.stdout, 'http://a.test/1', 'the objects before the error are written');
});

t.test('BT-15, BT-17, BT-25: `harvest bulk` writes the three groups in order', async (t) => {
  const one = object('http://a.test/1', 7);
  const two = object('http://a.test/{\xe9', 8);
  const three = (gone: string, refreshed: string, updated: string) =>
    `@DELETE {\n${gone}}\n\n@REFRESH {\n${refreshed}}\n\n@UPDATE {\n${updated}}\n`;
  const cases: readonly (readonly [string, string, string])[] = [
    ['no group', '', three('', '', '')],
    ['bare objects, BT-20', one, three('', '', one)],
    ['only updates', `@UPDATE {\n${one}}\n`, three('', '', one)],
    ['only refreshes', `@REFRESH { ${one}}`, three('', one, '')],
    ['empty groups on one line', '@DELETE { } @REFRESH { } @UPDATE { }', three('', '', '')],
    ['a group in two parts', `@UPDATE {\n${one}}\n@UPDATE {\n${two}}\n`, three('', '', one + two)],
    [
      'another order: the changes keep theirs',
      `@UPDATE {\n${one}}\n@DELETE {\n${two}}\n`,
      `${three('', '', one)}\n${three(two, '', '')}`,
    ],
  ];
  const directory = await temporaryDirectory(t);
  for (const [name, reply, expected] of cases) {
    const file = join(directory, 'groups.soif');
    const broker = await answering(t, Buffer.from(reply === '' ? three('', '', '') : reply, 'latin1'));
    const { code, stderr } = await cli('bulk', `127.0.0.1:${broker.port}`, '--output', file);
    t.equal(code, 0, stderr);
    t.equal(await readFile(file, 'latin1'), expected, name);
    const { stdout } = await cli('conformance', 'soif', file);
    t.notMatch(stdout, /empty line/, 'the kit accepts the lines between the groups');
  }
});

t.test('SOIF-2.9: `harvest bulk` names an object that it cannot write', async (t) => {
  const broker = await answering(
    t,
    groups(object('http://a.test/a b', 7) + object('http://a.test/a%20b', 8)),
  );
  const { code, stdout, stderr } = await cli('bulk', `127.0.0.1:${broker.port}`);
  t.match(stderr, 'left out: update: the URL "http://a.test/a b" has white space (SOIF-2.9)');
  t.ok(stdout.includes(object('http://a.test/a%20b', 8)));
  t.equal(stdout.split('@FILE {').length, 3, 'the deletion and one update');
  t.equal(code, 1);
});

t.test('BP-12: messages to the user of both interfaces are kept', async (t) => {
  const shipped = clientOf(await answering(t, `101 - hello\n000 - Ok\n${TWO}`)).changes({ since: 0 });
  await received(shipped);
  t.same(shipped.messages, ['hello']);
  const info = (text: string) => Buffer.from(encoder.info({ field: 'message', text })).toString('latin1');
  const head = Buffer.from(encoder.version('Broker')).toString('latin1');
  const reply = `${head}${info(formatTransferText(900))}${info('Unknown flag')}${TWO}`;
  const proposed = clientOf(await answering(t, reply)).changes({ since: 0, interface: 2 });
  await received(proposed);
  t.same(proposed.messages, ['Unknown flag']);
  t.equal(proposed.totals.next, 900);
});

t.test('`harvest compare` exits with 0 if equal, 1 if different, 3 if out of reach', async (t) => {
  const [a, b, c] = await Promise.all([
    digestBroker(t, [1, 2], 8),
    digestBroker(t, [2, 1], 8),
    digestBroker(t, [2], 8),
  ]);
  const addressOf = ({ host, port }: FakeBroker): string => `${host}:${port}`;
  const [same, different, json, missing] = await Promise.all([
    cli('compare', addressOf(a), addressOf(b)),
    cli('compare', addressOf(a), addressOf(c)),
    cli('compare', '--json', addressOf(a), addressOf(c)),
    cli('compare', addressOf(a), '127.0.0.1:1'),
  ]);
  t.same([same.code, different.code, json.code, missing.code], [0, 1, 1, 3]);
  t.match(different.stdout, '< 7 http://a.test/1\n');
  t.match(JSON.parse(json.stdout), { equal: false, onlyB: [], truncated: false, method: 'digests' });
});
