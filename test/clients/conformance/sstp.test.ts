// Tests the conformance suite for References Servers: a correct server passes, and each defect fails the cases about
// it.
import t from 'tap';
import { type CaseResult, loadSuite, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { CORRECT_REFERERD, type RefererdBehavior, simpleRefererd } from './simple-refererd.js';

const suite = await loadSuite('sstp');
const ids = suite.cases.map(({ id }) => id);
const refusals = [...ids.filter((id) => id.startsWith('refuse/')), 'fixture/f-21'];

async function runCases(port: number, options: RunOptions): Promise<CaseResult[]> {
  const { timeoutMs = 3000 } = options;
  await using prepared = await suite.prepare([`127.0.0.1:${port}`], { timeoutMs });
  const results: CaseResult[] = [];
  for await (const result of runSuite(prepared, { ...options, timeoutMs })) results.push(result);
  return results;
}

/** A server that reads other bytes than it received. */
const misreading = (pattern: RegExp, replacement: string): Partial<RefererdBehavior> => ({
  changeInput: (bytes) => Buffer.from(bytes.toString('latin1').replace(pattern, replacement), 'latin1'),
});
/** A server that sends other replies than it should. */
const misanswering = (pattern: RegExp, replacement: string): Partial<RefererdBehavior> => ({
  changeReplies: (text) => text.replace(pattern, replacement),
});
const correctLinks = CORRECT_REFERERD.links;

/** A server that stops reading from all clients after half a request. */
function blocked(): Partial<RefererdBehavior> {
  let isBlocked = false;
  return {
    changeInput(bytes) {
      isBlocked ||= !bytes.toString('latin1').endsWith('\r\n\r\n');
      return isBlocked ? Buffer.alloc(0) : bytes;
    },
  };
}

/** All cases but the slow ones, which wait or send byte by byte and run only with the defects that they detect. */
const QUICK = ids.filter((id) => id !== 'connection/silent' && id !== 'connection/one-at-a-time');

/** A server with one defect, and the ids of the cases that it fails; it passes all others. */
const BROKEN: readonly {
  readonly defect: string;
  readonly behavior: Partial<RefererdBehavior>;
  readonly fails: readonly string[];
  /** Patterns of the cases to run, if the defect delays the other cases or shows only in slow ones. */
  readonly only?: readonly string[];
}[] = [
  {
    defect: '081 has another symbol',
    behavior: misanswering(/081 REQ_GET_REFERENCES/g, '081 OK'),
    fails: ['reply/form', 'reply/symbols'],
  },
  {
    defect: 'lines end in LF only',
    behavior: misanswering(/\r/g, ''),
    fails: ['reply/start-line', 'reply/form'],
  },
  {
    defect: 'replies have the code 200',
    behavior: misanswering(/SSTP\/1\.0 08\d/g, 'SSTP/1.0 200'),
    fails: [
      'reply/form',
      'reply/symbols',
      'reply/code-081',
      'reply/code-082',
      'reply/code-083',
      'reply/code-084',
    ],
    only: ['reply/*'],
  },
  { defect: 'the phrase matters', behavior: misreading(/SOMETHING/, '\r'), fails: ['request/phrase'] },
  {
    defect: 'the phrase is required',
    behavior: misreading(/081\r\n/, '81\r\n'),
    fails: ['request/no-phrase'],
  },
  {
    defect: 'version 1.7 is refused',
    behavior: misreading(/SSTP\/1\.7/, 'SSTP/7.1'),
    fails: ['request/minor-version'],
  },
  {
    defect: 'header names in lower case are not known',
    behavior: misreading(/header_uri/, 'other'),
    fails: ['request/header-case'],
  },
  {
    defect: 'unknown headers are refused',
    behavior: misreading(/X_Y:/, 'X_Y'),
    fails: ['request/unknown-header'],
  },
  {
    defect: 'leading zeros are refused',
    behavior: misreading(/: 0+10/, ': -10'),
    fails: ['request/leading-zeros'],
  },
  { defect: 'a bare LF is refused', behavior: misreading(/(?<!\r)\n/, '\r\r\n'), fails: ['request/bare-lf'] },
  {
    defect: 'malformed requests are answered 404',
    behavior: misanswering(/400 BAD REQUEST/, '404 REQ_PUT_NOT_FOUND'),
    fails: [...refusals, 'fixture/f-13'],
  },
  {
    defect: 'the connection stays open after 400 and 505',
    behavior: { closes: false },
    fails: ['refuse/bare-cr', 'refuse/garbage', 'request/version-2'],
    only: ['refuse/bare-cr', 'refuse/garbage', 'request/version-2', 'reply/*'],
  },
  {
    defect: 'SSTP/2.0 is read as 1.0',
    behavior: misreading(/SSTP\/2\.0/, 'SSTP/1.0'),
    fails: ['request/version-2'],
    only: ['request/*'],
  },
  {
    defect: 'IDs above 2147483647 are refused',
    behavior: misreading(/4294967295/, '-1'),
    fails: ['request/largest-id'],
  },
  {
    defect: 'the URL is read although the request has an ID',
    behavior: misreading(/HEADER_URL: ::::\r\nHEADER_URI_ID: 10\r\n/, 'HEADER_URL: ::::\r\n'),
    fails: ['request/id-first'],
  },
  {
    defect: 'unserved requests are answered 400',
    behavior: misanswering(/501 NOT IMPLEMENTED/g, '400 BAD REQUEST'),
    fails: ['connection/pipelined', 'request/unserved-001', 'request/unserved-006', 'request/unserved-999'],
  },
  {
    defect: 'the server sends a greeting',
    behavior: { greeting: 'SSTP/1.0 200 OK\r\n\r\n' },
    fails: ['connection/silent'],
    only: ['connection/silent'],
  },
  {
    defect: 'a request in pieces is malformed',
    behavior: { changeInput: (bytes) => (bytes.length < 5 ? Buffer.from('x\r\n') : bytes) },
    fails: ['connection/one-at-a-time'],
    only: ['connection/one-at-a-time', 'connection/kept'],
  },
  {
    defect: 'half-closed clients are dropped',
    behavior: {
      dropsHalfClosed: true,
      changeReplies: (text) => (text.match(/SSTP/g)?.length === 2 ? text.slice(0, 20) : text),
    },
    fails: ['connection/half-close'],
    only: ['connection/half-close', 'connection/kept'],
  },
  {
    defect: 'one request per connection',
    behavior: { closesAfterReply: true },
    fails: ['connection/kept'],
    only: ['connection/kept', 'reply/*', 'fixture/*'],
  },
  {
    defect: 'replies come in another order',
    behavior: {
      changeReplies: (text) =>
        text
          .split(/(?<=\r\n\r\n)/)
          .reverse()
          .join(''),
    },
    fails: ['connection/pipelined', 'request/unserved-001', 'request/unserved-006', 'request/unserved-999'],
  },
  {
    defect: 'HTTP is answered in SSTP',
    behavior: { httpReply: 'SSTP/1.0 400 BAD REQUEST\r\n\r\n' },
    fails: ['connection/http'],
  },
  {
    defect: 'half a request of one client blocks all clients',
    behavior: blocked(),
    fails: ['connection/leaves'],
    only: ['connection/leaves', 'connection/half-close'],
  },
];

// A run of the suite mostly waits.
t.jobs = 4;

t.test('a correct References Server passes every case, and no case is skipped', async (t) => {
  const results = await runCases(await simpleRefererd(t, CORRECT_REFERERD), {});
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, ids.length);
});

t.test('R-26, R-27: a server that answers a total of 0 instead of 404 passes too', async (t) => {
  const port = await simpleRefererd(t, {
    ...CORRECT_REFERERD,
    links: (request) => correctLinks(request) ?? [],
  });
  for (const { id, verdict, message } of await runCases(port, {}))
    t.equal(verdict, 'pass', `${id}: ${message ?? ''}`);
});

t.test('C-01: the cases on the fixture are skipped if the server does not serve it', async (t) => {
  const port = await simpleRefererd(t, {
    ...CORRECT_REFERERD,
    links: () => undefined,
    ...misreading(/http:\/\/a\.example:81\//, 'http://other.example/'),
  });
  const results = await runCases(port, { only: ['fixture/*'] });
  for (const { id, verdict } of results) t.equal(verdict, id === 'fixture/f-21' ? 'pass' : 'skip', id);
});

for (const { defect, behavior, fails, only = QUICK } of BROKEN) {
  t.test(`a References Server with one defect fails only the cases about it: ${defect}`, async (t) => {
    const port = await simpleRefererd(t, { ...CORRECT_REFERERD, ...behavior });
    const results = await runCases(port, { timeoutMs: 2500, only });
    const failed = results.filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message }) => `${id}: ${message}`).join('; ');
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.slice(0, 2000));
  });
}

t.test('C-01: wrong links and wrong fields fail the rows of the fixture that show them', async (t) => {
  const shifted = await simpleRefererd(t, {
    ...CORRECT_REFERERD,
    links: (request) => [...(correctLinks(request) ?? []), 77],
    ...misanswering(/HEADER_SERVER_ID: 2/, 'HEADER_SERVER_ID: 9'),
  });
  const results = await runCases(shifted, { only: ['fixture/*'] });
  const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
  t.same(passed.sort(), ['fixture/f-13', 'fixture/f-21', 'fixture/order']);
  const swapped = await simpleRefererd(t, {
    ...CORRECT_REFERERD,
    ...misanswering(/(HEADER_NUMFOUND: \d+\r\n)(HEADER_START_RESULTS: \d+\r\n)/, '$2$1'),
  });
  const order = await runCases(swapped, { only: ['fixture/*'] });
  t.same(
    order.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id),
    ['fixture/order'],
  );
});

t.test('wrong arguments and an absent server reject', async (t) => {
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '1', '2'], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['127.0.0.1:1'], {}), { code: 'ERR_CONNECTION' });
});
