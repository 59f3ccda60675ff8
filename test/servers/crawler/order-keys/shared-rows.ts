// The options of an order that one crawl shows together; a second crawl has none of them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CrawlOrderInput } from '../../../../servers/crawler/order/order.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../../helpers/tls.js';
import { waitUntil } from '../../../helpers/wait-until.js';
import type { CrawlView, Running } from './crawls.js';

/** Environment variable with the password of the console, and of the members' page. */
export const PASSWORD = 'HARVEST_TEST_PASSWORD';

/** The order of both crawls: they wait when they are done, so that their consoles can be asked. */
export function plainOrder(directory: string): CrawlOrderInput {
  return {
    pauseAtFinish: true,
    warc: { directory: join(directory, 'warc') },
    console: { port: 0 },
    settings: { cookies: true },
  };
}

/** @param port a free one */
export function fullOrder(directory: string, url: string, port: number): CrawlOrderInput {
  const cookies = join(directory, 'cookies.txt');
  writeFileSync(cookies, '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t2147483647\trow\t1\n');
  writeFileSync(join(directory, 'site.pem'), TLS_CERTIFICATE);
  writeFileSync(join(directory, 'site.key'), TLS_KEY);
  return {
    ...plainOrder(directory),
    name: 'named',
    seeds: [`${url}/seed`],
    scope: [
      { rule: 'all', answer: 'ACCEPT' },
      { rule: 'matches', answer: 'REJECT', patterns: ['.*/b'] },
    ],
    userAgent: 'RowBot/1.0',
    from: 'row@example.org',
    // One of the two equal pages is in the archive before the other one is fetched.
    workers: 1,
    seen: 'memory-set',
    sourceTagSeeds: true,
    cookiesLoadFile: cookies,
    cookiesSaveFile: join(directory, 'saved.txt'),
    recoveryJournal: true,
    checkpointMinutes: 0.0005,
    checkpointsKept: 1,
    progressSeconds: 0.01,
    warc: {
      directory: join(directory, 'warc'),
      maxFileBytes: 1024,
      compress: false,
      transferCoding: 'kept',
      index: false,
      digestHistory: true,
      prefix: 'ROW',
    },
    console: {
      host: '127.0.0.3',
      port,
      hostNames: ['row.example'],
      passwordEnvironment: PASSWORD,
      certificate: join(directory, 'site.pem'),
      key: join(directory, 'site.key'),
    },
    credentials: [
      { kind: 'basic', url: `${url}/`, realm: 'Members', user: 'member', passwordEnvironment: PASSWORD },
    ],
    chains: { write: ['Writer'], 'pre-fetch': ['History', 'Blocker', 'PreconditionEnforcer'] },
    sheets: [{ name: 'one', surts: [url], settings: { blockPattern: '.*/c' } }],
  };
}

/**
 * Statuses of the console's answers: to a stranger, and to a stranger who calls it by the name that the full
 * order allows.
 */
interface Answers {
  readonly plain: number;
  readonly named: number;
  /** With the password. */
  readonly admitted: number;
}

/**
 * Waits for the end of the work and, with the full order, for checkpoints and figures; asks the console; stops
 * the crawl.
 */
export async function driveShared({ control, consoleUrl = '', crawl }: Running): Promise<Answers> {
  await waitUntil(() => control.snapshot().state === 'empty');
  if (control.snapshot().name === 'named')
    await waitUntil(() => newestCheckpoint(crawl) >= 3 && figures(crawl) >= 3);
  const login = Buffer.from('operator:open sesame').toString('base64');
  const answers = {
    plain: await statusOf(consoleUrl),
    named: await statusOf(consoleUrl, { host: 'row.example' }),
    admitted: await statusOf(consoleUrl, { authorization: `Basic ${login}` }),
  };
  control.stop();
  return answers;
}

function statusOf(console: string, headers: Record<string, string> = {}): Promise<number> {
  const url = new URL('api/snapshot', console);
  return new Promise((resolve, reject) => {
    const options = {
      headers: { host: url.host, ...headers },
      ca: TLS_CERTIFICATE,
      checkServerIdentity: () => undefined,
    };
    const send = url.protocol === 'https:' ? secureRequest : request;
    send(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
  });
}

function checkpoints(crawl: string): string[] {
  return readdirSync(join(crawl, 'checkpoints')).filter((name) => /^cp\d{5}-\d{14}$/.test(name));
}

function newestCheckpoint(crawl: string): number {
  return Math.max(0, ...checkpoints(crawl).map((name) => Number(name.slice(2, 7))));
}

/** Number of lines of figures in all files of the log. */
function figures(crawl: string): number {
  const logs = join(crawl, 'logs');
  return readdirSync(logs)
    .filter((name) => name.startsWith('progress-statistics.log'))
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'))
    .filter((line) => /^\S+Z +\d+ +\d+ +\d+/.test(line)).length;
}

function archives({ crawl }: CrawlView): string[] {
  return readdirSync(join(crawl, '../../warc')).filter((name) => /\.warc(?:\.gz)?$/.test(name));
}

/** The records of all archives as text. */
function archived(view: CrawlView): string {
  const texts = archives(view).map((name) => {
    const bytes = readFileSync(join(view.crawl, '../../warc', name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
  });
  return texts.join('');
}

const answersOf = ({ seen }: CrawlView): Answers => seen as Answers;

/** Returns whether a view of the full order shows each key; the view of the plain one must not. */
export function sharedRows(port: number): Readonly<Record<string, (view: CrawlView) => boolean>> {
  return {
    name: ({ snapshot }) => snapshot.name === 'named',
    seeds: ({ site }) => site.paths.includes('/seed'),
    scope: ({ site }) => site.paths.includes('/a') && !site.paths.includes('/b'),
    userAgent: ({ site }) => site.requests.every(({ headers }) => headers['user-agent'] === 'RowBot/1.0'),
    from: ({ site }) => site.requests.every(({ headers }) => headers.from === 'row@example.org'),
    workers: ({ snapshot }) => snapshot.workers === 1,
    seen: ({ snapshot }) => snapshot.seenFilter.kind === 'memory-set',
    sourceTagSeeds: ({ lines, site }) => lines.get('/a')?.sourceTag === `${site.url}/`,
    cookiesLoadFile: ({ site }) => site.requests.some(({ headers }) => headers.cookie === 'row=1'),
    cookiesSaveFile: ({ crawl }) => existsSync(join(crawl, '../../saved.txt')),
    recoveryJournal: ({ crawl }) => existsSync(join(crawl, 'logs/recover.gz')),
    checkpointMinutes: ({ crawl }) => newestCheckpoint(crawl) >= 3,
    checkpointsKept: ({ crawl }) => checkpoints(crawl).length === 1,
    progressSeconds: ({ crawl }) => figures(crawl) >= 3,
    'warc.maxFileBytes': (view) => archives(view).length > 1,
    'warc.compress': (view) => archives(view).every((name) => name.endsWith('.warc')),
    'warc.index': ({ crawl }) =>
      !readdirSync(join(crawl, '../../warc')).some((name) => name.endsWith('.cdxj')),
    'warc.transferCoding': (view) => /^transfer-encoding: chunked/im.test(archived(view)),
    'warc.digestHistory': ({ lines }) => lines.get('/e')?.annotations.includes('warcRevisit:digest') === true,
    'warc.prefix': (view) => archives(view).every((name) => name.startsWith('ROW-')),
    'console.host': ({ consoleUrl = '' }) => new URL(consoleUrl).hostname === '127.0.0.3',
    'console.port': ({ consoleUrl = '' }) => new URL(consoleUrl).port === String(port),
    'console.hostNames': (view) => answersOf(view).named === answersOf(view).plain,
    'console.certificate': ({ consoleUrl = '' }) => consoleUrl.startsWith('https:'),
    'console.key': (view) =>
      view.consoleUrl?.startsWith('https:') === true && answersOf(view).admitted === 200,
    'console.passwordEnvironment': (view) => answersOf(view).admitted === 200,
    credentials: ({ lines }) => lines.get('/members')?.status === 200,
    chains: ({ control }) => !control.chains().some(({ processor }) => processor === 'RuntimeLimit'),
    sheets: ({ lines }) => lines.get('/c')?.status === -5001,
  };
}
