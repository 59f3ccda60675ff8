// The memory of pages with long lists whose clients do not read.
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { ReplyMemory } from '../../../../servers/broker/query/reply-memory.js';
import { holdList, sendList } from '../../../../servers/broker/web/large-reply.js';
import { servePages } from '../../../attacks/web-servers.js';
import { ManualClock, nextTurn, until } from '../../../helpers/manual-clock.js';

const MIB = 1 << 20;
/** Objects of a list that is held as a mebibyte. */
const OBJECTS = 2048;
const NEVER = new AbortController().signal;

t.test('lists beyond the memory wait before they are written; the slowest is cut for them', async (t) => {
  const clock = new ManualClock();
  const memory = new ReplyMemory({ totalBytes: 4 * MIB, graceMs: 5000, clock });
  const cut: number[] = [];
  const held: (Disposable | undefined)[] = [];
  const lists = Array.from({ length: 12 }, async (_, i) => {
    const visitor = { client: `192.0.2.${i}`, signal: NEVER };
    const list = await holdList(OBJECTS, memory, visitor, () => {
      cut.push(i);
      held[i]?.[Symbol.dispose]();
    });
    held[i] = list;
  });
  await nextTurn();
  t.equal(held.filter((list) => list !== undefined).length, 4, 'as many as fit');
  t.equal(
    await holdList(20, memory, { client: '192.0.2.99', signal: NEVER }, () => undefined),
    undefined,
    'a page of 20 does not wait',
  );
  while (cut.length < 8) {
    clock.advance(1000);
    await nextTurn();
    t.ok(memory.bytes <= 4 * MIB, `${memory.bytes} bytes, ${cut.length} cut`);
  }
  await Promise.all(lists);
  for (const list of held) list?.[Symbol.dispose]();
  t.equal(memory.bytes, 0);
  t.equal(memory.replies, 0);

  const stop = new AbortController();
  const first = await holdList(4 * OBJECTS, memory, { client: 'a', signal: NEVER }, () => undefined);
  const second = holdList(OBJECTS, memory, { client: 'b', signal: stop.signal }, () => undefined);
  stop.abort();
  await t.rejects(second, { name: 'AbortError' }, 'one that leaves while it waits');
  first?.[Symbol.dispose]();
  t.equal(memory.replies, 0);
});

t.test('a list is sent as its client reads it, and its memory is given back', async (t) => {
  const memory = new ReplyMemory();
  const body = 'é'.repeat(8 * MIB);
  let sent = 0;
  const { port } = await servePages(t, {
    routes: (app) => {
      app.get('/list', async (request, reply) => {
        const list = await holdList(OBJECTS, memory, { client: request.ip, signal: NEVER }, () =>
          reply.raw.destroy(),
        );
        if (list === undefined) return reply.send('');
        const counted = {
          progress: (bytes: number) => {
            sent += bytes;
            list.progress(bytes);
          },
          [Symbol.dispose]: () => list[Symbol.dispose](),
        };
        return sendList(reply, body, counted);
      });
    },
  });
  const slow = connect({ port, host: '127.0.0.1' });
  slow.on('error', () => undefined).pause();
  slow.write('GET /list HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => sent > 0);
  t.equal(memory.bytes, MIB, 'held while the client does not read');
  slow.destroy();
  await until(() => memory.bytes === 0);
  t.ok(sent < 2 * body.length, `${sent} bytes were accepted of a reply that was left`);

  const [response] = await once(get({ port, host: '127.0.0.1', path: '/list', agent: false }), 'response');
  t.equal((await buffer(response)).toString(), body);
  t.equal(response.headers['content-length'], String(2 * body.length));
  await until(() => memory.bytes === 0);
  t.equal(memory.replies, 0);
});
