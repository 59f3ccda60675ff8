// The processes that read untrusted documents: many bombs at a time, killed readers, killed owners, good
// documents beside them (E-45).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { type EssenceOutput, EssencePool } from '../../servers/essence/index.js';
import { treeMs } from '../../servers/essence/time-budget.js';
import { deflated, endlessPdf, pdfWith } from '../helpers/bombs/pdf-bombs.js';
import { childProcesses, TreeWatch, treeBytes } from '../helpers/process-tree.js';
import { waitUntil } from '../helpers/wait-until.js';
import { attributesOf, IDENTITY, inputOf } from '../servers/essence/helpers.js';

const MIB = 1024 * 1024;
const isLinux = process.platform === 'linux';

/** A lie about the content, which the check of its streams does not see. */
const BOMB = pdfWith('/Subtype/Image/Filter/FlateDecode', deflated(300 * MIB, 1));
const GOOD = pdfWith('', new Uint8Array(Buffer.from('BT /F 12 Tf 72 700 Td (good words) Tj ET')));
const ENDLESS = endlessPdf();

const good = (pool: EssencePool) => pool.summarize(inputOf('http://a.test/good.pdf', GOOD));

function checkGood(t: Test, output: EssenceOutput): void {
  t.equal(attributesOf(output.soif ?? new Uint8Array())['Partial-Text'], 'good words\n');
  t.same(output.warnings, []);
}

function checkBomb(t: Test, output: EssenceOutput, reason: RegExp): void {
  t.match(output.warnings.join(), /the Pdf document is summarized by its name \(E-45\)/);
  t.match(output.warnings.join(), reason);
  t.match(attributesOf(output.soif ?? new Uint8Array()), {
    Type: 'Pdf',
    Title: 'bomb.pdf\n',
    'File-Size': /^\d+$/,
  });
}

t.test("E-45: many bombs at a time stay within the pool's memory; good documents are read", async (t) => {
  await using pool = await EssencePool.create({
    ...IDENTITY,
    workers: 4,
    maxReaderMemoryMb: 200,
    maxPoolMemoryMb: 400,
  });
  const before = treeBytes();
  using watch = new TreeWatch();
  const outputs = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      i % 3 === 2 ? good(pool) : pool.summarize(inputOf('http://a.test/bomb.pdf', BOMB)),
    ),
  );
  for (const [i, output] of outputs.entries()) {
    if (i % 3 === 2) checkGood(t, output);
    else checkBomb(t, output, /more than 200 MiB of memory/);
  }
  t.ok(watch.peak - before < 520 * MIB, `memory grows by ${Math.round((watch.peak - before) / MIB)} MiB`);
  t.ok(childProcesses().length <= 2, 'the memory of the pool allows two processes');
  t.equal(pool.statistics.failed, 4);
});

t.test('E-70: an endless document is ended by its time limit', async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, timeLimitMs: 1000 });
  const bomb = pool.summarize(inputOf('http://a.test/bomb.pdf', ENDLESS));
  const next = pool.summarize(inputOf('http://a.test/good.ps', '%!PS\n'));
  checkBomb(t, await bomb, /more than \d+ ms of processor time \(E-70\)/);
  t.same((await next).warnings, [], 'the next document is read');
});

t.test('a reader that is killed from outside costs its document only', { skip: !isLinux }, async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
  checkGood(t, await good(pool));
  const [reader] = childProcesses();
  const endless = pool.summarize(inputOf('http://a.test/bomb.pdf', ENDLESS));
  const begin = treeMs(reader!) ?? 0;
  await waitUntil(() => (treeMs(reader!) ?? 0) >= begin + 200);
  process.kill(reader!, 'SIGKILL');
  checkBomb(t, await endless, /its reader process ended with SIGKILL/);
  checkGood(t, await good(pool));
});

t.test('a reader without work ends, and the next document starts another', { skip: !isLinux }, async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, readerIdleMs: 50 });
  checkGood(t, await good(pool));
  await waitUntil(() => childProcesses().length === 0);
  checkGood(t, await good(pool));
  t.equal(pool.statistics.replaced, 0, 'that is not a failure');
});

t.test('closing the pool ends a reader in an endless document', { skip: !isLinux }, async (t) => {
  const pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
  const endless = pool.summarize(inputOf('http://a.test/bomb.pdf', ENDLESS));
  const rejected = t.rejects(endless, { code: 'ERR_STATE' });
  await waitUntil(() => childProcesses().length > 0);
  await pool.close();
  await rejected;
  t.same(childProcesses(), []);
});

t.test('kill -9 of the process that owns the pool leaves no reader', { skip: !isLinux }, async (t) => {
  const moduleOf = (name: string) => JSON.stringify(import.meta.resolve(`../../servers/essence/${name}`));
  const program = `
    import { EssencePool } from ${moduleOf('index.js')};
    import { treeMs } from ${moduleOf('time-budget.js')};
    import { readFileSync } from 'node:fs';
    const pool = await EssencePool.create({ ...${JSON.stringify(IDENTITY)}, workers: 1 });
    void pool.summarize({ url: 'http://a.test/bomb.pdf', body: readFileSync(0), lastModificationTime: 0, updateTime: 0 });
    const children = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim();
    const timer = setInterval(() => { if (treeMs(Number(children() || -1)) > 1000) { clearInterval(timer); console.log(children()); } }, 20);
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  owner.stdin.end(ENDLESS);
  const [line] = await once(owner.stdout, 'data');
  const reader = Number(String(line).trim());
  t.ok(isAlive(reader), 'the reader is at work');
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  await waitUntil(() => !isAlive(reader));
  t.pass('it ends with its owner');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // ESRCH: it is gone.
    return false;
  }
}
