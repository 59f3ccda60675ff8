// Browsers that a page of another site makes send HTTP to the ports of gatherd and of the Broker, with lines of
// the page's choice: the connection is closed at the first line that is HTTP, and nothing after it is a
// command.
import t, { type Test } from 'tap';
import { exchange as ask, openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, RawClient, startGatherd } from '../servers/gatherd/helpers.js';

const COMMANDS = 'SEND-UPDATE 0\r\nINFO\r\nSEND-OBJECT http://a.test/\r\nQUIT\r\n';

function request(line: string, body: string, headers: readonly string[] = []): string {
  const head = [line, 'Host: 127.0.0.1:8500', 'Connection: keep-alive', ...headers];
  return `${[...head, 'Content-Type: text/plain', `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** What browsers can be made to send. */
const REQUESTS: readonly (readonly [name: string, bytes: string])[] = [
  ['a form', request('POST / HTTP/1.1', COMMANDS)],
  ['HTTP/1.0', request('POST / HTTP/1.0', COMMANDS)],
  ['only line feeds', request('POST / HTTP/1.1', COMMANDS).replaceAll('\r', '')],
  ['a method that is a command', request('SEND-UPDATE / HTTP/1.1', COMMANDS)],
  ['a method with an argument', request('SEND-OBJECT /http://a.test/ HTTP/1.1', COMMANDS)],
  ['HELLO as a method', request('HELLO / HTTP/1.1', COMMANDS)],
  ['a proxy request', request('GET http://a.test/ HTTP/1.1', COMMANDS)],
  ['a tunnel', request('CONNECT 127.0.0.1:8500 HTTP/1.1', COMMANDS)],
  ['OPTIONS', request('OPTIONS * HTTP/1.1', COMMANDS)],
  ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${COMMANDS}`],
  ['small letters', request('post / http/1.1', COMMANDS)],
  ['a target longer than a line', request(`POST /${'x'.repeat(20_000)} HTTP/1.1`, COMMANDS)],
  ['an empty line first', `\r\n${request('POST / HTTP/1.1', COMMANDS)}`],
];

/** Sends the text in pieces of this many bytes and returns everything that the server sends until it closes. */
async function send(t: Test, port: number, text: string, pieceBytes: number): Promise<string> {
  const client = new RawClient(t, port);
  for (let at = 0; at < text.length && !client.socket.closed; at += pieceBytes) {
    client.send(text.slice(at, at + pieceBytes));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await client.closed;
  return client.received;
}

t.test('gatherd', async (t) => {
  const { port, log } = await startGatherd(t, [entry('http://a.test/', 1000, 'secret text')]);
  for (const [name, text] of REQUESTS) {
    for (const pieceBytes of text.length > 10_000 ? [text.length, 4096] : [text.length, 7]) {
      const received = await send(t, port, text, pieceBytes);
      t.match(received, /900 - Unknown command: this is not an HTTP server\n$/, name);
      t.notMatch(received, /secret|^[3469]99 |^[346]00 |^100 /m, `${name}: no command is executed`);
    }
  }
  t.ok(
    log.some((line) => line.includes('HTTP request, closed')),
    'the log says why',
  );
  const client = new RawClient(t, port);
  client.send('HELLO www.http.example\r\nFROB\r\nSEND-OBJECT http://a.test/\r\nHELP HTTP\r\nQUIT\r\n');
  await client.closed;
  t.match(
    client.received,
    /100 - HELLO www\.http\.example\n900 - Unknown command: FROB\n300 - [\s\S]*secret text/,
  );
  t.match(client.received, /999 - Bye\n$/, 'other clients are unchanged');
});

t.test('the Broker', async (t) => {
  const fixture = await openBroker(t);
  const { address } = await serveBroker(t, fixture);
  for (const [name, text] of REQUESTS) {
    const messages = text.replaceAll(COMMANDS, '#ADMIN #password open sesame #shutdown\r\n#USER #END a\r\n');
    t.match(await ask(address.port, messages), /HTTP server|longer than|Malformed|syntax/i, name);
  }
  for (const method of ['#USER', '#BULK', '#ADMIN', '#USER/#END']) {
    const received = await ask(address.port, request(`${method} /x HTTP/1.1`, ''));
    t.match(received, /not an HTTP server/, method);
  }
  t.match(
    await ask(address.port, '#USER #END http AND 1.1\r\n'),
    /^103 - |^103 - 0|^200 /m,
    'queries are answered',
  );
  t.notMatch(
    await ask(address.port, '#USER #END Title HTTP/1.1\r\n'),
    /HTTP server/,
    'a query may end like a request',
  );
  t.equal(fixture.broker.store.count, 0);
});
