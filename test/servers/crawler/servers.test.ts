// The servers of a crawl: identity, counters, contacts, reports and checkpoints.
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { serverOf } from '../../../servers/crawler/servers/server-key.js';
import { never, page, robotsOf, settle, setUp } from './server-cache-scene.js';

t.test('CRAWL-12.1 host and port identify a server', async (t) => {
  const { servers } = setUp({});
  t.same(serverOf('http://user@A.Example/x'), {
    server: 'a.example',
    host: 'a.example',
    origin: 'http://a.example',
  });
  t.equal(serverOf('https://a.example/').server, 'a.example:443');
  t.equal(serverOf('http://a.example:8080/').server, 'a.example:8080');
  t.equal(serverOf('ftp://a.example/').server, 'a.example:21');
  t.equal(serverOf('http://[::1]:81/').host, '[::1]');
  t.equal(serverOf('dns:a.example').server, 'a.example');
  t.equal(serverOf('file:///etc/motd').server, '');
  t.ok(servers.robotsKnown('ftp://a.example/'), 'CRAWL-12.4: only http and https have robots.txt');
  t.notOk(servers.robotsKnown('https://a.example/'));
});

t.test('CRAWL-16.6 CRAWL-8.4 finished URIs are counted for servers and hosts', async (t) => {
  const { servers } = setUp({});
  const note = (
    url: string,
    status: number,
    disposition: 'summarized' | 'failed' | 'rejected' | 'retry',
    bytes = 0,
    annotations: string[] = [],
  ): void => servers.countEvent({ url, status, disposition, bytes, annotations });
  note(page('/1'), 200, 'summarized', 100);
  note(page('/2'), 404, 'failed', 10);
  note(page('/3'), -2, 'retry');
  note(page('/3'), -2, 'failed');
  note(page('/4'), -50, 'retry');
  note(page('/5'), -9998, 'rejected');
  note(page('/6'), 200, 'rejected', 7, ['duplicate:digest']);
  note(page('/7'), 304, 'summarized', 1, ['duplicate:server-not-modified']);
  note(page('/8'), 503, 'retry', 5);
  note('https://a.example/', 200, 'summarized', 1000);
  note('file:///tmp/x', 200, 'summarized', 1000);
  const expected = {
    successes: 4,
    failures: 1,
    disregarded: 1,
    responses: 5,
    nonResponses: 2,
    robotsDenials: 1,
    successBytes: 118,
    totalBytes: 123,
    novelUris: 2,
    novelBytes: 110,
    notModifiedUris: 1,
    notModifiedBytes: 1,
    duplicateUris: 1,
    duplicateBytes: 7,
  };
  t.same(servers.serverTraffic(page('/')), expected, 'CRAWL-8.2: a 404 is a success');
  t.equal(servers.hostTraffic(page('/')).successes, 5, 'CRAWL-11.3: a host includes all its ports');
  t.equal(servers.serverTraffic('http://other.example/').responses, 0);
});

t.test('CRAWL-12.2 reports list contacts, addresses and the state of robots.txt', async (t) => {
  const setup = setUp({
    ...robotsOf('User-agent: *\nCrawl-delay: 4'),
    'https://b.example/robots.txt': { status: 404 },
  });
  const { servers, clock } = setup;
  servers.contact(page('/'), false);
  servers.contact(page('/'), false);
  t.equal(servers.report()[0]?.connectionErrors, 2);
  await settle(setup);
  clock.now = 5_000_000;
  servers.contact(page('/'), true);
  servers.contact('https://b.example/', true);
  await servers.addresses.resolve(['127.0.0.1']);
  servers.contact('http://127.0.0.1:99/', true);
  t.match(servers.report(), [
    { server: '127.0.0.1:99', addresses: ['127.0.0.1'], robots: 'none' },
    { server: 'b.example:443', addresses: [], robots: 'none', lastContact: 5_000_000 },
    { server: 'a.example', robots: 'rules', crawlDelay: 4, connectionErrors: 0, lastContact: 5_000_000 },
  ]);
  await settle(setup, 'https://b.example/');
  t.match(servers.report({ match: 'B.EX' }), [{ server: 'b.example:443', robots: 'allow-all' }]);
  t.equal(servers.report({ limit: 1 }).length, 1);
  servers.contact('http://c.example/', false);
  await servers.fetchRobots('http://c.example/', never);
  t.match(servers.report({ limit: 1 }), [{ server: 'c.example', robots: 'pending' }]);
  await settle(setup, 'http://c.example/');
  t.match(servers.report({ limit: 1 }), [{ server: 'c.example', robots: 'unavailable' }]);

  t.equal(servers.hostEmission(page('/')), 0);
  servers.setHostEmission(page('/'), 77);
  t.equal(servers.hostEmission('https://a.example:99/'), 77, 'emission times belong to the host');
});

t.test('CRAWL-8.3 a server has answered if it sent robots.txt, a response, or anything at all', async (t) => {
  const { servers } = setUp({ ...robotsOf(''), 'http://b.example/robots.txt': { status: 404 } });
  const answered = (host: string): boolean => servers.hasAnswered(`http://${host}/`);
  t.notOk(answered('a.example'));
  await servers.fetchRobots(page('/'), never);
  t.ok(answered('a.example'));
  await servers.fetchRobots('http://b.example/', never);
  t.ok(answered('b.example'), 'also that it has none');
  for (let tries = 0; tries < 3; tries++) await servers.fetchRobots('http://c.example/', never);
  t.ok(servers.robotsKnown('http://c.example/'));
  t.notOk(answered('c.example'), 'unavailable');
  servers.contact('ftp://d.example/', false);
  t.notOk(servers.hasAnswered('ftp://d.example/'));
  servers.contact('ftp://d.example/', true);
  t.ok(servers.hasAnswered('ftp://d.example/'));
  servers.countEvent({
    url: 'ftp://d.example/',
    status: 226,
    disposition: 'summarized',
    bytes: 1,
    annotations: [],
  });
  servers.contact('ftp://d.example/', false);
  t.ok(servers.hasAnswered('ftp://d.example/'), 'and fails now');
});

t.test('CRAWL-17.2 a checkpoint keeps counters and waits, but no robots.txt', async (t) => {
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /'));
  await settle(setup);
  setup.servers.countEvent({
    url: page('/'),
    status: 200,
    disposition: 'summarized',
    bytes: 9,
    annotations: [],
  });
  setup.servers.contact(page('/'), false);
  setup.servers.setHostEmission(page('/'), 77);
  const text = JSON.stringify(setup.servers.snapshot());
  const next = setUp({});
  next.servers.restore(JSON.parse(text));
  t.equal(next.servers.serverTraffic(page('/')).successBytes, 9);
  t.equal(next.servers.hostTraffic(page('/')).successes, 1);
  t.equal(next.servers.hostEmission(page('/')), 77);
  t.match(next.servers.report(), [{ server: 'a.example', connectionErrors: 1, robots: 'none' }]);
  t.notOk(next.servers.robotsKnown(page('/')));
  t.equal(JSON.stringify(next.servers.snapshot()), text);
  t.throws(() => next.servers.restore({ version: 2 }), StorageError);
});

t.test('CRAWL-12.2 the number of servers is bounded', async (t) => {
  const { servers } = setUp({}, {}, { maxServers: 3 });
  for (let n = 0; n < 10; n++) servers.contact(`http://${n}.example/`, true);
  t.same(
    servers.report().map(({ server }) => server),
    ['9.example', '8.example', '7.example'],
  );
});
