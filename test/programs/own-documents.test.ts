// `harvest run` without a ROOT: what it prints works as printed.
import t from 'tap';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { words } from '../helpers/words.js';

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
      t.equal(stdout.split('\n')[0]?.toLowerCase(), `1. ${args[1]}`, 'the page with this title');
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
