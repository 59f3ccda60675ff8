// The clock of a whole server jumps between its processes and while one runs: `harvest run` under faketime. The
// tests of the servers try more jumps with injected clocks. Prints TAP. Needs Debian's faketime.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { request } from 'undici';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));

/** Hours by which the clock is wrong in one round. */
const JUMPS = [1, -1, 8760, -8760, 87_600];
/** Hours from one round to the next: the pages are due again. */
const HOURS = 50;

t.test('jumps of the clock', { skip: LIBRARY === undefined && 'faketime is not installed' }, async (t) => {
  const directory = await temporaryDirectory(t);
  const time = join(directory, 'time');
  await using site = await Site.start({});
  const names = ['gatherd', 'broker', 'web', 'references'];
  const numbers = await Promise.all(names.map(() => freePort()));
  const ports = names.flatMap((name, i) => [`--${name}-port`, String(numbers[i])]);
  const [, , web = 0] = numbers;
  let round = 0;
  /** Publishes another edition and sets the clock. */
  const next = (wrongHours: number): void => {
    round++;
    site.pages.set('/', page('Start', ['/always', '/same', '/other']));
    site.pages.set('/same', page('The same page', ['/']));
    site.pages.set('/other', page('Another page', ['/']));
    site.pages.set('/always', page(`Edition number${round}`, ['/']));
    const hours = round * HOURS + wrongHours;
    writeFileSync(time, `${hours < 0 ? '' : '+'}${hours}h`);
  };
  const finds = async (words: string): Promise<boolean> => {
    // The server closes a kept connection when the clock of its timers jumps.
    const options = { reset: true } as const;
    const { body } = await request(
      `http://127.0.0.1:${web}/Harvest/cgi-bin/BrokerQuery.cgi?query=${words}`,
      options,
    );
    return (await body.text()).includes(`${site.url}/`);
  };
  const serve = async (check: (run: CliProcess) => Promise<void>): Promise<void> => {
    const run = new CliProcess(
      ['run', `${site.url}/`, '--data', join(directory, 'data'), '--delay', '0', '--every', '1d', ...ports],
      {
        LD_PRELOAD: LIBRARY ?? '',
        FAKETIME_TIMESTAMP_FILE: time,
        FAKETIME_NO_CACHE: '1',
        NO_FAKE_STAT: '1',
      },
    );
    t.teardown(() => run.child.kill('SIGKILL'));
    await run.output(/^ready gatherd=/m);
    await check(run);
    run.child.kill('SIGTERM');
    t.equal((await run.finished).code, 0, run.stderr);
  };
  const isFound = async (what: string): Promise<void> => {
    await waitUntil(() => finds(`number${round}`));
    t.ok(await finds(`number${round}`), `${what}: edition ${round} is found`);
    t.notOk(await finds(`number${round - 1}`), 'the former one is not');
    t.ok(await finds('same'), 'nothing is lost');
  };

  next(0);
  await serve(() => isFound('at first'));
  for (const jump of JUMPS) {
    next(jump);
    await serve(() => isFound(`${jump} hours`));
    next(0);
    await serve(() => isFound(`after ${jump} hours`));
  }
  next(0);
  await serve(async () => {
    await isFound('before the clock jumps');
    next(8760);
    await isFound('a year ahead, while it runs');
  });
});
