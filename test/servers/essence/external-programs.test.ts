// External summarizers and unnesters: their arguments, environment and limits, and the scripts of the original
// system.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { findTypePrograms, parseSgmlWrapper } from '../../../servers/essence/external/find.js';
import type { ProgramLimits, ProgramSettings } from '../../../servers/essence/external/limits.js';
import {
  explodeByProgram,
  safeName,
  summarizeByProgram,
} from '../../../servers/essence/external/programs.js';
import { runProgram } from '../../../servers/essence/external/run.js';
import { createEssenceContext } from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';

/** Writes programs to a directory; returns the settings that find them there. */
async function programsIn(
  t: Test,
  programs: Readonly<Record<string, string>>,
  limits: ProgramLimits = {},
): Promise<ProgramSettings & { readonly directory: string }> {
  const directory = await temporaryDirectory(t);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
  }
  return { directory, directories: [directory], path: '/usr/bin:/bin', limits };
}

/** Runs one of these programs in their directory. */
function runIn(
  programs: Awaited<ReturnType<typeof programsIn>>,
  program: string,
  words: readonly string[] = [],
  more: Partial<Parameters<typeof runProgram>[0]> = {},
) {
  return runProgram({ program, arguments: words, directory: programs.directory, ...more }, programs);
}

function document(body: string, url = 'http://a.test/dir/file.abs') {
  const warnings: string[] = [];
  return {
    url,
    body: Buffer.from(body),
    fileName: url.slice(url.lastIndexOf('/') + 1),
    warnings,
    warn: (message: string) => void warnings.push(message),
  };
}

t.test('E-61 TypeName.sum receives the file name as its only argument', async (t) => {
  const programs = await programsIn(t, {
    'Abstract.sum':
      '#!/bin/sh\nprintf "Args{1}:\\t$#\\nName{8}:\\t$(basename "$1")\\nAbstract{5}:\\t"; head -1 "$1"; echo',
  });
  const doc = document('four\nrest\n');
  const found = await findTypePrograms([programs.directory]);
  t.same(Object.keys(found.summarizers), ['Abstract']);
  const summary = await summarizeByProgram(doc, found.summarizers.Abstract!, programs);
  t.same(summary.attributes, [
    ['Args', '1'],
    ['Name', 'file.abs'],
    ['Abstract', 'four\n'],
  ]);
  t.same(doc.warnings, []);
});

t.test('E-70 a failed program yields its complete attributes, and a warning with the reason', async (t) => {
  const programs = await programsIn(t, {
    bad: '#!/bin/sh\nprintf "Title{3}:\\tabc\\nBody{99}:\\tcut off"; echo "no such word" >&2; exit 3',
    odd: '#!/bin/sh\nprintf "Title{3}:\\tabc\\nthis is no attribute\\n"',
    illegal: '#!/bin/sh\nprintf "A/b{1}:\\tx\\nGood{1}:\\ty\\n"; echo careful >&2',
  });
  const doc = document('x');
  const run = (name: string) => summarizeByProgram(doc, join(programs.directory, name), programs);
  t.same((await run('bad')).attributes, [['Title', 'abc']]);
  t.match(doc.warnings[0], /bad failed: exit status 3: no such word \(E-70\)/);
  t.same((await run('odd')).attributes, [['Title', 'abc']]);
  t.match(doc.warnings[1], /odd: its output is not a list of SOIF attributes/);
  t.same((await run('illegal')).attributes, [['Good', 'y']]);
  t.match(doc.warnings.slice(2), [/says: careful/, /"A\/b" is not an attribute name \(E-69\)/]);
  t.same((await run('missing')).attributes, []);
  t.match(doc.warnings.at(-1), /missing failed: there is no such program/);
});

t.test('E-70 wrong sizes in the output of a program are read and logged with their offset', async (t) => {
  const programs = await programsIn(t, {
    sizes: '#!/bin/sh\nprintf "Title{3}:\\tabcdef\\nBody{2}:\\txy\\n"',
    objects:
      '#!/bin/sh\nprintf "@FILE { http://a/\\nT{1}:\\tab\\n}\\n@FILE { http://b/\\nT{9}:\\tab\\n}\\n@FILE { http://c/\\n}\\n"',
  });
  const doc = document('x');
  const program = (name: string) => join(programs.directory, name);
  t.same((await summarizeByProgram(doc, program('sizes'), programs)).attributes, [['Title', 'abc']]);
  t.same(doc.warnings.splice(0), [
    `${program('sizes')}: its output: the value of 3 bytes does not end at a line's end (SOIF-4.4, offset 13)`,
    `${program('sizes')}: "def\\nBody" is not an attribute name (E-69)`,
  ]);
  const objects = await explodeByProgram(doc, program('objects'), programs);
  t.same(
    objects.map(({ url }) => url),
    ['http://a/', 'http://c/'],
  );
  t.match(doc.warnings, [
    `${program('objects')}: its output: the value of 1 bytes does not end at a line's end (SOIF-4.4, offset 25)`,
    /objects: its output: text without a size before the closing brace \(SOIF-4.3, offset 25\)$/,
    /objects: its output: not a value size \(SOIF-4.4, offset 65\)$/,
  ]);
});

t.test('E-70 the time limit kills the whole process group', async (t) => {
  const programs = await programsIn(
    t,
    { hang: '#!/bin/sh\nsleep 300 & echo $! > "$1"\nwait' },
    { timeMs: 1000 },
  );
  const pidFile = join(programs.directory, 'pid');
  const clock = new ManualClock();
  const run = runIn(programs, 'hang', [pidFile], { measures: { clock, processorMs: () => clock.now() / 9 } });
  await waitForNumber(pidFile);
  // Beside other work the program has a ninth of the processor.
  clock.advance(9500);
  const result = await run;
  t.equal(result.failure, 'it took more than 1000 ms of processor time and was killed');
  // The program that the script started ends, too.
  await endOf(Number(await readFile(pidFile, 'utf8')));
});

t.test('E-70 a program that waits ends at ten times its limit by the clock', async (t) => {
  const programs = await programsIn(
    t,
    { hang: '#!/bin/sh\necho $$ > "$1"\nexec sleep 300' },
    { timeMs: 1000 },
  );
  const pidFile = join(programs.directory, 'pid');
  const clock = new ManualClock();
  const run = runIn(programs, 'hang', [pidFile], { measures: { clock, processorMs: () => 0 } });
  await waitForNumber(pidFile);
  clock.advance(12_000);
  t.equal((await run).failure, 'it took more than 10000 ms by the clock and was killed');
});

const onLinux = { skip: process.platform !== 'linux' };

t.test("E-70 the processor time of a program's children counts", onLinux, async (t) => {
  const programs = await programsIn(
    t,
    { spin: '#!/bin/sh\n(while :; do :; done) &\nwait' },
    { timeMs: 200, cpuSeconds: 100 },
  );
  const { failure } = await runIn(programs, 'spin');
  t.equal(failure, 'it took more than 200 ms of processor time and was killed');
});

t.test('E-70 a program ends with the worker thread that started it', async (t) => {
  const programs = await programsIn(t, { hang: '#!/bin/sh\necho $$ > "$1"\nexec sleep 300' });
  const pidFile = join(programs.directory, 'pid');
  const call = { program: 'hang', arguments: [pidFile], directory: programs.directory };
  const module = import.meta.resolve('../../../servers/essence/external/run.js');
  const worker = new Worker(
    `const { call, programs, module } = require('node:worker_threads').workerData;
     import(module).then(({ runProgram }) => runProgram(call, programs));`,
    { eval: true, workerData: { call, programs, module }, env: {} },
  );
  const pid = await waitForNumber(pidFile);
  await worker.terminate();
  const { failure } = await runProgram({ ...call, program: 'setpriv', arguments: ['--version'] }, programs);
  // Only setpriv lets the program end with its worker.
  if (failure === undefined) await endOf(pid);
  else process.kill(pid);
});

t.test('the call does not wait for a child that outlives its program', async (t) => {
  const programs = await programsIn(t, { quick: '#!/bin/sh\nsleep 300 &\necho $!' });
  const result = await runIn(programs, 'quick');
  t.equal(result.failure, undefined);
  await endOf(Number(result.output));
});

t.test('E-70 an abort kills the program and rejects the call with its reason', async (t) => {
  const programs = await programsIn(t, { hang: '#!/bin/sh\nexec sleep 300' });
  const controller = new AbortController();
  const run = runIn(programs, 'hang', [], { signal: controller.signal });
  controller.abort(new Error('enough'));
  await t.rejects(run, { message: 'enough' });
});

t.test('E-69, E-70 output, processor time and memory are limited', async (t) => {
  const settings = await programsIn(
    t,
    {
      flood: '#!/bin/sh\nexec yes',
      spin: '#!/bin/sh\nwhile :; do :; done',
      hungry: '#!/bin/sh\nexec head -c 200000000 /dev/zero | tr "\\0" x | sort -S 150M >/dev/null',
    },
    { outputBytes: 1000, cpuSeconds: 1, memoryBytes: 32 * 1024 * 1024, timeMs: 15_000 },
  );
  const run = (program: string) => runIn(settings, program);
  const flood = await run('flood');
  t.equal(flood.output.length, 1000);
  t.equal(flood.failure, 'its output was cut at 1000 bytes');
  t.match((await run('spin')).failure, /killed by SIG(KILL|XCPU)/);
  t.match((await run('hungry')).failure, /exit status|killed/);
});

t.test('E-70 programs run without a shell and in a separate environment', async (t) => {
  const settings = await programsIn(t, {
    // Ignores variables added by a tool that traces this process.
    show: '#!/bin/sh\nenv | cut -d= -f1 | grep -E "^(HARVEST|LC_|PATH|PWD|TMP|HOME|USER|OURS)" | sort | tr "\\n" " "; pwd; cat; echo "$1"',
  });
  process.env.OURS = 'a secret';
  t.teardown(() => delete process.env.OURS);
  const result = await runIn(
    { ...settings, environment: { HARVEST_HOME: '/opt/harvest' } },
    'show',
    ['$(touch /tmp/never-created); `id` | cat'],
    { input: Buffer.from('from stdin\n') },
  );
  t.equal(
    result.output.toString(),
    `HARVEST_HOME LC_ALL PATH PWD TMPDIR ${settings.directory}\nfrom stdin\n$(touch /tmp/never-created); \`id\` | cat\n`,
  );
});

t.test('E-62, E-63, E-66 scripts can call wrapit and FullText.sum', async (t) => {
  const programs = await programsIn(t, {
    'Abstract.sum': '#!/bin/sh\nhead -2 "$1" | wrapit "Abstract"\nwrapit Empty </dev/null\nFullText.sum "$1"',
    wrong: '#!/bin/sh\nwrapit "a b" <"$1"',
  });
  const doc = document('one\ntwo\nthr\u00e9e\n');
  const summary = await summarizeByProgram(doc, join(programs.directory, 'Abstract.sum'), programs);
  t.same(summary.attributes, [
    ['Abstract', 'one\ntwo\n'],
    ['Full-Text', 'one\ntwo\nthr\u00e9e\n'],
  ]);
  t.same(doc.warnings, []);
  await summarizeByProgram(doc, join(programs.directory, 'wrong'), programs);
  t.match(doc.warnings, [/not a SOIF attribute name: a b/]);
});

t.test('E-46 TypeName.unnest receives the URL and a file and writes SOIF objects', async (t) => {
  const programs = await programsIn(t, {
    'Exploder.unnest':
      '#!/bin/sh\necho "@FILE { $1#1"; printf "Size{1}:\\t"; wc -c < "$2"; echo "}"; printf "@FILE { http://b.test/2\\nTitle{3}:\\ttwo\\n}\\n@FILE { http://b.test/3\\nTitle{30}:\\tbroken off"',
  });
  const doc = document('seven b');
  const { unnesters } = await findTypePrograms([programs.directory]);
  const objects = await explodeByProgram(doc, unnesters.Exploder!, programs);
  t.same(
    objects.map((object) => [object.url, object.text('size') ?? object.text('title')]),
    [
      ['http://a.test/dir/file.abs#1', '7'],
      ['http://b.test/2', 'two'],
    ],
  );
  t.match(doc.warnings.join('\n'), /Exploder\.unnest: /, 'the incomplete object produces a warning');
  const [only, ...more] = await explodeByProgram(document('x'), unnesters.Exploder!, programs, 1);
  t.same([only?.url, more.length], ['http://a.test/dir/file.abs#1', 0]);
});

t.test('E-61 the first directory wins; a file that cannot run is warned of; E-13 one spelling', async (t) => {
  const first = await programsIn(t, { 'latex.sum': '#!/bin/sh\n' });
  const second = await programsIn(t, { 'LaTeX.sum': '#!/bin/sh\n', 'Pdf.sum': '#!/bin/sh\n' });
  await writeFile(join(second.directory, 'Text.sum'), '#!/bin/sh\n');
  await mkdir(join(second.directory, 'C.sum'));
  const found = await findTypePrograms([first.directory, second.directory, '/nonexistent']);
  t.same(found.summarizers, {
    LaTeX: join(first.directory, 'latex.sum'),
    Pdf: join(second.directory, 'Pdf.sum'),
  });
  t.equal(found.warnings.length, 2);
});

t.test('E-86, E-101 a script that only calls SGML.sum is interpreted, any other is run', async (t) => {
  t.same(parseSgmlWrapper('#!/bin/sh\nexec SGML.sum FOO $*\n', '/lib', '/opt/h'), { documentType: 'FOO' });
  t.same(
    parseSgmlWrapper('#!/bin/sh\nSGML.sum -t $HARVEST_HOME/lib/my-HTML.table HTML $*', '/lib', '/opt/h'),
    { documentType: 'HTML', table: '/opt/h/lib/my-HTML.table' },
  );
  t.same(parseSgmlWrapper('#!/bin/sh\n# x\nexec SGML.sum -d a.decl -t b.tbl FOO "$@"', '/lib', ''), {
    documentType: 'FOO',
    table: '/lib/b.tbl',
    declaration: '/lib/a.decl',
  });
  for (const other of [
    'exec SGML.sum FOO $*',
    '#!/bin/sh\nexec SGML.sum FOO $* | tr a b',
    '#!/bin/sh\nexec SGML.sum FOO $*\nrm x',
    '#!/bin/sh\nexec SGML.sum -x FOO $*',
  ]) {
    t.equal(parseSgmlWrapper(other, '/lib', ''), undefined, other);
  }
});

t.test('document names are converted to safe file names', async (t) => {
  t.equal(safeName('../../etc/passwd'), 'document.._.._etc_passwd');
  t.equal(safeName('-rf'), 'document-rf');
  t.equal(safeName('a b\0c.tex'), 'a_b_c.tex');
  t.equal(safeName(''), 'document');
});

/** Waits until a program has written a number and a line end to a file; returns the number. */
async function waitForNumber(file: string): Promise<number> {
  let text = '';
  await waitUntil(async () => {
    text = await readFile(file, 'utf8').catch(() => '');
    return text.endsWith('\n');
  });
  return Number(text);
}

/**
 * Waits until a process has ended. A killed process may be a zombie (state Z) until its new parent reaps it; a
 * zombie counts as ended.
 */
async function endOf(pid: number): Promise<void> {
  await waitUntil(async () =>
    /^$|\) [ZX]/.test(await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')),
  );
}

t.test('E-61 programs of the machine summarize only types that Essence does not read itself', async (t) => {
  const own = await programsIn(t, { 'Pdf.sum': '#!/bin/sh\n' });
  const title = (text: string): string => `#!/bin/sh\nprintf 'Title{${text.length}}:\\t${text}\\n'\n`;
  const machine = await programsIn(t, {
    'Pdf.sum': title('no'),
    'Text.sum': title('no'),
    'Recipe.sum': title('yes'),
    'LSM.unnest': '#!/bin/sh\n',
    'Box.unnest': "#!/bin/sh\nprintf '@FILE { http://box.test/1\\n}\\n'\n",
  });
  await writeFile(join(machine.directory, 'Other.sum'), 'not a program');
  const found = await findTypePrograms([own.directory], '', [own.directory, machine.directory]);
  t.same(found.summarizers, { Pdf: join(own.directory, 'Pdf.sum') });
  t.same(Object.keys(found.installed.summarizers), ['Pdf', 'Recipe', 'Text']);
  t.same(found.warnings, []);

  const lib = await temporaryDirectory(t);
  await writeFile(join(lib, 'byname.cf'), 'Recipe \\.recipe$\nBox \\.box$\nText \\.txt$\nLSM \\.lsm$\n');
  const context = await createEssenceContext({
    gathererName: 'T',
    gathererHost: 'h',
    gathererVersion: '1',
    refreshRate: 1,
    timeToLive: 1,
    libDirectory: lib,
    programs: { directories: [], installedDirectories: [machine.directory], path: '/usr/bin:/bin' },
  });
  const summarize = (name: string, body: string) =>
    summarizeDocument(
      { url: `http://a.test/${name}`, body: Buffer.from(body), lastModificationTime: 0, updateTime: 1 },
      context,
    );
  const titleOf = async (name: string): Promise<string | undefined> =>
    decodeSoif((await summarize(name, 'words\n')).soif ?? new Uint8Array())
      .text('Title')
      ?.trim();
  t.equal(await titleOf('a.recipe'), 'yes');
  t.not(await titleOf('a.txt'), 'no');
  t.same(
    (await summarize('a.box', 'x')).exploded?.map(({ url }) => url),
    ['http://box.test/1'],
  );
  t.equal((await summarize('a.lsm', 'Begin3\nTitle = X\nEnd\n')).exploded?.length, 1);
});

t.test('E-78 a type that is named, recognized by its name, and has a program is summarized', async (t) => {
  const programs = await programsIn(t, { 'Recipe.sum': '#!/bin/sh\nhead -1 "$1" | wrapit Title\n' });
  const lib = await temporaryDirectory(t);
  await writeFile(join(lib, 'byname.cf'), 'Recipe ^.*\\.recipe$\n*\n');
  const identity = {
    gathererName: 'T',
    gathererHost: 'h',
    gathererVersion: '1',
    refreshRate: 1,
    timeToLive: 1,
  };
  const context = await createEssenceContext({ ...identity, keywords: false, programs, libDirectory: lib });
  const input = { url: 'http://a.test/soup.recipe', body: Buffer.from('Soup\nWater\n') };
  const { type, soif } = await summarizeDocument(
    { ...input, lastModificationTime: 0, updateTime: 1 },
    context,
  );
  t.equal(type, 'Recipe');
  t.match(Buffer.from(soif ?? []).toString(), /Title\{5\}:\tSoup\n\n/);
});

t.test('E-71 a program or a table of the user takes the place of a built-in summarizer', async (t) => {
  const programs = await programsIn(t, { 'Text.sum': "#!/bin/sh\nprintf 'Title{4}:\\tmine\\n'\n" });
  const lib = await temporaryDirectory(t);
  await writeFile(join(lib, 'DocBook.sum.tbl'), '<PARA>\tSubject\n');
  const identity = {
    gathererName: 'T',
    gathererHost: 'h',
    gathererVersion: '1',
    refreshRate: 1,
    timeToLive: 1,
  };
  const summaryBy = async (options: object, url: string, body: string): Promise<string> => {
    const context = await createEssenceContext({ ...identity, keywords: false, ...options });
    const input = { url, body: Buffer.from(body), lastModificationTime: 0, updateTime: 1 };
    const { soif } = await summarizeDocument(input, context);
    return Buffer.from(soif ?? []).toString();
  };
  const text = ['http://a.test/x.txt', 'Only text\n'] as const;
  t.match(await summaryBy({}, ...text), /Partial-Text\{10\}:\tOnly text\n/);
  const own = await summaryBy({ programs }, ...text);
  t.match(own, /Title\{5\}:\tmine\n/);
  t.notMatch(own, /Partial-Text/);
  const book = ['http://a.test/x.docbook', '<article><title>T</title><para>p</para></article>'] as const;
  t.match(await summaryBy({}, ...book), /Title\{2\}:\tT\n/);
  const byTable = await summaryBy({ libDirectory: lib }, ...book);
  t.match(byTable, /Subject\{2\}:\tp\n/);
  t.notMatch(byTable, /Title\{2\}/);
});
