// The pooled buffers of SSTP replies.
import t from 'tap';
import { ReplyBuffers, ReplyWriter } from '../../../protocols/sstp/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { publishFixture } from '../../storage/references/fixture.js';
import { RawClient, serveFixture } from './helpers.js';

const NOT_FOUND = 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n';

/** Returns the reply to a request for all links of a document. */
function replyOf(ids: readonly number[]): string {
  const head = `SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: ${ids.length}\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: ${ids.length}\r\n`;
  return `${head}${ids.map((id) => `HEADER_URI_ID: ${id}\r\n`).join('')}\r\n`;
}

t.test('reply buffers are reused only after their release', async (t) => {
  const buffers = new ReplyBuffers();
  const one = new ReplyWriter(buffers);
  const two = new ReplyWriter(buffers);
  one.writeLinks(81, 1, 0, Uint32Array.of(4_294_967_295), 0, 1);
  two.writeLinks(81, 1, 0, Uint32Array.of(7), 0, 1);
  const first = one.take();
  const second = two.take();
  t.not(first.buffer, second.buffer, 'concurrent writers use different buffers');
  t.equal(Buffer.from(first).toString('latin1'), replyOf([4_294_967_295]));
  t.equal(Buffer.from(second).toString('latin1'), replyOf([7]));
  one.writeNotFound();
  t.not(one.take().buffer, first.buffer, 'a buffer that was not released is not reused');
  buffers.giveBack(first);
  two.writeNotFound();
  const third = two.take();
  t.equal(third.buffer, first.buffer);
  t.equal(Buffer.from(third).toString('latin1'), NOT_FOUND, 'a reused buffer contains only the new reply');
  buffers.giveBack(third);
  const all = Array.from({ length: 5000 }, (_, i) => i);
  one.writeLinks(81, 5000, 0, Uint32Array.from(all), 0, 5000);
  t.equal(Buffer.from(one.take()).toString('latin1'), replyOf(all), 'longer than a pooled buffer');
});

t.test('S-39: replies that wait for a slow client are not overwritten', async (t) => {
  const data = await temporaryDirectory(t);
  const linksOf = (id: number): number[] => Array.from({ length: 3000 }, (_, i) => id * 1_000_000 + i);
  const documents = [1, 2, 3, 4];
  const pairs = documents.flatMap((id) => linksOf(id).map((target): [number, number] => [id, target]));
  await publishFixture(data, [], pairs);
  const { address } = await serveFixture(t, { data });
  const requestsFor = (id: number, count: number): string =>
    `SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: ${id}\r\n\r\n`.repeat(count);
  // Far more replies than the socket buffers of both sides hold.
  const pending = 300;
  const slow = await Promise.all(documents.slice(0, 2).map(() => RawClient.connect(t, address.port)));
  for (const [i, client] of slow.entries()) {
    client.socket.pause();
    client.send(requestsFor(i + 1, pending));
  }
  const quick = await RawClient.connect(t, address.port);
  for (let round = 0; round < 50; round++) {
    quick.send(requestsFor(3, 1) + requestsFor(4, 2));
    const replies = await quick.until('\r\n\r\n', 3);
    if (replies !== replyOf(linksOf(3)) + replyOf(linksOf(4)).repeat(2))
      t.fail(`round ${round}: the replies are mixed up`);
  }
  for (const [i, client] of slow.entries()) {
    client.socket.resume();
    client.socket.end();
    t.ok((await client.rest()) === replyOf(linksOf(i + 1)).repeat(pending), `slow client ${i + 1}`);
  }
});
