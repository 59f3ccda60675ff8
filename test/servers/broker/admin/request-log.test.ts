// Tests who a query is counted for, and the limits of its log lines.
import t from 'tap';
import { RequestLog } from '../../../../servers/broker/admin/request-log.js';
import { LocalCallers } from '../../../../servers/broker/query/local-callers.js';
import { BrokerPages } from '../../../../servers/broker/web/routes.js';
import { document, exchange, openBroker, serveBroker, storeObject } from '../helpers.js';

t.test('a connection of this process is counted for the address that it names, another one is not', (t) => {
  const callers = new LocalCallers();
  const entry = callers.register({ address: '::ffff:127.0.0.1', port: 5000 }, '192.0.2.7');
  t.equal(callers.addressOf({ address: '127.0.0.1', port: 5000 }), '192.0.2.7');
  t.equal(callers.addressOf({ address: '127.0.0.1', port: 5001 }), '127.0.0.1');
  t.equal(callers.addressOf({ address: '127.0.0.2', port: 5000 }), '127.0.0.2');
  entry[Symbol.dispose]();
  t.equal(callers.addressOf({ address: '127.0.0.1', port: 5000 }), '127.0.0.1');
  t.end();
});

t.test('the query of a web page is logged for its browser', async (t) => {
  const fixture = await openBroker(t);
  const { broker, log } = fixture;
  await storeObject(broker, document('http://www.example.org/', { Title: 'Gopher' }));
  await broker.keeper.settle();
  const server = await serveBroker(t, fixture);
  const pages = await BrokerPages.open({ broker, brokerAddress: server.address, log: broker.log });
  t.teardown(() => pages.results[Symbol.asyncDispose]());
  const fields = new URLSearchParams({ query: 'gopher', caseflag: 'on' });
  const { status } = await pages.results.reply(fields, '192.0.2.7', new AbortController().signal);
  t.equal(status, 200);
  await exchange(server.address.port, '#USER #END gopher\r\n');
  const lines = log.filter((line) => line.includes('Query: '));
  t.match(lines[0], /Query: 192\.0\.2\.7: /);
  t.match(lines[1], /Query: 127\.0\.0\.1: /, 'a client of the port cannot name another address');
});

t.test('BRK-5.7: the lines of an address are bounded, those of another are not affected', async (t) => {
  const { broker, log } = await openBroker(t);
  const requests = new RequestLog(broker.log, broker.events, { address: { burst: 5, perSecond: 0 } });
  for (let i = 0; i < 50; i++) requests.query('192.0.2.1', `query ${i}`);
  requests.query('192.0.2.2', 'another');
  t.equal(log.filter((line) => line.includes('192.0.2.1: query')).length, 5);
  t.equal(log.filter((line) => line.includes('192.0.2.2: another')).length, 1);
  requests[Symbol.dispose]();
  t.equal(log.filter((line) => line.includes('192.0.2.1: 45 further lines')).length, 1, 'they are counted');
});
