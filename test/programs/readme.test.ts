// The examples of README.md and docs/library.md, run beside the servers that they name.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { ROOT } from '../architecture/sources.js';
import { ANY_PORTS, CliProcess, finishedOf } from '../helpers/cli.js';

interface Ports {
  readonly gatherd: string;
  readonly broker: string;
}

/** Runs the servers over one document that every example finds. */
async function startKit(t: Test): Promise<Ports> {
  const directory = t.testdir({
    site: {
      'wheat.html': '<title>Wheat</title><p>Wheat needs sun. An exit status says how it went.',
      'rye.html': '<title>Wheat and rye</title><p>Rye and wheat.',
    },
  });
  const run = new CliProcess([
    'run',
    join(directory, 'site'),
    '--data',
    join(directory, 'data'),
    ...ANY_PORTS,
  ]);
  t.teardown(async () => {
    run.kill('SIGTERM');
    await run.finished;
  });
  const [, gatherd = '', broker = ''] = await run.output(/^ready gatherd=\S+:(\d+) broker=\S+:(\d+)/m);
  await run.output(/^Gathered: .*\n[\s\S]*^Published generation \d+: 2 objects/m, 'stderr');
  return { gatherd, broker };
}

/** Runs the first example in a language, with the ports of the servers. Returns what it prints. */
async function runExample(t: Test, page: string, language: string, ports: Ports): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const block = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? '';
  const code = block
    .replaceAll('port: 8500', `port: ${ports.gatherd}`)
    .replaceAll('port: 8501', `port: ${ports.broker}`);
  // The file is inside the package, so that it can import the package by its own name.
  const directory = await mkdtemp(join(ROOT, 'dist', 'example-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'example.mjs');
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  await writeFile(file, ts.transpileModule(code, { compilerOptions: options }).outputText);
  const { code: status, stdout, stderr } = await finishedOf(spawn(process.execPath, [file]));
  t.equal(status, 0, stderr);
  return stdout;
}

t.test('the examples run as they stand, with the ports of the servers', async (t) => {
  const ports = await startKit(t);
  const readme = await runExample(t, 'README.md', 'js', ports);
  t.match(readme, /^\S+ file:\S+\/rye\.html Wheat and rye$/m, 'every change');
  t.match(readme, /^file:\S+\/wheat\.html$/m, 'what the query found');
  t.notMatch(readme, /^file:\S+\/rye\.html/m);
  const library = await runExample(t, 'docs/library.md', 'ts', ports);
  t.match(library, /^\S+ file:\S+\/wheat\.html Wheat$/m);
  t.match(library, /^file:\S+\/wheat\.html Wheat$/m, 'wheat and not rye, with its title');
  t.match(library, /^file:\S+\/rye\.html$/m, 'wheat, and rye in the title');
});
