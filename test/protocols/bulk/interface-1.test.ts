// Tests the requests, and the replies of the shipped interface (BT-2 to BT-22). Expected bytes are written by
// hand.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import {
  BulkReplyDecoder,
  encodeBulkError,
  encodeBulkRequest,
  encodeBulkSuccess,
  formatTransferText,
  groupClose,
  groupOpen,
  parseTransferTime,
} from '../../../protocols/bulk/index.js';
import { StateError, UsageError } from '../../../protocols/errors.js';
import {
  CHANGES,
  eventLines,
  formatEvent,
  GREETING,
  GROUPS,
  latin1,
  objectText,
  readReply,
  textOf,
} from './replies.js';

t.test('BT-3, BT-6, BP-29: requests are encoded byte for byte', async (t) => {
  const request = (...[options]: Parameters<typeof encodeBulkRequest>): string =>
    textOf(encodeBulkRequest(options));
  t.equal(request({ since: 0 }), '#BULK #SINCE 0 #END #ALLB\r\n');
  t.equal(request({ since: 828000000 }), '#BULK #SINCE 828000000 #END #ALLB\r\n');
  t.equal(
    request({ flags: '#index case insensitive', query: 'linux and kernel' }),
    '#BULK #index case insensitive #END linux and kernel\r\n',
  );
  t.equal(request({ since: 9, flags: '#desc', query: 'x' }), '#BULK #SINCE 9 #desc #END x\r\n');
  t.equal(request({ since: 0, interface: 2 }), '#BULK #SINCE 0 #interface 2 #END #ALLB\r\n');
  t.equal(
    request({ interface: 2, compress: true, digest: 'a0' }),
    '#BULK #interface 2 #compress #digest a0 #END #ALLB\r\n',
  );
  t.equal(request({ interface: 2, digest: '' }), '#BULK #interface 2 #digest - #END #ALLB\r\n');
  t.throws(() => request({ since: -1 }), RangeError);
  t.throws(() => request({ since: 0.5 }), RangeError);
  t.throws(() => request({ query: 'a\nb' }), UsageError);
  t.throws(() => request({ digest: 'a' }), TypeError);
  t.throws(() => request({ interface: 2, digest: 'A' }), RangeError);
  t.throws(() => request({ interface: 2, digest: '0'.repeat(17) }), RangeError);
});

t.test('BT-10, BT-17: the lines of the shipped interface are encoded byte for byte', async (t) => {
  t.equal(textOf(encodeBulkSuccess(formatTransferText(42))), '000 - Bulk transfer follows, time 42\n');
  t.equal(textOf(encodeBulkError('no such attribute\nx')), '400 - ERROR: no such attribute x\n');
  const empty = (['delete', 'refresh', 'update'] as const).map(
    (change) => textOf(groupOpen(change)) + textOf(groupClose(change)),
  );
  t.equal(empty.join(''), '@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n');
  t.equal(parseTransferTime('Bulk transfer follows, time 42'), 42);
  t.equal(parseTransferTime('bulk transfer'), undefined);
});

t.test('BT-9, BT-10, BT-14: version line, success line and groups are read', async (t) => {
  t.same(eventLines(`${GREETING}000 - ok\n${GROUPS}`), [
    'version 1 1.0 HARVEST Broker 1.0',
    'status 0 ok',
    ...CHANGES,
    'complete',
  ]);
  const [change] = readReply([latin1(GREETING + GROUPS)]).events.filter((event) => event.kind === 'change');
  t.equal(change?.kind === 'change' && change.offset, GREETING.length + '@DELETE {\n'.length);
  t.equal(change?.kind === 'change' && textOf(change.bytes), objectText('http://a.test/d'));
});

t.test('BT-10: an error comes instead of data; BT-11: 099 and 499 end the stream', async (t) => {
  t.same(eventLines(`${GREETING}400 - ERROR: no\n`).slice(1), [
    'status 400 ERROR: no',
    'incomplete: ERROR: no',
  ]);
  t.same(eventLines(`${GREETING}111 - ERROR: busy\n`).slice(1), [
    'status 111 ERROR: busy',
    'incomplete: ERROR: busy',
  ]);
  t.same(eventLines(`${GROUPS}099 - done\ngarbage @UPDATE {`), [...CHANGES, 'status 99 done', 'complete']);
  t.same(eventLines(`${GROUPS}499 - Sent 2 objects\n@UPDATE {`), [
    ...CHANGES,
    'status 499 Sent 2 objects',
    'complete',
  ]);
  t.same(eventLines('200 - Broker\n499 - no\n').at(-1), 'incomplete: the reply ends before the data');
  t.same(
    eventLines('@UPDATE {\n499 - no\n').at(-1),
    'incomplete: the reply ends inside the group UPDATE',
    'BT-19: neither line closes a group',
  );
});

t.test('BT-10: status lines between objects are skipped, and the group stays open', async (t) => {
  const reply = `@DELETE {\n${objectText('http://a.test/1')}000 - still here\n${objectText('http://a.test/2')}}\n`;
  t.same(eventLines(reply), [
    'delete http://a.test/1',
    'warning GATHERD-3.7',
    'status 0 still here',
    'delete http://a.test/2',
    'complete',
  ]);
});

t.test('BT-15, BT-18, BT-20: groups in any order, case and layout, and objects outside', async (t) => {
  const reply = `\n@update{${objectText('http://a.test/1')}}@DELETE { } @Refresh\t{\n${objectText('http://a.test/2')}}\n@UPDATE {}`;
  t.same(eventLines(reply), ['update http://a.test/1', 'refresh http://a.test/2', 'complete']);
  t.same(eventLines(objectText('http://a.test/1')), ['update http://a.test/1', 'complete']);
});

t.test('BT-19: a reply that is cut is incomplete, and its complete objects are delivered', async (t) => {
  const reply = latin1(`${GREETING}000 - ${formatTransferText(9)}\n${GROUPS}`);
  const wrong: number[] = [];
  for (let length = 0; length < reply.length - 1; length++) {
    const { events } = readReply([reply.subarray(0, length)]);
    const end = events.at(-1);
    const whole = events.filter((event) => event.kind === 'change').length;
    const ends = [...GROUPS.matchAll(/\t7\n\}\n/g)].map(
      (match) => reply.length - GROUPS.length + match.index + 4,
    );
    const expected = ends.filter((end) => end <= length).length;
    if (end?.kind !== 'end' || end.complete || whole !== expected) wrong.push(length);
  }
  t.same(wrong, []);
  t.same(eventLines(''), ['incomplete: the reply ends before the data']);
});

t.test('BT-9: a peer that does not greet as a broker is recognized before it closes', async (t) => {
  for (const first of [
    '000 - HELLO 1.8 gatherer\n',
    '220 mail\n',
    'HTTP/1.0 400 Bad Request\r\n',
    '{}',
    '2x',
  ]) {
    const { error } = readReply([latin1(first)]);
    t.same([error?.rule, error?.offset], ['BT-9', 0], first);
  }
  t.equal(readReply([latin1('20')]).error, undefined, 'two digits are not enough to decide');
  t.same(eventLines('20'), ['warning BT-9', 'incomplete: the reply ends before the data']);
});

t.test('BT-5: an announced time beyond the range of a request is ignored', async (t) => {
  t.equal(parseTransferTime('Bulk transfer follows, time 4294967295'), 4_294_967_295);
  t.equal(parseTransferTime('Bulk transfer follows, time 4294967296'), undefined);
  t.equal(parseTransferTime('Bulk transfer follows, time 999999999999999'), undefined);
});

t.test('BT-13: a gzip member after the status line is tolerated', async (t) => {
  const plain = latin1(GROUPS);
  const gzip = gzipSync(plain);
  const member = { plain, deflated: gzip.length - 18 };
  const { events } = readReply([latin1(`${GREETING}000 - ok\n`), gzip], {}, member);
  t.same(events.map(formatEvent).slice(2), [...CHANGES, 'complete']);
  const cut = readReply([latin1(GREETING), gzip.subarray(0, -9)], {}, member);
  t.match(cut.events.map(formatEvent).at(-1), 'incomplete');
});

t.test('interface 1 limits the lengths of lines and objects, and the number of lines', async (t) => {
  t.same(eventLines(`200 - ${'x'.repeat(20)}\n`, { maxLineBytes: 20 }), ['! BT-10']);
  t.same(eventLines(`200 - \n001 - \n002 - \n`, { maxLines: 2 }).at(-1), '! BT-10');
  t.same(
    eventLines(`${GROUPS}`, { soif: { maxObjectBytes: 10 } }).filter((line) => line.startsWith('update')),
    [],
  );
});

t.test('calls in the wrong state throw a StateError', async (t) => {
  const decoder = new BulkReplyDecoder();
  t.throws(() => decoder.inflated(latin1('x')), StateError);
  decoder.end();
  t.equal(decoder.done, true);
  t.throws(() => decoder.push(latin1('x')), StateError);
});
