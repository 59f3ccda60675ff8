// Objects of 60 MB, as an archive or a database dump may be summarized: a Broker collects, indexes and sends
// them within a fixed amount of memory.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { BrokerClient } from '../../clients/broker/index.js';
import { BulkClient } from '../../clients/bulk/index.js';
import { document, NOW } from '../servers/broker/helpers.js';
import { startPeer } from './endless-peers.js';
import { type LargeBroker, type LargeFigures, startLargeBroker } from './large-objects-broker.js';

/** Resident memory of the whole process, MB. */
const MAX_MB = 300;
const OBJECTS = 3;
const BODY = { skip: process.platform !== 'linux' };

/** About 60 MB of text whose compression is that of usual text. */
const TEXT = Buffer.alloc(60_000_000);
{
  let seed = 1;
  const words = Array.from({ length: 4096 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed.toString(36);
  });
  let block = '';
  for (let n = 0; block.length < 1_000_000; n++) {
    seed = (seed * 48_271) % 2_147_483_647;
    block += `${words[seed % words.length]}${n % 12 === 11 ? '\n' : ' '}`;
  }
  for (let at = 0; at < TEXT.length; ) at += TEXT.write(block, at, 'latin1');
  TEXT.write('uniquefirst ', 0, 'latin1');
  TEXT[TEXT.length - 1] = 0x0a;
}
const DIGEST = createHash('sha256').update(TEXT).digest('hex');

/** What follows the body in the objects. */
function tailOf(updateTime: number): string {
  return document('x', {}, updateTime).split('\n').slice(1).join('\n');
}

/** The sections of an update with large objects. */
function* update(updateTime: number): Generator<string | Uint8Array> {
  yield '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n';
  for (let n = 0; n < OBJECTS; n++) {
    yield `@FILE { http://a.test/${n}\nTitle{9}:\tA large ${n}\nText{${TEXT.length}}:\t`;
    for (let at = 0; at < TEXT.length; at += 1 << 16) yield TEXT.subarray(at, at + (1 << 16));
    yield `\n${tailOf(updateTime)}`;
  }
  yield '}\n';
}

function* named(section: string, updateTime: number): Generator<string> {
  yield section === 'DELETE' ? '@DELETE {\n' : '@DELETE {\n}\n@REFRESH {\n';
  for (let n = 0; n < OBJECTS; n++) yield `@FILE { http://a.test/${n}\n${tailOf(updateTime)}`;
  yield section === 'DELETE' ? '}\n@REFRESH {\n}\n@UPDATE {\n}\n' : '}\n@UPDATE {\n}\n';
}

function checkMemory(t: Test, what: string, figures: LargeFigures): void {
  const { peakMB, peakOwnMB, restMB, dirtyTablesKiB } = figures;
  t.comment(`${what}: ${peakOwnMB} MB at most, with mapped tables ${peakMB} MB, then ${restMB} MB`);
  t.ok(peakOwnMB < MAX_MB, `${what}: ${peakOwnMB} MB at most`);
  t.equal(dirtyTablesKiB, 0, `${what}: the system can take back the mapped tables`);
}

/** Requests a value of each object, and returns its digests by URL. */
async function digestsByQuery(port: number): Promise<Record<string, string>> {
  const client = new BrokerClient({
    host: '127.0.0.1',
    port,
    limits: { maxValueBytes: 64 << 20, maxHitBytes: 96 << 20 },
  });
  const digests: Record<string, string> = {};
  for await (const hit of client.query('uniquefirst', { attributes: ['Text'] })) {
    digests[hit.url] = createHash('sha256')
      .update(hit.get('Text') ?? '')
      .digest('hex');
  }
  return digests;
}

async function digestsByTransfer(port: number, compress: boolean): Promise<Record<string, string>> {
  const client = new BulkClient({ host: '127.0.0.1', port, maxInflatedBytes: 2 ** 40 });
  const digests: Record<string, string> = {};
  const transfer = client.changes(compress ? { since: 0, interface: 2, compress: true } : { since: 0 });
  for await (const { object } of transfer) {
    digests[object.url] = createHash('sha256')
      .update(object.get('Text') ?? '')
      .digest('hex');
  }
  return digests;
}

const EXPECTED = Object.fromEntries(
  Array.from({ length: OBJECTS }, (_, n) => [`http://a.test/${n}`, DIGEST]),
);

for (const [full, incremental] of [
  [0, 1],
  [2, 3],
] as const) {
  t.test(`a gatherd, types ${full} and ${incremental}`, BODY, async (t) => {
    let content: () => Iterable<string | Uint8Array> = () => update(NOW - 1000);
    const peer = await startPeer(t, 'gatherd', () => content());
    const broker: LargeBroker = await startLargeBroker(t);
    const before = await broker.figures();
    t.comment(`an empty Broker: ${before.peakMB} MB`);
    const collected = await broker.collect(peer.point(full));
    t.match(collected, { received: OBJECTS, count: OBJECTS, complete: true, reasons: [] });
    checkMemory(t, `type ${full}`, collected);
    t.ok(collected.peakMB < MAX_MB, `type ${full}: ${collected.peakMB} MB at most, mapped tables included`);
    t.same(await digestsByQuery(broker.port), EXPECTED);
    checkMemory(t, 'a query for a value', await broker.figures());
    t.same(await digestsByTransfer(broker.port, full === 2), EXPECTED);
    checkMemory(t, `a ${full === 2 ? 'compressed ' : ''}bulk transfer`, await broker.figures());
    if (full === 0) {
      const other = await startLargeBroker(t);
      const relayed = await other.collect({ host: '127.0.0.1', port: broker.port, type: 4, line: 1 });
      t.match(relayed, { received: OBJECTS, count: OBJECTS, complete: true, reasons: [] });
      checkMemory(t, 'a Broker that collects from it, type 4', relayed);
      checkMemory(t, 'the bulk transfer to it', await broker.figures());
    }

    content = () => update(NOW - 500);
    const updated = await broker.collect(peer.point(incremental));
    t.match(updated, { received: OBJECTS, count: OBJECTS, complete: true, reasons: [] });
    checkMemory(t, `type ${incremental}, changed objects`, updated);
    content = () => named('REFRESH', NOW - 400);
    const refreshed = await broker.collect(peer.point(incremental));
    t.match(refreshed, { received: OBJECTS, count: OBJECTS, complete: true, reasons: [] });
    checkMemory(t, `type ${incremental}, refreshed objects`, refreshed);
    t.same(await digestsByQuery(broker.port), EXPECTED);
    checkMemory(t, 'a query for a value of a refreshed object', await broker.figures());
    content = () => named('DELETE', NOW - 300);
    const deleted = await broker.collect(peer.point(incremental));
    t.match(deleted, { received: OBJECTS, count: 0, complete: true, reasons: [] });
    checkMemory(t, `type ${incremental}, deleted objects`, deleted);
  });
}
