// `harvest run` without a ROOT: what it prints works as printed.
import t from 'tap';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { words } from '../helpers/words.js';

/** The URLs of the objects that a gatherd serves, by the ready line of a run. */
async function servedUrls(output: string): Promise<string[]> {
  const [, host = '', port = ''] = /gatherd=(\S+):(\d+)/.exec(output) ?? [];
  const { stdout } = await cli('gather', host, port);
  return [...stdout.matchAll(/^@FILE \{ (http:\/\/127\S+)$/gm)].map(([, url = '']) => url);
}

t.test(
  'the documents of an earlier run at another port are deleted, not kept beside those of today',
  async (t) => {
    const data = await temporaryDirectory(t);
    const [first, second, gatherd] = [await freePort(), await freePort(), await freePort()];
    // A collection point is a port: at another one a Broker would not ask for changes.
    const ports = [...ANY_PORTS, '--gatherd-port', String(gatherd)];
    const counts: number[] = [];
    for (const port of [first, second]) {
      const run = new CliProcess(words`run --data ${data} ${ports} --documents-port ${port}`);
      t.teardown(() => run.child.kill('SIGKILL'));
      await run.output(/references --to .*\n/);
      const urls = await servedUrls(run.stdout);
      t.same(
        urls.filter((url) => !url.startsWith(`http://127.0.0.1:${port}/`)),
        [],
      );
      counts.push(urls.length);
      const [, broker = ''] = /broker=(\S+)/.exec(run.stdout) ?? [];
      const { stdout } = await cli('query', '--json', broker, 'gatherd');
      t.match(stdout, `:${port}/`);
      if (port === second) t.notMatch(stdout, `:${first}/`, 'the Broker has learned of it');
      run.child.kill('SIGTERM');
      await run.finished;
    }
    t.equal(counts[1], counts[0]);

    // Other roots in the same directory: the documents are served no longer.
    const site = t.testdir({ 'wheat.html': '<title>Wheat</title>Wheat needs sun.' });
    const other = new CliProcess(words`run ${site} --data ${data} ${ports}`);
    t.teardown(() => other.child.kill('SIGKILL'));
    await other.output(/gather \S+ \d+ \| less\n/);
    t.same(await servedUrls(other.stdout), []);
    other.child.kill('SIGTERM');
    await other.finished;
  },
);

t.test('a run without a ROOT gathers the documents it serves; the commands it prints work', async (t) => {
  const documentsPort = await freePort();
  const args = words`run --data ${t.testdir()} ${ANY_PORTS} --documents-port ${documentsPort}`;
  const run = new CliProcess(args);
  t.teardown(() => run.child.kill('SIGKILL'));
  await run.output(/references --to .*\n/);
  t.match(run.stderr, /Gathered: \d+ summarized, 0 unchanged, 0 kept, 0 rejected, 0 failed/);
  const commands = run.stdout.matchAll(/^ {2}.*?harvest(?:\.js)? (query|gather|references) (.*)$/gm);
  const tried = [...commands].filter(([line]) => !line.includes('|'));
  t.same(
    tried.map(([, name]) => name),
    ['query', 'gather', 'references'],
  );
  for (const [, name = '', rest = ''] of tried) {
    const args = rest.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
    const { code, stdout, stderr } = await cli(name, ...args);
    t.equal(code, 0, `${name} ${rest}: ${stderr}`);
    t.ok(stdout.split('\n').length > 2, stdout);
    if (name === 'query')
      t.match(stdout.split('\n')[0]?.toLowerCase(), args[1], 'a page with these words in its title');
    if (name === 'references') t.match(stdout, /^http:\S+\n/, 'URLs of documents');
    t.notMatch(stdout, `:${documentsPort}/test/`, 'what is for the developers of the kit alone is left out');
  }
  for (const [, url = ''] of run.stdout.matchAll(/^ {2}open (.*)$/gm)) {
    const reply = await fetch(url, { headers: { accept: 'text/html' } });
    t.equal(reply.status, 200);
    t.match(await reply.text(), /<h1/);
  }
  run.child.kill('SIGTERM');
  t.equal((await run.finished).code, 0);

  const again = new CliProcess(args);
  t.teardown(() => again.child.kill('SIGKILL'));
  await again.output(/references --to .*\n/);
  t.match(again.stderr, /^Nothing has changed: \d+ documents are not due for another visit yet/m);
  again.child.kill('SIGTERM');
  await again.finished;
});
