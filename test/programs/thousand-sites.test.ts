// The crawl engine against a web of its own: a thousand sites on loopback, plain, slow, broken, endless and lying. What the
// servers saw is the proof.
//   THOUSAND_SITES=150 node thousand-sites.test.js      a smaller web

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import type { Gathered } from '../helpers/thousand-sites/gather.js';
import { type JudgeOptions, judge, RULES, type Violation } from '../helpers/thousand-sites/judge.js';
import { type LogEvent, readLog } from '../helpers/thousand-sites/log.js';
import { allSites, KIND_NAMES } from '../helpers/thousand-sites/sites.js';
import { Web } from '../helpers/thousand-sites/web.js';

// Each test starts processes, which takes long on a busy machine.
t.setTimeout(600_000);

const SITES = Number(process.env.THOUSAND_SITES ?? '1000');
const DELAY_SECONDS = 0.2;
const TRIES = 4;
/** Clocks of whole milliseconds on both sides, and timers that may be one early. */
const TOLERANCE_MS = 5;
/** A server that shares two processors with the crawler learns late that it hung up. */
const CUT_TOLERANCE_MS = 150;
/**
 * Of the crawler's process at its peak: 200 workers with bodies of at most 256 KiB, the threads that summarize, a thousand RootNodes.
 * 460 to 510 MB were seen; the sites offer gigabytes.
 */
const MAX_RSS_BYTES = 800_000_000;
const SHOWN = 12;

function gather(configuration: string, directory: string): Promise<Gathered> {
  const program = fileURLToPath(new URL('../helpers/thousand-sites/gather.js', import.meta.url));
  const args = [...PLAIN_NODE, program, configuration, directory, String(TRIES)];
  const child = spawn('env', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Gathered);
      else reject(new Error(`the Gatherer ended with ${code}`));
    });
  });
}

/** How often, at which kinds of sites, and the first few in full. */
function summary(violations: readonly Violation[]): { kinds: Record<string, number>; first: string[] } {
  const kinds: Record<string, number> = {};
  for (const { kind } of violations) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return {
    kinds,
    first: violations.slice(0, SHOWN).map(({ kind, address, text }) => `${kind}, ${address}: ${text}`),
  };
}

/** A log by hand: `[at, connection, event, path or Retry-After]` of one site. */
async function* logOf(
  site: number,
  lines: readonly (readonly [number, number, LogEvent['event'], (string | number)?])[],
): AsyncGenerator<LogEvent, void, undefined> {
  for (const [at, connection, event, more] of lines) {
    if (typeof more === 'string') yield { at, site, connection, event, path: more, agent: 'Harvest/1' };
    else if (typeof more === 'number') yield { at, site, connection, event, retryAfter: more };
    else yield { at, site, connection, event };
  }
}

const OPTIONS: JudgeOptions = {
  delayMs: DELAY_SECONDS * 1000,
  toleranceMs: TOLERANCE_MS,
  cutToleranceMs: CUT_TOLERANCE_MS,
};

t.test('CRAWL-5.6.4, 7.1 the judge itself sees what is wrong', async (t) => {
  const sites = allSites({ seed: 7, sites: KIND_NAMES.length, port: 80, tries: TRIES });
  const disallowed = KIND_NAMES.indexOf('robots disallows everything');
  const delayed = KIND_NAMES.indexOf('robots asks for a delay');
  const rulesBroken = async (site: number, ...lines: Parameters<typeof logOf>[1]): Promise<string[]> => {
    const { violations } = await judge(sites, logOf(site, lines), OPTIONS);
    return violations
      .filter(({ address, rule }) => address === sites[site]!.address && rule !== 'every page once')
      .map(({ rule, text }) => `${rule}: ${text}`);
  };
  const robots = [
    [0, 1, 'open'],
    [0, 1, 'begin', '/robots.txt'],
    [10, 1, 'end'],
  ] as const;
  t.same(await rulesBroken(0, ...robots, [206, 1, 'begin', '/'], [207, 1, 'end'], [300, 1, 'close']), []);
  t.same(await rulesBroken(0, ...robots, [204, 1, 'begin', '/'], [207, 1, 'end']), [
    'no request before its time: / came 194.0 ms after the end of /robots.txt, not 200 ms',
  ]);
  t.same(await rulesBroken(delayed, ...robots, [900, 1, 'begin', '/'], [907, 1, 'end']), [
    'no request before its time: / came 890.0 ms after the end of /robots.txt, not 1000 ms',
  ]);
  t.same(
    await rulesBroken(0, ...robots, [300, 1, 'begin', '/'], [600, 1, 'begin', '/page-0.html']),
    ['one request at a time: /page-0.html while / was under way'],
    'pipelined',
  );
  t.same(await rulesBroken(0, ...robots, [300, 2, 'open'], [500, 2, 'close'], [501, 1, 'close']), [
    'one connection at a time: two were open together for 200 ms',
  ]);
  t.same(await rulesBroken(0, [0, 1, 'begin', '/'], [1, 1, 'end']), [
    'robots.txt first: / was the first request',
  ]);
  t.same(await rulesBroken(disallowed, ...robots, [300, 1, 'begin', '/']), ['nothing that is forbidden: /']);
  t.same(
    await rulesBroken(0, [0, 1, 'begin', '/robots.txt'], [10, 1, 'end', 3000], [2900, 1, 'begin', '/']),
    ['Retry-After is waited for: / came 110 ms too early (/robots.txt)'],
  );
  const { violations } = await judge(sites, logOf(0, [...robots, [300, 1, 'begin', '/none']]), OPTIONS);
  const missed = violations.filter(({ address }) => address === sites[0]!.address).map(({ text }) => text);
  t.match(missed, ['/none was fetched more than 0 times', '/page-0.html was fetched 0 times, not 1']);
});

const scratch = await mkdtemp(join(tmpdir(), 'harvest-sites-'));
t.teardown(() => rm(scratch, { recursive: true, force: true }));
const log = join(scratch, 'server.log');
const web = await Web.start({ seed: 7, sites: SITES, tries: TRIES }, log);
t.teardown(() => web.close());
const configuration = join(scratch, 'sites.cf');
const variables = ['Gatherer-Name: A thousand sites', 'Max-Retrieval-Size: 262144'];
writeFileSync(
  configuration,
  [...variables, '<RootNodes>', ...web.rootNodes(DELAY_SECONDS), '</RootNodes>', ''].join('\n'),
);
const { report, maxRssBytes } = await gather(configuration, join(scratch, 'data'));
await web.close();
const verdict = await judge(web.sites, readLog(log), OPTIONS);
t.comment(
  `${SITES} sites of ${KIND_NAMES.length} kinds: ${verdict.requests} requests over ${verdict.connections} connections, at most ` +
    `${verdict.mostAtOnce} at one time, in ${report.seconds.toFixed(0)} s; peak memory ${Math.round(maxRssBytes / 1e6)} MB; least margin ` +
    `${verdict.leastMargin.toFixed(1)} ms; ${JSON.stringify(report.counts)}`,
);

/** The rules of the specifications that each of the judge's rules stands for. */
const CITED: Readonly<Record<(typeof RULES)[number], string>> = {
  'one request at a time': 'CRAWL-5.6.4',
  'one connection at a time': 'CRAWL-9.1',
  'no request before its time': 'CRAWL-7.1, G-38, G-63',
  'Retry-After is waited for': 'CRAWL-22 pain 4',
  'robots.txt first': 'CRAWL-12.4',
  'nothing that is forbidden': 'G-62, CRAWL-13.2',
  'every page once': 'G-68, CRAWL-4.1',
  'traps end': 'G-32',
  'cookies are not sent back': 'G-67',
  'the crawler names itself': 'G-65',
};

t.test('G-69 the run meets every site and ends by itself', async (t) => {
  t.equal(report.roots.length, SITES);
  t.ok(verdict.requests > SITES * 3, `${verdict.requests} requests`);
  t.ok(verdict.mostAtOnce > 1, `${verdict.mostAtOnce} sites at one time`);
});

for (const rule of RULES) {
  t.test(`${CITED[rule]} ${rule}`, async (t) => {
    const broken = verdict.violations.filter((violation) => violation.rule === rule);
    t.equal(broken.length, 0, rule, broken.length === 0 ? {} : summary(broken));
  });
}

t.test('CRAWL-20 memory is bounded whatever the sites send', async (t) => {
  t.ok(maxRssBytes < MAX_RSS_BYTES, `${Math.round(maxRssBytes / 1e6)} MB`);
});
