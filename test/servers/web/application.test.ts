// What all web pages share: security headers, assets, bodies, form tokens, cookies, the shell of a page.

import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import t from 'tap';
import { ConnectionError } from '../../../protocols/errors.js';
import {
  type ApplicationOptions,
  createApplication,
  listenOn,
  localUrl,
} from '../../../servers/web/application.js';
import { readCookie, removedCookie, sessionCookie } from '../../../servers/web/cookies.js';
import { FormTokens } from '../../../servers/web/form-tokens.js';
import { html } from '../../../servers/web/html.js';
import { renderPage } from '../../../servers/web/page-shell.js';
import { PasswordThrottle } from '../../../servers/web/password-throttle.js';
import { sendLine } from '../../../servers/web/replies.js';
import { isCrossOrigin } from '../../../servers/web/request-origin.js';
import { securityHeaders } from '../../../servers/web/security-headers.js';
import { waitUntil } from '../../helpers/wait-until.js';

/** Sends this and the end, and returns all that comes back. */
function exchange(port: number, request: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(request, 'latin1');
  return textOf(socket);
}

const OPTIONS: ApplicationOptions = {
  headers: securityHeaders({ referrer: 'no-referrer' }),
  assets: [{ path: '/style.css', file: '#web-assets/style.css' }],
  bodies: 'form',
  hostNames: () => ({ names: [] }),
  notFound: (_request, reply) => sendLine(reply, 404, 'not found'),
  failed: ({ reply, status }) => sendLine(reply, status, `failed: ${status}`),
  routes: (app) => {
    app.get('/', (_request, reply) => sendLine(reply, 200, 'first'));
    app.post('/fields', ({ body }) => (body instanceof URLSearchParams ? [...body] : null));
    app.get('/broken', () => {
      throw new Error('broken');
    });
  },
};

t.test('every reply has the security headers, including those to malformed URLs and to errors', async (t) => {
  const failures: unknown[] = [];
  const app = await createApplication({ ...OPTIONS, logFailure: (error) => failures.push(error) });
  t.teardown(() => app.close());
  for (const [url, status] of [
    ['/', 200],
    ['/style.css', 200],
    ['/nothing', 404],
    ['/%zz', 400],
    ['/broken', 500],
  ] as const) {
    const reply = await app.inject(url);
    t.equal(reply.statusCode, status, url);
    t.match(reply.headers['content-security-policy'], /^default-src 'none'; style-src 'self'; form-action/);
    t.equal(reply.headers['x-content-type-options'], 'nosniff', url);
  }
  t.match(failures, [{ message: 'broken' }], 'only errors of the server are logged');
});

t.test('RFC 9112, 3.2.4: the target * is no page', async (t) => {
  const app = await createApplication(OPTIONS);
  t.teardown(() => app.close());
  const { port } = await listenOn(app, { host: '127.0.0.1', port: 0 }, 'test');
  for (const line of ['GET * HTTP/1.1', 'HEAD *?a HTTP/1.1', 'POST *x HTTP/1.0'])
    t.match(
      await exchange(port, `${line}\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 400 /,
      line,
    );
  t.match(
    await exchange(port, 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 404 /,
  );
});

t.test(
  'a client that ends its direction with its requests gets every reply, also one that takes a moment',
  async (t) => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const app = await createApplication({
      ...OPTIONS,
      routes: (app) => {
        app.get('/slow', async (_request, reply) => {
          await gate;
          return sendLine(reply, 200, 'slow');
        });
      },
    });
    t.teardown(() => app.close());
    const { port } = await listenOn(app, { host: '127.0.0.1', port: 0 }, 'test');
    const request = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const replies = [
      exchange(port, request),
      exchange(port, request.repeat(3)),
      exchange(port, `${request}GET /sl`),
    ];
    let ended = 0;
    app.server.on('request', ({ socket }: { socket: Socket }) => socket.once('end', () => ended++));
    await waitUntil(() => ended >= 2);
    open();
    const texts = await Promise.all(replies);
    t.same(
      texts.map((text) => text.split('slow\n').length - 1),
      [1, 3, 1],
    );
  },
);

t.test('a request that is not admitted is refused, whatever its URL', async (t) => {
  const app = await createApplication({
    ...OPTIONS,
    admit: (_request, reply) => sendLine(reply, 403, 'not allowed'),
  });
  t.teardown(() => app.close());
  for (const url of ['/', '/style.css', '/nothing', '/%zz', '/broken'])
    t.equal((await app.inject(url)).statusCode, 403, url);
});

t.test('assets are cached, and have HEAD routes', async (t) => {
  const app = await createApplication({ ...OPTIONS, headRoutes: false });
  t.teardown(() => app.close());
  for (const method of ['GET', 'HEAD'] as const) {
    const { statusCode, headers } = await app.inject({ method, url: '/style.css' });
    t.equal(statusCode, 200);
    t.match(headers, { 'cache-control': 'max-age=3600', 'content-type': 'text/css; charset=utf-8' });
  }
  t.equal((await app.inject({ method: 'HEAD', url: '/' })).statusCode, 404);
  await t.rejects(
    createApplication({ ...OPTIONS, assets: [{ path: '/x', file: '#broker-assets/BrokerQuery.cf' }] }),
    TypeError,
  );
});

t.test('bodies are read in the formats of the application, within its limit', async (t) => {
  const send = async (bodies: ApplicationOptions['bodies'], type: string, payload: string) => {
    const app = await createApplication({ ...OPTIONS, bodies, maxBodyBytes: 20 });
    t.teardown(() => app.close());
    const headers = { 'content-type': type };
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/fields', headers, payload });
    return [statusCode, body];
  };
  const form = 'application/x-www-form-urlencoded';
  t.same(await send('form', form, 'a=caf%E9+b'), [200, '[["a","café b"]]']);
  t.same(await send('form', 'application/json', '{}'), [415, 'failed: 415\n']);
  t.same(await send('form', 'text/plain', 'x'), [415, 'failed: 415\n']);
  t.same(await send('form', form, 'x'.repeat(21)), [413, 'failed: 413\n']);
  t.same(await send('form and json', 'application/json', '{}'), [200, 'null']);
  t.same(await send('form and json', 'application/json', '{'), [400, 'failed: 400\n']);
  t.same(await send('form and json', 'text/plain', 'x'), [415, 'failed: 415\n']);
  t.same(await send('none', form, 'x'.repeat(30)), [200, 'null']);
});

t.test('an application that cannot listen is closed', async (t) => {
  const first = await createApplication(OPTIONS);
  t.teardown(() => first.close());
  const { port } = await listenOn(first, { host: '127.0.0.1', port: 0 }, 'first');
  let closed = 0;
  const second = await createApplication({
    ...OPTIONS,
    routes: (app) => void app.addHook('onClose', async () => void closed++),
  });
  await t.rejects(listenOn(second, { host: '127.0.0.1', port }, 'second'), {
    constructor: ConnectionError,
    message: new RegExp(`^second: cannot listen on 127.0.0.1:${port}: `),
  });
  t.equal(closed, 1);
  t.equal(localUrl({ host: '::', port: 80 }), 'http://[::1]:80/');
  t.equal(localUrl({ host: '0.0.0.0', port: 80 }), 'http://127.0.0.1:80/');
});

t.test('an application whose routes fail is closed', async (t) => {
  let closed = 0;
  await t.rejects(
    createApplication({
      ...OPTIONS,
      routes: (app) => {
        app.addHook('onClose', async () => void closed++);
        throw new Error('no routes');
      },
    }),
    { message: 'no routes' },
  );
  t.equal(closed, 1);
});

t.test('a form token is accepted from the browser that has its cookie, and from no other site', async (t) => {
  const tokens = new FormTokens();
  const { token, cookie = '' } = tokens.issue({});
  t.match(cookie, /^harvest-admin=[\w-]{24}; Path=\/; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: `other=1; ${cookie.split(';')[0]}`, host: 'h:1' };
  t.same(tokens.issue(headers), { token }, 'the cookie is kept');
  t.ok(tokens.accepts(headers, token));
  t.ok(tokens.accepts({ ...headers, origin: 'http://h:1', 'sec-fetch-site': 'same-origin' }, token));
  t.notOk(tokens.accepts({ ...headers, origin: 'http://h:2' }, token));
  t.notOk(tokens.accepts({ ...headers, 'sec-fetch-site': 'same-site' }, token));
  t.notOk(tokens.accepts(headers, `${token}x`));
  t.notOk(tokens.accepts({ host: 'h:1' }, token));
  t.notOk(new FormTokens().accepts(headers, token), 'a token is valid only in the process that issued it');
  t.ok(isCrossOrigin({ origin: 'null', host: 'h' }));
});

t.test('after too many failed passwords an address must wait', async (t) => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  for (let i = 0; i < 10; i++) throttle.recordFailure('192.0.2.1');
  t.equal(throttle.secondsToWait('192.0.2.1'), 300);
  t.equal(throttle.secondsToWait('192.0.2.2'), 0);
  now = 300_001;
  t.equal(throttle.secondsToWait('192.0.2.1'), 0);
});

t.test('cookies are read by name', async (t) => {
  t.equal(readCookie({ cookie: 'a=1; b=2; ab=3' }, 'b'), '2');
  t.equal(readCookie({ cookie: 'ab=3' }, 'b'), undefined);
  t.equal(readCookie({}, 'b'), undefined);
  t.equal(sessionCookie('a', 'x'), 'a=x; Path=/; HttpOnly; SameSite=Strict');
  t.match(removedCookie('a'), /^a=;.* Max-Age=0;/);
});

t.test('a page has landmarks, and its text is escaped', async (t) => {
  const { text } = renderPage(
    {
      title: '<b>',
      noindex: true,
      styles: ['/a.css'],
      icon: '/i.svg',
      script: '/s.js',
      site: { name: 'A & B', href: '/' },
      navigation: { label: 'Pages', content: html`<ul></ul>` },
      footer: html`<p>foot</p>`,
    },
    html`<h1>x</h1>`,
  );
  for (const part of [
    '<title>&lt;b&gt;</title>',
    '<a class="skip" href="#main">',
    'A &amp; B</a>',
    '<nav aria-label="Pages">',
    '<main id="main" tabindex="-1">\n<h1>x</h1>\n</main>',
    '<footer>\n<p>foot</p>\n</footer>',
  ])
    t.ok(text.includes(part), part);
  const bare = renderPage({ title: 't', styles: { text: 'a{}' } }, 'x').text;
  t.notMatch(bare, /header|footer|robots|script/);
  t.match(bare, '<style>\na{}\n</style>');
});
