import t from 'tap';
import { type CaseResult, loadSuite, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { type RefererdHabits, SOUND_REFERERD, simpleRefererd } from './simple-refererd.js';

const suite = await loadSuite('sstp');
const ids = suite.cases.map(({ id }) => id);
const refusals = [...ids.filter((id) => id.startsWith('refuse/')), 'fixture/f-21'];

async function judge(port: number, options: RunOptions): Promise<CaseResult[]> {
  const { timeoutMs = 3000 } = options;
  await using prepared = await suite.prepare([`127.0.0.1:${port}`], { timeoutMs });
  const results: CaseResult[] = [];
  for await (const result of runSuite(prepared, { ...options, timeoutMs })) results.push(result);
  return results;
}

/** Replaces bytes in the input of the server, which makes it misread. */
const deaf = (from: RegExp, to: string): Partial<RefererdHabits> => ({
  hear: (octets) => Buffer.from(octets.toString('latin1').replace(from, to), 'latin1'),
});
const saying = (from: RegExp, to: string): Partial<RefererdHabits> => ({
  say: (text) => text.replace(from, to),
});
const SOUND = SOUND_REFERERD.links;

/** Stops reading from all clients after half a request. */
function stuck(): Partial<RefererdHabits> {
  let half = false;
  return {
    hear(octets) {
      half ||= !octets.toString('latin1').endsWith('\r\n\r\n');
      return half ? Buffer.alloc(0) : octets;
    },
  };
}

/** They wait, or send byte by byte: run where the defect shows there, and with the sound servers. */
const CHEAP = ids.filter((id) => id !== 'connection/silent' && id !== 'connection/one-at-a-time');

/** A server with one defect, and the cases that have to see it: these, and no others, fail. */
const BROKEN: readonly {
  readonly defect: string;
  readonly habits: Partial<RefererdHabits>;
  readonly fails: readonly string[];
  /** The cases to run, if the defect makes every other connection wait or shows only in them. */
  readonly only?: readonly string[];
}[] = [
  {
    defect: 'the symbol of 081 is another',
    habits: saying(/081 REQ_GET_REFERENCES/g, '081 OK'),
    fails: ['reply/form'],
  },
  {
    defect: 'lines end in LF only',
    habits: saying(/\r/g, ''),
    fails: ['reply/form'],
  },
  {
    defect: 'a reply carries 200',
    habits: saying(/SSTP\/1\.0 08\d/g, 'SSTP/1.0 200'),
    fails: ['reply/form', 'reply/code-081', 'reply/code-082', 'reply/code-083', 'reply/code-084'],
    only: ['reply/*'],
  },
  { defect: 'the phrase is looked at', habits: deaf(/SOMETHING/, '\r'), fails: ['request/phrase'] },
  { defect: 'the phrase is needed', habits: deaf(/081\r\n/, '81\r\n'), fails: ['request/no-phrase'] },
  {
    defect: '1.7 is another version',
    habits: deaf(/SSTP\/1\.7/, 'SSTP/7.1'),
    fails: ['request/minor-version'],
  },
  {
    defect: 'small letters are not known',
    habits: deaf(/header_uri/, 'other'),
    fails: ['request/header-case'],
  },
  { defect: 'unknown headers are refused', habits: deaf(/X_Y:/, 'X_Y'), fails: ['request/unknown-header'] },
  { defect: 'leading zeros are refused', habits: deaf(/: 0+10/, ': -10'), fails: ['request/leading-zeros'] },
  { defect: 'a bare LF is refused', habits: deaf(/(?<!\r)\n/, '\r\r\n'), fails: ['request/bare-lf'] },
  {
    defect: 'what is malformed is answered 404',
    habits: saying(/400 BAD REQUEST/, '404 REQ_PUT_NOT_FOUND'),
    fails: [...refusals, 'fixture/f-13'],
  },
  {
    defect: 'the connection stays open behind 400 and 505',
    habits: { closes: false },
    fails: ['refuse/bare-cr', 'refuse/garbage', 'request/version-2'],
    only: ['refuse/bare-cr', 'refuse/garbage', 'request/version-2', 'reply/*'],
  },
  {
    defect: 'SSTP/2.0 is taken for 1.0',
    habits: deaf(/SSTP\/2\.0/, 'SSTP/1.0'),
    fails: ['request/version-2'],
    only: ['request/*'],
  },
  { defect: 'IDs end at 2147483647', habits: deaf(/4294967295/, '-1'), fails: ['request/largest-id'] },
  {
    defect: 'the URL is read though there is an ID',
    habits: deaf(/HEADER_URL: ::::\r\nHEADER_URI_ID: 10\r\n/, 'HEADER_URL: ::::\r\n'),
    fails: ['request/id-first'],
  },
  {
    defect: '501 is 400',
    habits: saying(/501 NOT IMPLEMENTED/g, '400 BAD REQUEST'),
    fails: ['connection/pipelined', 'request/unserved-001', 'request/unserved-006', 'request/unserved-999'],
  },
  {
    defect: 'it greets',
    habits: { greeting: 'SSTP/1.0 200 OK\r\n\r\n' },
    fails: ['connection/silent'],
    only: ['connection/silent'],
  },
  {
    defect: 'a request in pieces is not understood',
    habits: { hear: (octets) => (octets.length < 5 ? Buffer.from('x\r\n') : octets) },
    fails: ['connection/one-at-a-time'],
    only: ['connection/one-at-a-time', 'connection/kept'],
  },
  {
    defect: 'half-closed clients are dropped',
    habits: {
      dropsHalfClosed: true,
      say: (text) => (text.match(/SSTP/g)?.length === 2 ? text.slice(0, 20) : text),
    },
    fails: ['connection/half-close'],
    only: ['connection/half-close', 'connection/kept'],
  },
  {
    defect: 'one request a connection',
    habits: { oneShot: true },
    fails: ['connection/kept'],
    only: ['connection/kept', 'reply/*', 'fixture/*'],
  },
  {
    defect: 'replies come in another order',
    habits: {
      say: (text) =>
        text
          .split(/(?<=\r\n\r\n)/)
          .reverse()
          .join(''),
    },
    fails: ['connection/pipelined', 'request/unserved-001', 'request/unserved-006', 'request/unserved-999'],
  },
  {
    defect: 'HTTP is answered in SSTP',
    habits: { http: 'SSTP/1.0 400 BAD REQUEST\r\n\r\n' },
    fails: ['connection/http'],
  },
  {
    defect: 'half a request of one client holds up all',
    habits: stuck(),
    fails: ['connection/leaves'],
    only: ['connection/leaves', 'connection/half-close'],
  },
];

// A run of the suite waits more than it works.
t.jobs = 4;

t.test('a sound References Server passes every case, and none is skipped', async (t) => {
  const results = await judge(await simpleRefererd(t, SOUND_REFERERD), {});
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, ids.length);
});

t.test('R-26, R-27: empty results as a total of 0 pass too', async (t) => {
  const port = await simpleRefererd(t, { ...SOUND_REFERERD, links: (request) => SOUND(request) ?? [] });
  for (const { id, verdict, message } of await judge(port, {}))
    t.equal(verdict, 'pass', `${id}: ${message ?? ''}`);
});

t.test('C-01: the cases on the fixture are skipped if the server does not serve it', async (t) => {
  const port = await simpleRefererd(t, {
    ...SOUND_REFERERD,
    links: () => undefined,
    ...deaf(/http:\/\/a\.example:81\//, 'http://other.example/'),
  });
  const results = await judge(port, { only: ['fixture/*'] });
  for (const { id, verdict } of results) t.equal(verdict, id === 'fixture/f-21' ? 'pass' : 'skip', id);
});

for (const { defect, habits, fails, only = CHEAP } of BROKEN) {
  t.test(`a References Server with one defect fails only the cases about it: ${defect}`, async (t) => {
    const port = await simpleRefererd(t, { ...SOUND_REFERERD, ...habits });
    const results = await judge(port, { timeoutMs: 800, only });
    const failed = results.filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message }) => `${id}: ${message}`).join('; ');
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.slice(0, 2000));
  });
}

t.test('C-01: wrong links and wrong fields fail the rows of the fixture that show them', async (t) => {
  const shifted = await simpleRefererd(t, {
    ...SOUND_REFERERD,
    links: (request) => [...(SOUND(request) ?? []), 77],
    ...saying(/HEADER_SERVER_ID: 2/, 'HEADER_SERVER_ID: 9'),
  });
  const results = await judge(shifted, { only: ['fixture/*'] });
  const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
  t.same(passed.sort(), ['fixture/f-13', 'fixture/f-21', 'fixture/order']);
  const swapped = await simpleRefererd(t, {
    ...SOUND_REFERERD,
    ...saying(/(HEADER_NUMFOUND: \d+\r\n)(HEADER_START_RESULTS: \d+\r\n)/, '$2$1'),
  });
  const order = await judge(swapped, { only: ['fixture/*'] });
  t.same(
    order.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id),
    ['fixture/order'],
  );
});

t.test('no server, and wrong words', async (t) => {
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '1', '2'], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['127.0.0.1:1'], {}), { code: 'ERR_CONNECTION' });
});
