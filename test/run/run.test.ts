// The runner itself, with small scripts: failures, silence, processes that stay, repeats, time that is left.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { closingLines, linesOf, totalsOf } from './report.js';
import { type RunOptions, runPlan } from './run.js';
import { type RunContext, runScript, TapCount } from './run-script.js';
import type { Outcome, Script } from './script.js';

const script = (name: string, program: string, fields: Partial<Script> = {}): Script => ({
  name,
  tier: 'gate',
  seconds: 1,
  kind: 'exact',
  paths: [],
  needs: [],
  command: [process.execPath, '-e', program],
  ...fields,
});

async function contextOf(t: Test): Promise<RunContext> {
  const directory = await temporaryDirectory(t);
  const logDirectory = join(directory, 'logs');
  mkdirSync(logDirectory);
  return { directory, logDirectory, variables: { HARVEST_SEED: '7' }, signal: new AbortController().signal };
}

const options: RunOptions = { jobs: 2, reasonToSkip: () => undefined, onOutcome: () => {} };

t.test('assertions are counted in any chunking; without any, a script has failed', async (t) => {
  const text = 'TAP version 14\nok 1 - a\n    not ok 1 - b\nok\nnot okay\n';
  for (let size = 1; size < text.length; size++) {
    const count = new TapCount();
    for (let at = 0; at < text.length; at += size) count.push(Buffer.from(text.slice(at, at + size)));
    t.same(count.result(1), { passed: 1, failed: 1 });
  }
  t.same(new TapCount().result(0), { passed: 0, failed: 1 });
  const single = new TapCount();
  single.push(Buffer.from('ok\n'));
  t.same(single.result(0), { passed: 1, failed: 0 });
  t.same(single.result(1), { passed: 1, failed: 1 }, 'a bad end after good assertions');
});

t.test('a script has the seed, and a directory for temporary files that is gone afterwards', async (t) => {
  const context = await contextOf(t);
  const program = `const { TMPDIR, HARVEST_SEED } = process.env;
    require('fs').writeFileSync(TMPDIR + '/file', ''); console.log(TMPDIR, HARVEST_SEED)`;
  const { status, logs } = await runScript(script('a/b', program), context);
  t.equal(status, 'passed');
  const [directory = '', seed] = readFileSync(logs[0] ?? '', 'utf8')
    .trim()
    .split(' ');
  t.equal(seed, '7');
  t.notOk(existsSync(directory));
});

t.test('scripts whose names begin alike have directories of their own', async (t) => {
  const context = await contextOf(t);
  const names = ['clients/conformance/sstp', 'clients/conformance/sstp-client'];
  const outcomes = await Promise.all(
    names.map((name) => runScript(script(name, "console.log('ok 1')"), context)),
  );
  t.same(
    outcomes.map(({ status }) => status),
    ['passed', 'passed'],
  );
});

t.test(
  'a process that outlives its script is named and ended',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const context = await contextOf(t);
    const program = `const child = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    console.log(child.pid); child.unref()`;
    const { status, remarks, logs } = await runScript(script('left', program), context);
    t.equal(status, 'passed');
    t.match(remarks, ['left a process: sleep 1000']);
    const pid = Number(readFileSync(logs[0] ?? '', 'utf8'));
    await waitUntil(
      () => !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`).length === 0,
    );
  },
);

t.test('a failed script that its own timers keep running is ended, and has failed', async (t) => {
  const context = { ...(await contextOf(t)), graceSeconds: 0.5 };
  const poll = 'const end = Date.now() + 20; while (Date.now() < end); setTimeout(poll, 20)';
  const program = `console.log('ok 1 - a\\nnot ok 2 - b'); const poll = () => { ${poll} }; poll()`;
  const { status, failed, passed, remarks } = await runScript(script('polls', program), context);
  t.same({ status, failed, passed }, { status: 'failed', failed: 1, passed: 0 });
  t.match(remarks, [
    /^ended: a test failed, then nothing was printed for \d+ s; .* keeps the script running$/,
  ]);
});

t.test('a failed script goes on while another test of it runs', async (t) => {
  const context = { ...(await contextOf(t)), graceSeconds: 0.5 };
  const program = `console.log('not ok 1 - a\\n# Subtest: b'); process.exitCode = 1; setTimeout(() => console.log('ok 2 - b'), 3000)`;
  const { remarks, logs } = await runScript(script('works', program), context);
  t.same(remarks, []);
  t.match(readFileSync(logs[0] ?? '', 'utf8'), /ok 2 - b/);
});

t.test('a failed script of real timers runs once more, alone; others do not', async (t) => {
  const context = await contextOf(t);
  const once = join(context.directory, 'once');
  const program = `const fs = require('fs'); const isFirst = !fs.existsSync('${once}');
    fs.writeFileSync('${once}', ''); process.exitCode = isFirst ? 1 : 0`;
  const scripts = [script('flaky', program, { kind: 'timed' }), script('red', 'process.exitCode = 1')];
  const result = await runPlan({ required: scripts, optional: [], postponed: ['late'] }, context, options);
  const totals = totalsOf(result);
  t.match(totals, { passed: 1, failed: 1, flaky: ['flaky'], notRun: ['late'] });
  const flaky = result.outcomes.find(({ name }) => name === 'flaky');
  t.equal(flaky?.logs.length, 2);
  t.match(linesOf(flaky as Outcome).join('\n'), /flaky flaky: failed, and passed when it ran alone/);
  t.match(closingLines(totals), [/late/, '1 flaky, 0 skipped, 1 not run', '1 passed, 1 failed']);
});

t.test('three flaky scripts are no chance', async (t) => {
  const outcome = (name: string, status: Outcome['status']): Outcome => {
    return { name, status, passed: 1, failed: 0, seconds: 1, processorSeconds: 1, remarks: [], logs: [] };
  };
  const outcomes = ['a', 'b', 'c'].map((name) => outcome(name, 'flaky'));
  t.equal(totalsOf({ outcomes: outcomes.slice(1), notRun: [] }).failed, 0);
  t.equal(totalsOf({ outcomes, notRun: [] }).failed, 3);
});

t.test('an optional script begins only if it fits; one without its programs is skipped', async (t) => {
  const context = await contextOf(t);
  const scripts = [
    script('long', '', { seconds: 50 }),
    script('short', ''),
    script('needy', '', { needs: ['x'] }),
  ];
  const result = await runPlan({ required: [], optional: scripts, postponed: [] }, context, {
    ...options,
    jobs: 1,
    secondsLeft: () => 10,
    reasonToSkip: ({ needs }) => (needs.includes('x') ? 'no mirror: x' : undefined),
  });
  t.same(result.notRun, ['long']);
  t.match(totalsOf(result), { passed: 1, failed: 0, skipped: ['needy'] });
  t.ok(result.outcomes.flatMap(linesOf).includes('skipped needy: no mirror: x'));
});
