// `harvest init` and `harvest schedule` as processes.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseBrokerConf, parseCollectionConf, parseGathererConf } from '../../protocols/config/index.js';
import { cli, finishedOf, PROGRAM } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { words } from '../helpers/words.js';

// Each test starts processes, which takes long on a busy machine.
const DOCUMENTS = { 'a.txt': 'Beans and peas.\n', 'b.txt': 'A pear tree.\n' };

/** Options with separate directories and free ports for a server. */
async function serverOptions(directory: string): Promise<string[]> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const servers = words`--gatherer-directory ${join(directory, 'g')} --broker-directory ${join(directory, 'b')}`;
  return [
    ...servers,
    ...words`--www-port ${ports[0]!} --gatherer-port ${ports[1]!} --broker-port ${ports[2]!}`,
  ];
}

t.test('G-160, G-161 init --yes creates a running server without questions', async (t) => {
  const directory = t.testdir({ docs: DOCUMENTS });
  const options = await serverOptions(directory);
  const [gatherer, broker] = [join(directory, 'g'), join(directory, 'b')];
  const result = await cli(
    ...words`init --yes --json --name ${'My Garden!'} --index ${join(directory, 'docs')} ${options}`,
  );
  const pids = [join(gatherer, 'data/gatherd.pid'), join(broker, 'admin/broker.pid')]
    .filter((file) => existsSync(file))
    .map((file) => Number(readFileSync(file, 'utf8').split('\n')[0]));
  t.teardown(() => {
    for (const pid of pids) process.kill(pid, 'SIGTERM');
  });
  t.equal(result.code, 0, result.stderr);
  const report = JSON.parse(result.stdout) as {
    running: boolean;
    page: string;
    gathererFile: string;
    kept: string[];
  };
  t.ok(report.running);
  t.same(report.kept, []);
  t.equal(report.gathererFile, join(gatherer, 'my-garden.cf'));
  // G-152
  const files = 'RunGatherd RunGatherer bin data lib/stoplist.cf lib/byname.cf lib/magic tmp log.gatherer';
  for (const name of files.split(' ')) t.ok(existsSync(join(gatherer, name)), name);
  const { config, warnings } = parseGathererConf(
    readFileSync(report.gathererFile, 'utf8'),
    report.gathererFile,
  );
  t.same(warnings, []);
  t.equal(config.gathererName, 'My Garden!');
  t.equal(config.gathererPort, Number(options[7]));
  t.match(config.rootNodes[0]?.url, /^file:.*\/docs\/$/);
  t.equal(statSync(join(broker, 'admin/broker.conf')).mode & 0o777, 0o600, 'the file contains the password');
  const conf = parseBrokerConf(
    readFileSync(join(broker, 'admin/broker.conf'), 'utf8'),
    join(broker, 'admin/broker.conf'),
  );
  t.same(conf.warnings, []);
  t.match(conf.config.adminPassword, /^[\w-]{16}$/, 'a password is generated');
  const { points } = parseCollectionConf(
    readFileSync(join(broker, 'admin/Collection.conf'), 'utf8'),
    'Collection.conf',
  );
  t.match(points, [{ host: 'localhost', port: config.gathererPort, type: 3 }]);
  t.equal((await fetch(report.page)).status, 200);
  const found = await cli('query', `localhost:${options[9]}`, 'pear');
  t.match(found.stdout, 'b.txt');
});

t.test('G-161 init never overwrites without asking', async (t) => {
  const directory = t.testdir({ docs: DOCUMENTS, g: { 'x.cf': 'mine\n' } });
  const options = await serverOptions(directory);
  const line = words`init --json --dont-run --name x --index ${join(directory, 'docs')} ${options}`;
  const first = await cli(...line, '--yes');
  t.equal(first.code, 0, first.stderr);
  const file = join(directory, 'g/x.cf');
  t.same((JSON.parse(first.stdout) as { kept: string[] }).kept, [file]);
  t.equal(readFileSync(file, 'utf8'), 'mine\n');
  t.equal((await cli(...line, '--yes', '--force')).code, 0);
  t.match(readFileSync(file, 'utf8'), /^Gatherer-Name:/m);
});

t.test('G-160 the dialog asks in the recorded order; empty answers select the defaults', async (t) => {
  const directory = t.testdir({ docs: DOCUMENTS });
  const child = spawn(process.execPath, [PROGRAM, 'init', '-fake', '-dumbtty'], {
    env: { ...process.env, HARVEST_HOME: join(directory, 'home') },
  });
  const ports = [await freePort(), await freePort(), await freePort()];
  const lines = [
    '',
    String(ports[0]),
    join(directory, 'docs'),
    'Two Words',
    '',
    'no port',
    String(ports[1]),
    '',
    String(ports[2]),
    'secret',
    'me@example.org',
  ];
  const { stdout: shown, stderr: prompts } = await finishedOf(child, `${lines.join('\n')}\n`);
  const questions = [
    'Host of the search page',
    'Port of the search page',
    'What to index',
    'Name of this Harvest server',
    'Directory of the Gatherer',
    'Port of the Gatherer',
    'The answer must be a port',
    'Port of the Gatherer',
    'Directory of the Broker',
    'Port of the Broker',
    "The Broker's administrative password",
    'Your e-mail address',
  ];
  let position = -1;
  for (const question of questions) {
    const next = prompts.indexOf(question, position + 1);
    t.ok(next > position, question);
    position = next;
  }
  t.match(shown, `--- ${join(directory, 'home/gatherers/two-words/two-words.cf')}\n`);
  t.match(shown, /^HTTP-From:\s+me@example\.org$/m);
  t.match(shown, /^Admin-Password \.\.\.$/m);
  t.notMatch(shown, 'secret');
  t.notOk(existsSync(join(directory, 'home')), '-fake creates nothing');
});

t.test('G-161 invalid answers are refused', async (t) => {
  const directory = t.testdir({});
  const options = await serverOptions(directory);
  for (const [words, sentence] of [
    [['--index', join(directory, 'nowhere')], /neither a directory nor a URL/],
    [['--www-port', '99999'], /--www-port must be a port/],
    [['--name', 'a\nTop-Directory: /'], /--name contains characters/],
    [['--broker-port', String(options[7])], /three different ports/],
    [['--glimpse', '--swish'], /are mutually exclusive/],
  ] as const) {
    const { code, stderr } = await cli('init', '--yes', ...options, ...words);
    t.equal(code, 2, words.join(' '));
    t.match(stderr, sentence);
  }
  t.notOk(existsSync(join(directory, 'g')));
  const ended = await cli('init', '--fake');
  t.equal(ended.code, 2);
  t.match(ended.stderr, /--yes takes the defaults/);
});

t.test('G-157 schedule spreads times, quotes words, and collects after each gathering', async (t) => {
  const directory = t.testdir({});
  const directoryWithQuotes = join(directory, 'it\'s 100% "$HOME"');
  const conf = (port: number): string => `Gatherer-Name: Gatherer ${port}\nGatherer-Port: ${port}\n`;
  mkdirSync(join(directoryWithQuotes, 'b/admin'), { recursive: true });
  const [one, two, broker] = [
    join(directoryWithQuotes, 'one.cf'),
    join(directoryWithQuotes, 'two.cf'),
    join(directoryWithQuotes, 'b/admin/broker.conf'),
  ];
  writeFileSync(one, conf(8601));
  writeFileSync(two, conf(8602));
  writeFileSync(broker, 'Broker-Name test\nBroker-Port 8701\nAdmin-Password secret\n');
  writeFileSync(join(directoryWithQuotes, 'b/admin/Collection.conf'), 'localhost 8601 3 --\n');
  const { code, stdout } = await cli(
    ...words`schedule --json --at 23:50 --user harvest ${[one, two, broker]}`,
  );
  t.equal(code, 0);
  const { jobs } = JSON.parse(stdout) as {
    jobs: {
      id: string;
      cron: string;
      time: { hour: number; minute: number };
      units: { name: string; content: string }[];
    }[];
  };
  t.same(
    jobs.map(({ id }) => id),
    ['one', 'two'],
  );
  const minutes = jobs.map(({ time }) => (time.hour * 60 + time.minute - (23 * 60 + 50) + 1440) % 1440);
  t.ok(minutes[0]! >= 0 && minutes[0]! < 30 && minutes[1]! >= 30 && minutes[1]! < 60, minutes.join(' '));
  const [first, second] = jobs;
  t.match(first?.cron, /^\d+ \d+ \* \* \* harvest /);
  t.notMatch(first?.cron, 'secret', 'the line does not contain the password');
  t.match(first?.cron, "'localhost:8701' 'collection'");
  t.notMatch(second?.cron, '8701', 'the Broker does not collect from the second Gatherer');
  t.notMatch(first?.cron.replaceAll('\\%', ''), '%', 'cron would end the line at an unescaped %');
  // Lets the shell split the line into words: the program is replaced by printf.
  const command =
    first?.cron
      .replace(/^(\S+ ){6}/, '')
      .replaceAll('\\%', '%')
      .replaceAll(' >/dev/null', '') ?? '';
  const printing = command.split(' && ')[0]?.replace(`'${process.execPath}'`, 'printf "%s\\n"') ?? '';
  const printed = spawnSync('sh', ['-c', printing], { encoding: 'utf8' });
  t.same(printed.stdout.split('\n').slice(-3), ['gatherer', one, '']);
  const service = first?.units[0]?.content ?? '';
  t.match(service, 'User=harvest\n');
  const escaped = one
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$');
  t.ok(service.includes(`"gatherer" "${escaped}"\n`), service);
  t.match(service, /^ExecStartPost=\/bin\/sh -c "sed/m);
  t.match(first?.units[1]?.content, /^OnCalendar=\*-\*-\* \d\d:\d\d:00$/m);
  const plain = await cli('schedule', '--weekly', '--systemd', one);
  t.match(plain.stdout, /^OnCalendar=Sun \*-\*-\* 0[23]:\d\d:00$/m);
  t.equal((await cli('schedule', broker)).code, 2, 'a Broker alone is refused');
  t.equal((await cli('schedule', '--user', 'a b', one)).code, 2);
});

t.test('G-103 init and doctor warn of objects that do not live until the next run', async (t) => {
  const directory = t.testdir({ docs: DOCUMENTS });
  const options = words`--yes --dont-run --name Short --index ${join(directory, 'docs')} ${await serverOptions(directory)}`;
  const first = await cli('init', ...options);
  t.equal(first.code, 0, first.stderr);
  t.notMatch(first.stderr, /Warning/);
  const file = join(directory, 'g', 'short.cf');
  writeFileSync(file, `Time-To-Live: 86400\n${readFileSync(file, 'utf8')}`);
  const sentence = /Time-To-Live: 86400 seconds are not longer than the Refresh-Rate/;
  t.match((await cli('init', ...options)).stderr, sentence);
  const examined = await cli('doctor', '--data', join(directory, 'g'));
  t.match(examined.stdout, sentence);
  t.match(examined.stdout, /^warning +lives /m);
});
