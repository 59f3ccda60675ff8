// Pages of other sites that reach our web pages under their own name (DNS rebinding), or make a browser send
// requests (CSRF). Raw sockets.
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { WebServer } from '../../servers/broker/index.js';
import { FormServer } from '../../servers/gatherer/annotate/form-server.js';
import { LEVEL, logTo, startRefererd, userLine } from '../../servers/refererd/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { consoleScene, LOG, PASSWORD } from '../servers/crawler/console-scene.js';

/** Sends these bytes; returns the reply up to the end of the connection, or its first 64 KiB. */
function exchange(
  port: number,
  head: readonly string[],
  body = '',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (): void => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    socket.on('error', reject);
    socket.setTimeout(5000, done);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      // A stream of events does not end.
      if ((/^HTTP\/1.1 200 /.test(text) && text.includes('text/event-stream')) || text.length > 65_536)
        done();
    });
    socket.on('end', done);
    socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  });
}

/** The words of a text. */
function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

interface Target {
  readonly name: string;
  readonly port: number;
  readonly paths: readonly string[];
  /** Sent with every request, so that only the host can be the reason for a refusal. */
  readonly headers: readonly string[];
  readonly remedy: RegExp;
  /** A name that the configuration adds. */
  readonly ownName: string;
}

const USER = `Authorization: Basic ${Buffer.from('anna:sesame').toString('base64')}`;

async function references(t: Test) {
  const data = await temporaryDirectory(t);
  await writeFile(join(data, 'passwords'), `${await userLine('anna', 'sesame')}\n`);
  const refererd = await startRefererd({
    data,
    port: 0,
    log: logTo(LOG, LEVEL.notice),
    passwordFile: join(data, 'passwords'),
    hostNames: { names: ['Refs.Example.'], remedy: 'start it with --web-name and this name' },
  });
  t.teardown(() => refererd.close());
  return refererd;
}

async function targets(t: Test): Promise<Target[]> {
  const fixture = await openBroker(t, {
    conf: 'Web-Names search.example xn--bcher-kva.example\nBroker-Host broker.example\n',
  });
  const server = await serveBroker(t, fixture);
  const { broker } = fixture;
  const address = { host: '127.0.0.1', port: 0 };
  const web = await WebServer.listen({ broker, brokerAddress: server.address, ...address, log: broker.log });
  t.teardown(() => web.close());
  const refererd = await references(t);
  const { crawlConsole } = await consoleScene(t, { allowedHosts: ['crawl.example'] });
  const cgi = '/Harvest/cgi-bin';
  return [
    {
      name: 'Broker',
      port: web.address.port,
      paths: words(`
        / /query.html /Harvest/index.html /advanced.html /queryhelp.html /adminhelp.html /soifhelp.html /stats.html /admin.html
        ${cgi}/BrokerQuery.cgi?query=a ${cgi}/BrokerQuery.pl.cgi?query=a&format=json ${cgi}/nph-search.cgi?query=a&format=rss
        ${cgi}/DisplayObject.cgi?object=/x ${cgi}/BrokerAdmin.cgi /Harvest/brokers/example/objects/1/OBJ1 /healthz /robots.txt
        /Harvest/style.css /Harvest/enhance.js /Harvest/icon.svg /favicon.ico /nothing /%zz`),
      headers: [],
      remedy: /Web-Names in broker\.conf/,
      ownName: 'search.example',
    },
    {
      name: 'refererd',
      port: refererd.address.port,
      paths: words(
        '/ /?q=1&format=json /stat /style.css /icon.svg /favicon.ico /nothing /%zz /reload /clean',
      ),
      headers: [USER],
      remedy: /--web-name/,
      ownName: 'refs.example',
    },
    {
      name: 'console',
      port: crawlConsole.address.port,
      paths: words(`
        / /login /events /metrics /style.css /console.css /console.js /icon.svg /nothing /%zz /api/snapshot /api/history
        /api/queues /api/hosts /api/workers /api/errors /api/chains`),
      headers: [`Authorization: Bearer ${crawlConsole.token}`],
      remedy: /console\.hostNames/,
      ownName: 'crawl.example',
    },
  ];
}

t.test('a foreign Host gets 421 on every path of every server, before anything is done', async (t) => {
  for (const { name, port, paths, headers, remedy } of await targets(t)) {
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const head = [
          `${method} ${path} HTTP/1.1`,
          `Host: rebind.example:${port}`,
          ...headers,
          'Content-Length: 0',
        ];
        const { status, text } = await exchange(port, head);
        t.equal(status, 421, `${name} ${method} ${path}`);
        if (method === 'GET') t.match(text, remedy, `${name} ${path} names the remedy`);
      }
      const own = await exchange(port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers]);
      t.ok(own.status >= 200 && own.status !== 421 && own.status < 500, `${name} ${path}: ${own.status}`);
    }
  }
});

t.test('which hosts are accepted', async (t) => {
  for (const { name, port, headers, ownName } of await targets(t)) {
    const path = name === 'Broker' ? '/healthz' : name === 'console' ? '/metrics' : '/stat';
    const statusOf = async (lines: readonly string[], version = '1.1') =>
      (await exchange(port, [`GET ${path} HTTP/${version}`, ...lines, ...headers])).status;
    const accepted = words(`
      127.0.0.1 127.0.0.1:${port} [::1] [::1]:80 [::FFFF:127.0.0.1] 192.0.2.7:8080 127.0.0.1.
      localhost LOCALHOST:80 localhost. ${hostname()} ${hostname().toUpperCase()}:1
      ${ownName} ${ownName.toUpperCase()}:99 ${ownName}.`);
    for (const host of accepted) t.equal(await statusOf([`Host: ${host}`]), 200, `${name}: ${host}`);
    const refused = words(`
      evil.example evil.example:80 localhost.evil.example 127.0.0.1.evil.example notlocalhost x${ownName}
      ${ownName}.evil.example www.${ownName} localhost:80:80 localhost@evil.example evil.example@localhost
      evil.example#localhost localhost/x localhost\\x [evil.example] [::1 ::1 localhost,evil.example .. .
      xn--localhost-.example %6cocalhost localhost:a *`);
    refused.push('evil.example localhost');
    for (const host of refused) {
      const status = await statusOf([`Host: ${host}`]);
      t.ok(status === 421 || status === 400, `${name}: ${host}: ${status}`);
    }
    t.equal(await statusOf([`Host: 127.0.0.1`, 'Host: evil.example']), 400, `${name}: two hosts`);
    t.equal(await statusOf([`host: 127.0.0.1`, 'HOST: 127.0.0.1']), 400, `${name}: the same host twice`);
    t.not(await statusOf(['Host:']), 200, `${name}: an empty host`);
    t.equal(await statusOf([]), 400, `${name}: HTTP/1.1 without a host`);
    t.equal(
      await statusOf([], '1.0'),
      200,
      `${name}: HTTP/1.0 without a host, as programs of the 1990s send it`,
    );
    t.equal(await statusOf(['Host: evil.example'], '1.0'), 421, `${name}: HTTP/1.0 with a foreign host`);
  }
});

t.test('an absolute request target is checked like Host', async (t) => {
  for (const { name, port, headers } of await targets(t)) {
    const path = name === 'Broker' ? '/healthz' : name === 'console' ? '/metrics' : '/stat';
    const statusOf = async (target: string, host: string) =>
      (await exchange(port, [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...headers])).status;
    t.equal(await statusOf(`http://evil.example${path}`, '127.0.0.1'), 421, name);
    t.equal(await statusOf(`HTTP://evil.example:80${path}`, '127.0.0.1'), 421, name);
    t.equal(await statusOf(`http://127.0.0.1${path}`, 'evil.example'), 421, name);
    t.equal(await statusOf(`http://127.0.0.1@evil.example${path}`, '127.0.0.1'), 421, name);
    t.equal(await statusOf(`http://127.0.0.1:${port}${path}`, `127.0.0.1:${port}`), 200, name);
  }
});

t.test('the annotation form answers its own address only', async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(directory, { recursive: true });
  const server = await FormServer.listen({ file: join(directory, 'annotations'), token: 'secret' });
  t.teardown(() => server.close());
  for (const path of ['/', '/?token=secret', '/edit?url=http://x/', '/style.css', '/nothing']) {
    t.equal((await exchange(server.port, [`GET ${path} HTTP/1.1`, 'Host: evil.example'])).status, 421, path);
  }
  t.equal(
    (await exchange(server.port, ['GET /?token=secret HTTP/1.1', `Host: 127.0.0.1:${server.port}`])).status,
    303,
  );
});

t.test('/clean and /reload: a page of another site cannot use the credentials of the browser', async (t) => {
  const { address, service } = await references(t);
  const { port } = address;
  const browser = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
  const own = `http://127.0.0.1:${port}`;
  const { counts } = service.statistics;
  const send = async (method: string, path: string, lines: readonly string[]) => {
    counts.not_found = 7;
    const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, USER, ...lines];
    const { status, text } = await exchange(port, method === 'POST' ? [...head, 'Content-Length: 0'] : head);
    const changed = path.startsWith('/clean') ? counts.not_found === 0 : status === 200;
    return { status, text, changed };
  };
  for (const path of ['/clean', '/reload']) {
    const refused: (readonly string[])[] = [
      ['Origin: http://evil.example'],
      ['Origin: null'],
      [`Origin: http://127.0.0.1:${port + 1}`],
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site'],
      ['Sec-Fetch-Site: same-origin', 'Origin: http://evil.example'],
      [`Origin: ${own}`, 'Sec-Fetch-Site: cross-site'],
      // An image or a link without a referrer, to an address that is neither https nor of this machine, shows
      // nothing.
      [browser],
    ];
    for (const lines of refused) {
      for (const method of ['GET', 'POST']) {
        const { status, changed } = await send(method, path, lines);
        t.same([status, changed], [403, false], `${method} ${path} ${lines.join(' ')}`);
      }
    }
    const accepted: (readonly string[])[] = [
      [],
      ['User-Agent: curl/8.5.0'],
      ['User-Agent: libwww-perl/5.0'],
      [browser, 'Sec-Fetch-Site: none'],
      [browser, 'Sec-Fetch-Site: same-origin'],
      [browser, `Origin: ${own}`],
    ];
    for (const lines of accepted) {
      const { status, changed } = await send('GET', path, lines);
      t.same([status, changed], [200, true], `GET ${path} ${lines.join(' ')}`);
    }
    const { text } = await send('GET', path, [browser]);
    const action = /<form action="([^"]*)" method="post">/.exec(text)?.[1]?.slice(1) ?? '';
    t.match(action, new RegExp(`^${path}\\?token=[\\w-]{43}$`), 'the browser gets a form');
    t.same((await send('POST', action, [browser])).changed, true, 'whose answer is accepted');
    t.same((await send('POST', `${action.slice(0, -1)}!`, [browser])).changed, false);
    t.same(
      (await send('POST', action.replace(path, path === '/clean' ? '/reload' : '/clean'), [browser])).status,
      403,
    );
    const stranger = await exchange(port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`]);
    t.equal(stranger.status, 401, 'without credentials');
  }
});

t.test('the forms of the Broker and of the console refuse other origins', async (t) => {
  const [broker, , crawlConsole] = await targets(t);
  const form = ['Content-Type: application/x-www-form-urlencoded'];
  const body = `password=${encodeURIComponent(PASSWORD)}`;
  for (const [target, path] of [
    [broker!, '/Harvest/cgi-bin/BrokerAdmin.cgi'],
    [crawlConsole!, '/login'],
    [crawlConsole!, '/api/pause'],
    [crawlConsole!, '/api/stop'],
  ] as const) {
    const { port } = target;
    for (const line of [
      'Origin: http://evil.example',
      'Origin: null',
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Site: same-site',
    ]) {
      const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...target.headers, ...form, line];
      const { status } = await exchange(port, [...head, `Content-Length: ${body.length}`], body);
      t.equal(status, 403, `${path} ${line}`);
    }
  }
});
