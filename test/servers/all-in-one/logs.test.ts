// The logs of a Gatherer that runs with its servers in one process, and of a mirror.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { AllInOne, type LogName } from '../../../servers/all-in-one/index.js';
import { Mirror } from '../../../servers/gatherer/mirror/mirror.js';
import { createLoggerOn, type Logger } from '../../../servers/host/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;

/** Returns loggers by name that keep their messages, and these messages. */
function memoryLogs(): { log: (name: LogName) => Logger; lines: (name: LogName) => readonly string[] } {
  const messages = new Map<LogName, string[]>();
  const lines = (name: LogName): string[] => {
    const known = messages.get(name) ?? [];
    messages.set(name, known);
    return known;
  };
  const log = (name: LogName): Logger => {
    const write = (line: string): void => {
      const { msg }: { msg: string } = JSON.parse(line);
      lines(name).push(msg);
    };
    return createLoggerOn({ write }, { program: name });
  };
  return { log, lines };
}

t.test('G-148: the log has begin, console, RootNodes, end of a run; errors.log its problems', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a.html', '/b.html']),
    '/a.html': page('A', []),
  });
  const directory = t.testdir({ notes: 'this is no annotation\n' });
  const order = join(directory, 'order.json');
  writeFileSync(
    order,
    JSON.stringify({
      console: { port: 0, passwordEnvironment: 'ALL_IN_ONE_TEST_PASSWORD' },
      settings: { delayFactor: 0, minDelayMs: 0 },
    }),
  );
  process.env.ALL_IN_ONE_TEST_PASSWORD = 'long enough for a test';
  t.teardown(() => delete process.env.ALL_IN_ONE_TEST_PASSWORD);
  const text = [
    'Gatherer-Name: Test',
    'Gatherer-Host: g.example.org',
    `Annotations: ${join(directory, 'notes')}`,
    `Crawl-Order: ${order}`,
    `<RootNodes>\n${site.url}/ URL=2 Delay=0\n</RootNodes>\n`,
  ].join('\n');
  const logs = memoryLogs();
  await using kit = await AllInOne.start({
    dataDirectory: join(directory, 'data'),
    host: '127.0.0.1',
    gatherdPort: 0,
    brokerPort: 0,
    webPort: 0,
    referencesPort: 0,
    config: parseGathererConf(text, 'test.cf', {}).config,
    gatherer: { essenceWorkers: 0 },
    log: logs.log,
  });
  t.equal((await kit.cycle(never, () => undefined)).objects, 2);
  const lines = logs.lines('gatherer');
  t.match(lines[0], /^begin: Test: 1 RootNode, 0 LeafNodes$/);
  t.ok(
    lines.some((line) => /^the crawl's console is http:\/\/127\.0\.0\.1:\d+\/$/.test(line)),
    lines.join('\n'),
  );
  t.match(lines.at(-2), /^RootNode http:.*: 2 URLs, 1 host; 1 link over the number of URLs/);
  t.match(lines.at(-1), /^end: finished: 2 summarized/);
  t.match(logs.lines('errors').join('\n'), /notes/, 'the invalid annotation is reported');
});

t.test('G-8, G-148: a mirror logs its run and the problems of its configuration', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a.html']), '/a.html': page('A', []) });
  const directory = t.testdir({ notes: 'this is no annotation\n' });
  const text = `Gatherer-Name: Mirror\nAnnotations: ${join(directory, 'notes')}\n<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`;
  const logs = memoryLogs();
  await using mirror = await Mirror.open({
    directory: join(directory, 'copy'),
    config: parseGathererConf(text, 'test.cf', {}).config,
    gatherer: { essenceWorkers: 0 },
    logs: { log: logs.log('gatherer'), errors: logs.log('errors') },
  });
  t.equal((await mirror.run(never)).written, 2);
  const lines = logs.lines('gatherer');
  t.equal(lines[0], 'begin: Mirror: 1 RootNode, 0 LeafNodes');
  t.match(lines.at(-1), /^end: finished: 2 summarized/);
  t.match(logs.lines('errors').join('\n'), /notes/);
});
