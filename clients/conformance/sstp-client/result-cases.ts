// Cases about empty results, and about results of several replies.
import { check, checkEqual, must, NotApplicable, type Procedure, should } from '../case.js';
import { checkExited } from '../client-context.js';
import { printable } from '../printable.js';
import {
  checkShows,
  requireShown,
  type SstpClientCase,
  type SstpClientContext,
  type SstpRun,
} from './bench.js';
import { IDS, linkLines, linkReply, message, NOT_FOUND, numberIn } from './replies.js';

/** IDs of a reply of the cases about several replies. */
const PAGE = 2;

export const resultCases: readonly SstpClientCase[] = [
  must('empty/total-0', 'S-41 R-26', 'seed')
    .title('takes a total of 0 as an empty result: prints no ID, and reports no error')
    .does(empty, (context) => context.bench.empty(context)),
  must('empty/not-found', 'S-41 R-26 P-19', 'seed')
    .title('takes 404 as the same empty result')
    .does(empty, (context) => context.bench.observe({ reply: NOT_FOUND }, context)),
  must('empty/bare-404', 'S-41 S-42', 'seed; project choice')
    .title('needs no headers in a 404')
    .does(empty, (context) => context.bench.observe({ reply: message('SSTP/1.0 404 X') }, context)),
  must('pages/continues', 'R-31', 'seed; project choice')
    .title('continues at start plus returned while fewer IDs came than were found')
    .does(pages, (run) => {
      checkEqual(startsOf(run).join(' '), '0 2 4', 'the client continues elsewhere');
      checkShows(run);
    }),
  must('pages/same-document', 'R-31', 'seed; project choice')
    .title('names the same document on every page')
    .does(pages, ({ requests }) => {
      const names = requests.map(({ code, headers }) =>
        [code, headers.get('HEADER_URI_ID'), headers.get('HEADER_SERVER_ID'), headers.get('HEADER_URL')].join(
          ' ',
        ),
      );
      checkEqual(new Set(names).size, 1, 'the requests differ in more than the page');
    }),
  should('pages/no-progress', 'R-31', 'project choice')
    .title('ends when the server returns no further ID of those that it has found')
    .run(async (context) => {
      await requirePages(context);
      const run = await context.bench.observe(
        { reply: (request, i) => linkReply(request, IDS, i === 0 ? PAGE : 0) },
        context,
      );
      checkExited(run);
    }),
  should('pages/generation', 'R-76', 'an extension of harvest-kit')
    .title('begins again when the data has changed between two pages')
    .run(async (context) => {
      const { requests } = await requirePages(context);
      if (!requests.some(({ headers }) => headers.has('HEADER_GENERATION')))
        throw new NotApplicable('the client does not ask for HEADER_GENERATION');
      const run = await context.bench.observe(
        {
          reply: (request, i) => {
            const [start = '', found = '', from = '', count = '', ...ids] = linkLines(request, IDS, PAGE);
            return message(start, found, from, count, `HEADER_GENERATION: ${i === 0 ? 7 : 8}`, ...ids);
          },
        },
        context,
      );
      const starts = startsOf(run);
      check(starts.join(' ').startsWith('0 2 0 2 4'), 'the client does not begin again', {
        expected: 'pages from 0, 2, 0, 2, 4',
        received: `pages from ${starts.join(', ')}`,
      });
    }),
];

function startsOf({ requests }: SstpRun): number[] {
  return requests.map((request) => numberIn(request, 'HEADER_START_RESULTS') ?? 0);
}

/** Checks that a run shows an empty result, in the same way as the run with a total of 0. */
function empty(run: (context: SstpClientContext) => Promise<SstpRun>): Procedure<SstpClientContext> {
  return async (context) => {
    await requireShown(context);
    const { ids, status, diagnostics } = await run(context);
    checkEqual(ids.length, 0, 'the client prints IDs of an empty result');
    const known = await context.bench.empty(context);
    check(status === known.status, 'the client tells the two forms of an empty result apart', {
      expected: `exit status ${known.status ?? 'none'}`,
      received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
    });
    const failed = await context.bench.observe({ reply: message('SSTP/1.0 500 INTERNAL ERROR') }, context);
    check(status !== failed.status, 'the client reports an empty result as an error', {
      expected: `another exit status than after 500: ${failed.status ?? 'none'}`,
      received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
    });
  };
}

/** Looks at the run against a server that returns two IDs at most. */
function pages(verify: (run: SstpRun) => void): Procedure<SstpClientContext> {
  return async (context) => verify(await requirePages(context));
}

/** @throws NotApplicable if the client asks for one page only */
async function requirePages(context: SstpClientContext): Promise<SstpRun> {
  await requireShown(context);
  const run = await context.bench.observe({ reply: (request) => linkReply(request, IDS, PAGE) }, context);
  if (run.requests.length < 2) throw new NotApplicable('the client asks for one page only');
  return run;
}
