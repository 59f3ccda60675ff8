// Tests protocols/gopher (URLs, menus, texts) and the Gopher fetcher against scripted servers.
import fc from 'fast-check';
import t from 'tap';
import { GopherFetcher, isPrivateAddress } from '../../../clients/fetch/index.js';
import {
  decodeGopherText,
  encodeGopherRequest,
  GopherMenuDecoder,
  gopherItemUrl,
  parseGopherError,
  parseGopherItem,
  parseGopherUrl,
} from '../../../protocols/gopher/index.js';
import { assertProperty } from '../../helpers/property.js';
import { onLines, scripted, sendForever, textOf } from './scripted.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const MENU =
  'iWelcome\t\terror.host\t1\r\n' +
  '1Docs\t/docs/..\tGopher.Example\t70\r\n' +
  '0About us\t/about us.txt\tgopher.example\t7070\t+\r\n' +
  '7Find\t/find\tgopher.example\t70\r\n' +
  'hWeb\tURL:http://www.example/~joe\tgopher.example\t70\r\n' +
  '8Shell\t\tgopher.example\t23\r\n' +
  '3Gone\t\terror.host\t1\r\n' +
  'no tabs\r\n\r\n' +
  '9Umlaut\t/\xfcber\tgopher.example\t70\n' +
  '.\r\n0After\tx\tgopher.example\t70\r\n';
const MENU_URLS = [
  'gopher://gopher.example/1%2Fdocs%2F..',
  'gopher://gopher.example:7070/0/about%20us.txt',
  'gopher://gopher.example/7/find',
  'http://www.example/%7ejoe',
  'telnet://gopher.example:23/',
  'gopher://gopher.example/9/%FCber',
];

t.test('G-55: a Gopher URL gives an address and a request line', (t) => {
  t.strictSame(parseGopherUrl('gopher://h.example/'), {
    host: 'h.example',
    port: 70,
    type: '1',
    selector: '',
    search: undefined,
    plus: undefined,
  });
  const address = parseGopherUrl('gopher://[::1]:7070/7/s%FC%09two%20words');
  t.match(address, { host: '::1', port: 7070, type: '7', selector: '/s\xfc', search: 'two words' });
  t.equal(textOf(encodeGopherRequest(address)), '/s\xfc\ttwo words\r\n');
  const plus = parseGopherUrl('gopher://h/0/a%09%09+');
  t.equal(textOf(encodeGopherRequest(plus)), '/a\t\t+\r\n');
  t.throws(() => parseGopherUrl('gopher://h/0/a%0d%0aQUIT'), { code: 'ERR_USAGE' });
  t.end();
});

t.test('G-37, G-55: a menu cut anywhere gives the same items and URLs', (t) => {
  assertProperty(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), (sizes) => {
      const decoder = new GopherMenuDecoder();
      const items = [];
      let offset = 0;
      for (const size of [...sizes, MENU.length]) {
        items.push(...decoder.push(bytes(MENU.slice(offset, offset + size))));
        offset += size;
      }
      t.strictSame(
        items.map(gopherItemUrl).filter((url) => url !== undefined),
        MENU_URLS,
      );
      t.ok(decoder.ended && !decoder.truncated);
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('G-55: an item whose selector cannot be requested is not a link', (t) => {
  for (const selector of ['\0', 'a\rb', '/x\0']) {
    const item = parseGopherItem(`0Name\t${selector}\tgopher.example\t70`);
    t.equal(item === undefined ? undefined : gopherItemUrl(item), undefined, JSON.stringify(selector));
  }
  t.end();
});

t.test('G-55: an item whose host is no host is not a link', (t) => {
  for (const host of ['a/\0', 'a/b', 'a@b', 'a b', 'a?', 'a#', 'a%62', '[a', 'a\\b']) {
    const item = parseGopherItem(`0Name\t/x\t${host}\t70`);
    t.equal(item === undefined ? undefined : gopherItemUrl(item), undefined, JSON.stringify(host));
  }
  const ipv6 = parseGopherItem('0Name\t/x\t::1\t70');
  t.equal(ipv6 === undefined ? undefined : gopherItemUrl(ipv6), 'gopher://[::1]/0/x', 'an IPv6 address');
  t.end();
});

t.test('G-86: menus are read within limits, and an unfinished line is dropped', (t) => {
  const few = new GopherMenuDecoder({ maxItems: 2 });
  t.equal(few.push(bytes(MENU)).length, 2);
  t.ok(few.ended && few.truncated);
  const short = new GopherMenuDecoder({ maxLineBytes: 40 });
  const items = short.push(bytes(`0${'x'.repeat(100)}\ta\tb\t70\r\n0ok\ta\tb\t70\r\n0cut\ta\tb\t7`));
  t.match(items, [{ display: 'ok', port: 70 }]);
  t.ok(short.truncated && !short.ended);
  t.equal(parseGopherItem('0a\tb\tc\t99999')?.port, 0, 'an impossible port becomes 0');
  t.end();
});

t.test('the end mark and doubled dots of a text are removed; error items are recognized', (t) => {
  t.equal(textOf(decodeGopherText(bytes('a\r\n..b\r\n.\r\n'))), 'a\r\n.b\r\n');
  t.equal(
    textOf(decodeGopherText(bytes('..as it is\r\n'))),
    '..as it is\r\n',
    'without an end mark dots stay',
  );
  t.equal(textOf(decodeGopherText(bytes('.\r\n'))), '');
  t.equal(textOf(decodeGopherText(bytes('1.\n'))), '1.\n');
  t.equal(parseGopherError(bytes("3'/x' does not exist\t\terror.host\t1\r\n.\r\n")), "'/x' does not exist");
  t.equal(parseGopherError(bytes('3 apples\r\n')), undefined);
  t.equal(parseGopherError(bytes('3Gone\ta\tb\t1\r\n0File\ta\tb\t70\r\n')), undefined, 'a menu');
  t.end();
});

t.test('G-26: menus give links, texts and binaries give bytes, errors give a status', async (t) => {
  const { port } = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      if (line === '')
        socket.write(bytes(MENU)); // the connection stays open after the end mark
      else if (line === '/t.txt') socket.end('one\r\n..two\r\n.\r\n');
      else if (line === '/b') socket.end(Buffer.from([0, 255, 46, 13, 10]));
      else if (line === '/p\t\t+') socket.end('+4\r\nabcdEXTRA');
      else if (line === '/q\t\t+') socket.end('--1\r\n1 Joe <joe@h>\r\nnot here\r\n.\r\n');
      else if (line === '/find\twheat') socket.end('0Wheat\t/w\tgopher.example\t70\r\n');
      else if (line === '/plain') socket.end('Error: not found\r\n');
      else if (line === '/empty') socket.end('.\r\n');
      else socket.end('3No such file\t\terror.host\t1\r\n');
    }),
  );
  await using fetcher = new GopherFetcher();
  const get = (path: string) => fetcher.fetch({ url: `gopher://127.0.0.1:${port}/${path}`, timeoutMs: 5000 });
  const menu = await get('');
  t.match(menu, { status: 200, contentType: 'application/gopher-menu', truncated: false });
  t.strictSame(menu.links, MENU_URLS);
  t.match(await get('0/t.txt'), { contentType: 'text/plain', body: bytes('one\r\n.two\r\n') });
  t.match(await get('9/b'), { body: Buffer.from([0, 255, 46, 13, 10]), remoteAddress: '127.0.0.1' });
  t.equal(textOf((await get('0/p%09%09+')).body), 'abcd', 'Gopher+ announces the length');
  t.match(await get('0/q%09%09+'), { status: 404 });
  t.strictSame((await get('7/find%09wheat')).links, ['gopher://gopher.example/0/w']);
  t.match(await get('1/none'), { status: 404, headers: { 'gopher-error': 'No such file' } });
  t.match(await get('1/plain'), { status: 404, headers: { 'gopher-error': 'Error: not found' } });
  t.match(await get('1/empty'), { status: 200, links: [] });
  await t.rejects(get('8/'), { code: 'ERR_USAGE' });
});

t.test('G-85, G-86: a time-out, a size limit and an abort end a Gopher retrieval', async (t) => {
  const sent = { bytes: 0 };
  const { port } = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      if (line === '/silent') socket.write('half a li');
      else if (line === '/endless') sendForever(socket, Buffer.alloc(65_536, 97), sent);
    }),
  );
  await using fetcher = new GopherFetcher();
  const get = (path: string, more = {}) =>
    fetcher.fetch({ url: `gopher://127.0.0.1:${port}/${path}`, timeoutMs: 5000, ...more });
  await t.rejects(get('0/silent', { timeoutMs: 50 }), {
    code: 'ERR_CONNECTION',
    message: /nothing received for 50 ms/,
  });
  const endless = await get('0/endless', { maxBytes: 1_000_000 });
  t.equal(endless.body.length, 1_000_000);
  t.ok(endless.truncated);
  t.ok(sent.bytes < 50_000_000, 'backpressure stops the server');
  const menu = await get('1/endless', { maxBytes: 1_000_000 });
  t.ok(menu.truncated, 'a menu of one endless line is cut');
  const stop = new AbortController();
  const waiting = get('0/silent', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
  await using hasty = new GopherFetcher({ maxTransferMs: 30 });
  await t.rejects(hasty.fetch({ url: `gopher://127.0.0.1:${port}/0/silent` }), {
    message: /not done within 30 ms/,
  });
});

t.test('G-174: a Gopher request with publicOnly does not connect to this machine', async (t) => {
  const { port, connections } = await scripted(t, (socket) => socket.end('x'));
  await using fetcher = new GopherFetcher();
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
    const url = `gopher://${host}:${port}/0/x`;
    await t.rejects(fetcher.fetch({ url, publicOnly: true }), { code: 'ERR_REFUSED', message: /G-174/ });
  }
  t.equal(connections(), 0);
});

t.test('G-174: loopback, private, link-local and multicast addresses are private', (t) => {
  const privateAddresses =
    '127.0.0.1 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255';
  for (const address of `${privateAddresses} ::1 :: fe80::1%eth0 fd00::1 ::ffff:10.0.0.1 ::ffff:7f00:1 [::1]`.split(
    ' ',
  )) {
    t.ok(isPrivateAddress(address), address);
  }
  for (const address of '8.8.8.8 172.32.0.1 100.128.0.1 2001:4860:4860::8888 ::ffff:8.8.8.8'.split(' ')) {
    t.notOk(isPrivateAddress(address), address);
  }
  t.end();
});
