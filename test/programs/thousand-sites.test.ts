// Crawls a thousand sites on loopback that are correct, slow, broken, endless or lying, and checks the log of
// their server.
//   THOUSAND_SITES=150 node thousand-sites.test.js      crawls a smaller web
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { finishedOf } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import type { Gathered } from '../helpers/thousand-sites/gather.js';
import { type LogEvent, readLog } from '../helpers/thousand-sites/log.js';
import { type CheckOptions, checkLog, RULES, type Violation } from '../helpers/thousand-sites/log-checker.js';
import { allSites, KIND_NAMES } from '../helpers/thousand-sites/sites.js';
import { Web } from '../helpers/thousand-sites/web.js';

// Each test starts processes, which takes long on a busy machine.
const SITES = Number(process.env.THOUSAND_SITES ?? '1000');
const DELAY_SECONDS = 0.2;
const MAX_ATTEMPTS = 4;
/** Both clocks count whole milliseconds, and timers may fire one early. */
const TOLERANCE_MS = 5;
/** The server shares two processors with the crawler, so it learns of an aborted answer late. */
const ABORTED_TOLERANCE_MS = 150;
/**
 * Limit of the peak memory of the crawler: 200 workers with bodies of at most 256 KiB, the threads that
 * summarize, a thousand RootNodes. Measured: 460 to 510 MB. The sites offer gigabytes.
 */
const MAX_RSS_BYTES = 800_000_000;
/** Violations that a failure shows in full. */
const MAX_SHOWN = 12;

/** Runs the crawler. */
async function gather(configuration: string, directory: string): Promise<Gathered> {
  const program = fileURLToPath(new URL('../helpers/thousand-sites/gather.js', import.meta.url));
  const args = [program, configuration, directory, String(MAX_ATTEMPTS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const { code, stdout } = await finishedOf(child);
  if (code !== 0) throw new Error(`the Gatherer ended with ${code}`);
  return JSON.parse(stdout) as Gathered;
}

/** Counts violations by kind of site, and shows the first few in full. */
function summarize(violations: readonly Violation[]): { kinds: Record<string, number>; first: string[] } {
  const kinds: Record<string, number> = {};
  for (const { kind } of violations) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return {
    kinds,
    first: violations.slice(0, MAX_SHOWN).map(({ kind, address, text }) => `${kind}, ${address}: ${text}`),
  };
}

/** The log of one site, from lines `[time, connection, event, path or Retry-After]`. */
async function* logOf(
  site: number,
  lines: readonly (readonly [number, number, LogEvent['event'], (string | number)?])[],
): AsyncGenerator<LogEvent, void, undefined> {
  for (const [timeMs, connection, event, detail] of lines) {
    const common = { timeMs, site, connection, event };
    if (typeof detail === 'string') yield { ...common, path: detail, userAgent: 'Harvest/1' };
    else if (typeof detail === 'number') yield { ...common, retryAfterMs: detail };
    else yield common;
  }
}

const OPTIONS: CheckOptions = {
  delayMs: DELAY_SECONDS * 1000,
  toleranceMs: TOLERANCE_MS,
  abortedToleranceMs: ABORTED_TOLERANCE_MS,
};

t.test('CRAWL-5.6.4, 7.1 the log checker finds violations', async (t) => {
  const sites = allSites({ seed: 7, sites: KIND_NAMES.length, port: 80, maxAttempts: MAX_ATTEMPTS });
  const disallowed = KIND_NAMES.indexOf('robots disallows everything');
  const delayed = KIND_NAMES.indexOf('robots sets a delay');
  const rulesBroken = async (site: number, ...lines: Parameters<typeof logOf>[1]): Promise<string[]> => {
    const { violations } = await checkLog(sites, logOf(site, lines), OPTIONS);
    return violations
      .filter(
        ({ address, rule }) => address === sites[site]!.address && rule !== 'every page is requested once',
      )
      .map(({ rule, text }) => `${rule}: ${text}`);
  };
  const robots = [
    [0, 1, 'open'],
    [0, 1, 'begin', '/robots.txt'],
    [10, 1, 'end'],
  ] as const;
  t.same(await rulesBroken(0, ...robots, [206, 1, 'begin', '/'], [207, 1, 'end'], [300, 1, 'close']), []);
  t.same(await rulesBroken(0, ...robots, [204, 1, 'begin', '/'], [207, 1, 'end']), [
    'requests keep the delay: / came 194.0 ms after the end of /robots.txt, not 200 ms',
  ]);
  t.same(await rulesBroken(delayed, ...robots, [900, 1, 'begin', '/'], [907, 1, 'end']), [
    'requests keep the delay: / came 890.0 ms after the end of /robots.txt, not 1000 ms',
  ]);
  t.same(
    await rulesBroken(0, ...robots, [300, 1, 'begin', '/'], [600, 1, 'begin', '/page-0.html']),
    ['one request at a time: /page-0.html while / was active'],
    'a pipelined request is a violation',
  );
  t.same(await rulesBroken(0, ...robots, [300, 2, 'open'], [500, 2, 'close'], [501, 1, 'close']), [
    'one connection at a time: two were open together for 200 ms',
  ]);
  t.same(await rulesBroken(0, [0, 1, 'begin', '/'], [1, 1, 'end']), [
    'robots.txt is the first request: / was the first request',
  ]);
  t.same(await rulesBroken(disallowed, ...robots, [300, 1, 'begin', '/']), [
    'no forbidden page is requested: /',
  ]);
  t.same(
    await rulesBroken(0, [0, 1, 'begin', '/robots.txt'], [10, 1, 'end', 3000], [2900, 1, 'begin', '/']),
    ['Retry-After is obeyed: / came 110 ms too early (/robots.txt)'],
  );
  const { violations } = await checkLog(sites, logOf(0, [...robots, [300, 1, 'begin', '/none']]), OPTIONS);
  const missed = violations.filter(({ address }) => address === sites[0]!.address).map(({ text }) => text);
  t.match(missed, ['/none was requested more than 0 times', '/page-0.html was requested 0 times, not 1']);
});

const scratch = await temporaryDirectory(t);
const log = join(scratch, 'server.log');
const web = await Web.start({ seed: 7, sites: SITES, maxAttempts: MAX_ATTEMPTS }, log);
t.teardown(() => web.close());
const configuration = join(scratch, 'sites.cf');
const variables = ['Gatherer-Name: A thousand sites', 'Max-Retrieval-Size: 262144'];
writeFileSync(
  configuration,
  [...variables, '<RootNodes>', ...web.rootNodes(DELAY_SECONDS), '</RootNodes>', ''].join('\n'),
);
const { report, maxRssBytes } = await gather(configuration, join(scratch, 'data'));
await web.close();
const result = await checkLog(web.sites, readLog(log), OPTIONS);
t.comment(
  `${SITES} sites of ${KIND_NAMES.length} kinds: ${result.requests} requests over ${result.connections} connections, at most ` +
    `${result.maxConcurrent} at one time, in ${report.seconds.toFixed(0)} s; peak memory ${Math.round(maxRssBytes / 1e6)} MB; smallest margin ` +
    `${result.minMarginMs.toFixed(1)} ms; ${JSON.stringify(report.counts)}`,
);

/** The rules of the specifications behind each rule of the log checker. */
const CITED: Readonly<Record<(typeof RULES)[number], string>> = {
  'one request at a time': 'CRAWL-5.6.4',
  'one connection at a time': 'CRAWL-9.1',
  'requests keep the delay': 'CRAWL-7.1, G-38, G-63',
  'Retry-After is obeyed': 'CRAWL-22',
  'robots.txt is the first request': 'CRAWL-12.4',
  'no forbidden page is requested': 'G-62, CRAWL-13.2',
  'every page is requested once': 'G-68, CRAWL-4.1',
  'requests for endless pages are limited': 'G-32',
  'cookies are not sent back': 'G-67',
  'the crawler identifies itself': 'G-65',
};

t.test('G-69 the run visits every site and ends without a signal', async (t) => {
  t.equal(report.roots.length, SITES);
  t.ok(result.requests > SITES * 3, `the server received ${result.requests} requests`);
  t.ok(result.maxConcurrent > 1, `${result.maxConcurrent} requests were active at one time`);
});

for (const rule of RULES) {
  t.test(`${CITED[rule]} ${rule}`, async (t) => {
    const broken = result.violations.filter((violation) => violation.rule === rule);
    t.equal(broken.length, 0, rule, broken.length === 0 ? {} : summarize(broken));
  });
}

t.test('CRAWL-20 memory is bounded whatever the sites send', async (t) => {
  t.ok(maxRssBytes < MAX_RSS_BYTES, `the peak memory is ${Math.round(maxRssBytes / 1e6)} MB`);
});
