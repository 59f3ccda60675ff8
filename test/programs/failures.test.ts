// `harvest run` says what failed: on the screen, in the log, by its exit status.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { gate } from '../helpers/gate.js';
import { page, Site } from '../helpers/site.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';

/** The site's pages: two of three links are broken, and a root that is redirected to one of them. */
const PAGES = {
  '/': page('Start', ['a.html', 'b.html', 'c.html']),
  '/a.html': page('Alpha', []),
};

t.test('a root that gave nothing: a reason on the screen, exit status 1; others are gathered', async (t) => {
  await using site = await Site.start({
    ...PAGES,
    '/moved.html': (_, response) => response.writeHead(302, { location: '/lost.html' }).end(),
  });
  const data = t.testdir();
  const roots = [`${site.url}/gone.html`, `${site.url}/moved.html`, `${site.url}/`];
  const { code, stdout, stderr } = await cli(
    ...words`run --once --delay 0 --data ${data} ${ANY_PORTS} ${roots}`,
  );
  t.equal(code, 1, stderr);
  t.match(stderr, `${site.url}/gone.html: nothing was gathered from this root: status 404`);
  t.match(stderr, `${site.url}/moved.html: nothing was gathered from this root: status 404`);
  t.notMatch(stderr, `${site.url}/: nothing`);
  t.match(stderr, /^ {2}status 404: \d documents, the first is http:/m, 'reasons of documents');
  t.match(stderr, `  all failures: ${join(data, 'gatherer/log.errors')}`);
  t.match(JSON.parse(stdout), { objects: 2 });
  const again = await cli('run', '--once', '--delay', '0', '--data', data, ...ANY_PORTS, `${site.url}/`);
  t.equal(again.code, 0, 'broken links alone are no failure');
});

t.test(
  'G-87: a directory that may not be read is "permission denied"',
  { skip: process.getuid?.() !== 0 && 'needs root, to become another user' },
  async (t) => {
    const root = t.testdir({ public: { 'a.txt': 'text', private: { 'b.txt': 'text' } }, data: {} });
    chmodSync(join(root, 'public', 'private'), 0o700);
    chmodSync(join(root, 'data'), 0o777);
    const run = new CliProcess(
      ['run', '--once', '--data', join(root, 'data'), ...ANY_PORTS, join(root, 'public')],
      {},
      ['setpriv', '--reuid=65534', '--clear-groups'],
    );
    const { stderr } = await run.finished;
    t.match(stderr, /\/public\/private\/: permission denied/);
  },
);

t.test('a port that is taken: the sentence names the option', async (t) => {
  await using taken = await Site.start({});
  const { port } = taken;
  for (const name of ['gatherd', 'broker', 'web', 'references', 'documents']) {
    const options = words`${ANY_PORTS} --documents-port 0 --${name}-port ${port}`;
    const { code, stderr } = await cli('run', '--data', t.testdir(), ...options);
    t.equal(code, 1, stderr);
    t.match(
      stderr,
      new RegExp(
        `cannot listen on 127.0.0.1:${port}: the port is in use by process ${process.pid} .*; --${name}-port chooses another port`,
      ),
    );
  }
});

t.test('the console of a run: `harvest crawl` pauses, reports and continues it', async (t) => {
  const release = gate();
  await using site = await Site.start({
    ...PAGES,
    // The crawl is not over before the commands have been tried.
    '/b.html': async (_, response) => {
      await release.opened;
      response.end('late');
    },
  });
  const data = t.testdir();
  const run = new CliProcess(['run', '--delay', '0', '--data', data, ...ANY_PORTS, `${site.url}/`]);
  t.teardown(() => run.child.kill('SIGKILL'));
  const file = join(data, 'gatherer', 'crawl', 'console.json');
  await waitUntil(() => existsSync(file) || run.child.exitCode !== null);
  t.match(JSON.parse(readFileSync(file, 'utf8')), { url: /^http:\/\/127\.0\.0\.1:/ });
  const paused = await cli('crawl', 'pause', '--data', data);
  t.equal(paused.code, 0, paused.stderr);
  const report = await cli('crawl', 'report', 'queues', '--data', data);
  t.equal(report.code, 0, report.stderr);
  t.match(report.stdout, /127\.0\.0\.1/);
  t.equal((await cli('crawl', 'resume', '--data', data)).code, 0);
  release.open();
  await run.output(/^ready /m);
  for (const words of [['report', 'all'], ['pause']])
    t.match(await cli('crawl', ...words, '--data', data), {
      code: 1,
      stdout: '',
      stderr: /^crawl: no crawl is running on /,
    });
  run.child.kill('SIGTERM');
  t.equal((await run.finished).code, 0);
});

t.test('a ROOT that cannot be reached: one sentence, and the program ends', async (t) => {
  const data = t.testdir();
  const { code, stdout, stderr } = await cli(
    ...words`run --data ${data} ${ANY_PORTS} http://127.0.0.1:${await freePort()}/`,
  );
  t.equal(code, 1, stderr);
  t.equal(stdout, '', 'nothing to try');
  t.match(
    stderr,
    /^http:\S+: nothing was gathered from this root: 127\.0\.0\.1:\d+: connection refused: nothing listens on that port; is the server running\?$/m,
  );
  t.match(stderr, /^There is nothing to search\.$/m);
  t.equal(stderr.match(/connection refused/g)?.length, 1, 'it is said once');
});

t.test('a run without a ROOT whose two outputs are one pipe: its messages arrive', async (t) => {
  await using taken = await Site.start({});
  const shell = ['sh', '-c', '"$0" "$@" 2>&1 | cat'];
  const options = words`--data ${t.testdir()} ${ANY_PORTS} --documents-port ${taken.port}`;
  const { stdout } = await new CliProcess(['run', ...options], {}, shell).finished;
  t.match(stdout, /^harvest: documents: cannot listen on /);
});

t.test('what a newcomer may type: the sentence says what is meant', async (t) => {
  for (const [args, sentence] of [
    [
      'run www.example.org',
      'www.example.org: no such file or directory; did you mean http://www.example.org/?',
    ],
    [
      'run localhost:8000/x',
      'localhost:8000/x: no such file or directory; did you mean http://localhost:8000/x?',
    ],
    ['run /none', '/none: no such file or directory; a URL begins with http://'],
    ['query localhost', / query --help explains the command\n$/],
    ['links load', / links load --help explains the command\n$/],
    ['query http://localhost:8501/ word', 'must be HOST or HOST:PORT'],
    ['query localhost:web word', 'a port must be a whole number'],
  ] as const)
    t.match(await cli(...args.split(' ')), { code: 2, stdout: '', stderr: sentence }, args);
});
