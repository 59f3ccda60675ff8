// No command loads what it does not use. Modules are counted, not milliseconds: a count is the same on every
// machine.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CliProcess } from '../../helpers/cli.js';

/** The modules that a process has loaded. */
interface Loaded {
  /** Those of the kit, relative to its compiled files. */
  readonly own: readonly string[];
  /** Names of the packages that the others belong to. */
  readonly packages: readonly string[];
}

/**
 * Names the modules of the processes that wrote their coverage into a directory: V8 lists every script that has
 * run.
 */
function loadedBy(directory: string): Loaded {
  const urls = readdirSync(directory).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  });
  const packages = urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
  return {
    own: urls.flatMap((url) => /\/dist\/((?:protocols|storage|clients|servers)\/.+)$/.exec(url)?.[1] ?? []),
    packages: [...new Set(packages.filter((name) => name !== undefined))].sort(),
  };
}

/** Runs a command to its end, or a server until it is ready. */
async function run(t: Test, args: readonly string[], status: number, ready?: RegExp): Promise<Loaded> {
  const directory = t.testdir({ coverage: {} });
  const command = new CliProcess(args, { NODE_V8_COVERAGE: join(directory, 'coverage') });
  if (ready !== undefined) {
    await command.output(ready);
    command.child.kill('SIGTERM');
  }
  const { code, stderr } = await command.finished;
  t.equal(code, status, stderr);
  const loaded = loadedBy(join(directory, 'coverage'));
  t.ok(loaded.own.includes('servers/cli/harvest.js'), 'the modules are known');
  return loaded;
}

/** What is loaded before a command is known: the program, the table of commands, the exit statuses. */
const PROGRAM_MODULES = 24;
/** The file of a command, and the files of its options and their values. */
const DESCRIPTION_MODULES = 20;

for (const [args, status, limit] of [
  [['--help'], 0, PROGRAM_MODULES],
  [['--version'], 0, PROGRAM_MODULES],
  [['serach'], 2, PROGRAM_MODULES],
  [['run', '--help'], 0, PROGRAM_MODULES + DESCRIPTION_MODULES],
  [['run', '--urls', 'many'], 2, PROGRAM_MODULES + DESCRIPTION_MODULES],
  [['gatherer', '--help'], 0, PROGRAM_MODULES + DESCRIPTION_MODULES],
] as const) {
  t.test(`harvest ${args.join(' ')} loads descriptions only`, async (t) => {
    const { own, packages } = await run(t, args, status);
    t.same(packages, ['commander']);
    t.ok(own.length <= limit, `${own.length} modules, at most ${limit}`);
  });
}

/** Modules of all descriptions: two or three for each command, and the constants that the help names. */
const ALL_DESCRIPTIONS = 180;

t.test('harvest completion loads the descriptions of all commands, and none of what they do', async (t) => {
  const { own, packages } = await run(t, ['completion', 'bash'], 0);
  // The rules of URLs and the policies of robots.txt come with the patterns and the cache of their rooms.
  t.same(packages, ['commander', 'lru-cache', 're2js']);
  t.same(
    own.filter((file) => /^servers\/cli\/[^/]+\/actions\//.test(file)),
    [],
  );
  t.ok(own.length <= ALL_DESCRIPTIONS, `${own.length} modules, at most ${ALL_DESCRIPTIONS}`);
});

/** A client or tool: the program, its protocol's codec, SOIF, a connection. */
const TOOL_MODULES = 110;

for (const [args, status] of [
  [['cksoif'], 0],
  [['print-attr', 'Title'], 0],
  [['wrapit', 'Title'], 0],
  [['gather', '127.0.0.1', '1'], 3],
  [['query', '127.0.0.1:1', 'word'], 3],
  [['references', '--ids', '127.0.0.1:1', 'http://a.test/'], 3],
] as const) {
  t.test(`harvest ${args[0]} loads its protocol and no server`, async (t) => {
    const { own, packages } = await run(t, args, status);
    t.same(
      packages.filter((name) => name !== 're2js'),
      ['commander'],
    );
    // A large object waits in a temporary file of storage/files.
    t.same(
      own.filter((file) => /^(?:storage\/(?!files\/)|servers\/(?!cli\/))/.test(file)),
      [],
    );
    t.ok(own.length <= TOOL_MODULES, `${own.length} modules, at most ${TOOL_MODULES}`);
  });
}

/** gatherd: the codec, published generations and their codecs, the host of a port. */
const GATHERD_MODULES = 200;

t.test('gatherd serves without what only web pages, monitors, searches and crawls need', async (t) => {
  const { own, packages } = await run(t, ['gatherd', '-d', t.testdirName, '0'], 0, /^ready /m);
  const unused = ['cheerio', 'cli-progress', 'fastify', 'htmlparser2', 'libsql', 'prom-client', 'undici'];
  t.same(
    packages.filter((name) => unused.includes(name)),
    [],
  );
  t.same(
    own.filter((file) => /^servers\/(?!cli\/|gatherd\/|host\/|monitor\/figures)/.test(file)),
    [],
  );
  t.ok(own.length <= GATHERD_MODULES, `${own.length} modules, at most ${GATHERD_MODULES}`);
});
