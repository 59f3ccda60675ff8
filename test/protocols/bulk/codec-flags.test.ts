// The flags that Part B and this kit add to the Broker's messages (BP-29 to BP-31).
import t from 'tap';
import { formatMessage, parseMessage } from '../../../protocols/broker/index.js';
import { encodeBulkRequest } from '../../../protocols/bulk/index.js';
import { ProtocolError } from '../../../protocols/errors.js';

const flagsOf = (line: string) => {
  const message = parseMessage(Buffer.from(line));
  if (message.kind === 'admin') throw new Error('not a query');
  return message.flags;
};

t.test('BP-29: #interface 2 is read, and #interface 1, the shipped one, cancels it', async (t) => {
  t.equal(flagsOf('#USER #desc #interface 2 #END x').interface, 2);
  t.equal(flagsOf('#BULK #INTERFACE 2 #END #allb').interface, 2);
  t.equal('interface' in flagsOf('#BULK #interface 2 #interface 1 #END #allb'), false);
  t.equal('interface' in flagsOf('#BULK #END #allb'), false);
  for (const wrong of ['0', '3', 'x', '#END']) {
    t.throws(() => flagsOf(`#BULK #interface ${wrong} #END #allb`), ProtocolError, wrong);
  }
});

t.test('BP-30, BP-31: #compress and #digest are written and read back', async (t) => {
  const line = '#BULK #SINCE 5 #interface 2 #compress #digest 0af #END #ALLB';
  const { interface: version, compress, digest, since } = flagsOf(line);
  t.same({ version, compress, digest, since }, { version: 2, compress: true, digest: '0af', since: 5 });
  t.equal(flagsOf('#BULK #interface 2 #digest - #END #ALLB').digest, '');
  t.equal(
    formatMessage(parseMessage(Buffer.from(line))),
    '#BULK #since 5 #interface 2 #compress #digest 0af #END #allb',
  );
  t.equal(
    formatMessage(parseMessage(Buffer.from('#BULK #digest - #END #ALLB'))),
    '#BULK #digest - #END #allb',
  );
  for (const wrong of ['A', 'g', '0'.repeat(17), '""']) {
    t.throws(() => flagsOf(`#BULK #digest ${wrong} #END #allb`), ProtocolError, wrong);
  }
});

t.test('BT-3, BT-6: a Broker reads our requests', async (t) => {
  const read = (...[request]: Parameters<typeof encodeBulkRequest>) =>
    parseMessage(encodeBulkRequest(request).subarray(0, -2));
  t.match(read({ since: 0 }), { kind: 'bulk', flags: { since: 0 }, query: { kind: 'all' } });
  t.match(read({ since: 7, flags: '#index case insensitive', query: 'linux' }), {
    kind: 'bulk',
    flags: { since: 7, ignoreCase: true },
    query: { kind: 'term', text: 'linux' },
  });
  t.match(read({ interface: 2, digest: 'f' }), { flags: { interface: 2, digest: 'f' } });
});
