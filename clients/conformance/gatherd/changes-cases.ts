// Cases about `SET changes`, our extension (GATHERD-6.11).
import { BOOKKEEPING_NAMES } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { check, checkEqual, checkNone, must, NotApplicable, type Procedure, within } from '../case.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import { type GatherdCase, type GatherdContext, surveyed, surveyedWith, TRANSFER_MS } from './context.js';
import type { SectionName, StreamObject } from './stream-check.js';
import { receiveCompressed, receiveUpdate, type Transfer } from './transfer.js';
import { checkSectionOrder } from './update-cases.js';

/**
 * Attributes that an object in @REFRESH or @DELETE may have in addition to its URL (GATHERD-4.4, 4.9;
 * SOIF-8.4).
 */
const KNOWN = new Set([...BOOKKEEPING_NAMES, 'Gatherer-Port'].map((name) => name.toLowerCase()));

/** SET changes, an extension: section 6.11. All cases are skipped for a server without it. */
export const changesCases: readonly GatherdCase[] = [
  must('changes/everything-complete', 'GATHERD-4.4 GATHERD-4.9 GATHERD-6.11', 'project choice')
    .title('since 0 everything comes complete in @UPDATE')
    .does(surveyed, async ({ transfer }, context) => {
      const wire = await changesSession(context);
      const { digest, bySection } = await receiveUpdate(wire, 0);
      check(digest === transfer.digest, 'not the stream that comes without SET changes', {
        expected: `${transfer.objects} objects in @UPDATE, SHA-256 ${transfer.digest}`,
        received: `${counts(bySection)}, SHA-256 ${digest}`,
      });
    }),
  must('changes/section-order', 'GATHERD-6.11 SOIF-8.1', 'manual 1.2')
    .title('the sections come once each, in the order delete, refresh, update')
    .does(sinceOldest, async (since, context) => {
      checkSectionOrder((await receiveUpdate(await changesSession(context), since)).sections);
    }),
  must('changes/sections', 'GATHERD-6.11 SOIF-8.8', 'project choice')
    .title('the sections are written as SOIF-8.8 writes them')
    .does(sinceOldest, async (since, context) => {
      const { misplaced, malformed } = await receiveUpdate(await changesSession(context), since);
      const problem = malformed ?? misplaced;
      checkNone(problem, 'another layout', '@DELETE {\\n...}\\n@REFRESH {\\n...}\\n@UPDATE {\\n...}\\n');
    }),
  must('changes/refreshed', 'GATHERD-6.11 GATHERD-4.4 SOIF-8.4', 'project choice')
    .title('a refreshed object has its URL and bookkeeping attributes only')
    .does(withoutContent, 'refresh'),
  must('changes/deleted', 'GATHERD-4.9 SOIF-8.4', 'project choice')
    .title('a deleted object has no content')
    .does(withoutContent, 'delete'),
  must('changes/nothing-lost', 'GATHERD-4.4 GATHERD-6.11', 'project choice')
    .title('refreshed and updated objects together are those that come without SET changes')
    .does(surveyedWith, 1, async ({ newest }, context) => {
      // Only a recent time stamp shows objects whose content is older than their Update-Time.
      for (const since of [await oldest(context), newest ?? 1]) {
        const without = await receiveUpdate(await context.session(), since);
        const { bySection } = await receiveUpdate(await changesSession(context), since);
        check(bySection.refresh + bySection.update === without.objects, 'another number of objects', {
          expected: `${without.objects} objects in @REFRESH and @UPDATE`,
          received: counts(bySection),
        });
      }
    }),
  must('changes/compressed', 'GATHERD-6.1 GATHERD-6.11', 'project choice')
    .title('SET changes and SET compression work together')
    .does(sinceOldest, async (since, context) => {
      const clear = await receiveUpdate(await changesSession(context), since);
      const wire = await changesSession(context);
      await context.set(wire, 'compression');
      const compressed = await receiveCompressed(wire, since);
      const [received, expected] = [compressed, clear].map(
        ({ bySection, digest }) => `${counts(bySection)}, SHA-256 ${digest}`,
      );
      checkEqual(received, expected, 'not the stream that comes in clear');
    }),
];

async function changesSession(context: GatherdContext): Promise<Wire> {
  const wire = await context.session();
  await context.set(wire, 'changes');
  return wire;
}

/** Returns a time stamp for which deletions and refreshes are sent. */
async function oldest(context: GatherdContext): Promise<UnixSeconds> {
  const { oldest } = await context.surveyWith(1);
  if (oldest === undefined) throw new NotApplicable('no object has an Update-Time');
  return Math.max(1, oldest);
}

/** Requests changes since a time stamp for which deletions and refreshes are sent. */
function sinceOldest(
  run: (since: UnixSeconds, context: GatherdContext) => Promise<void>,
): Procedure<GatherdContext> {
  return within(TRANSFER_MS, async (context) => run(await oldest(context), context));
}

/** Checks that the objects of a section have no attribute that a collector would treat as content. */
function withoutContent(section: SectionName): Procedure<GatherdContext> {
  return surveyedWith(1, async ({ newest }, context) => {
    // A recently refreshed object has old content; the oldest time stamp would find only later objects.
    let seen = 0;
    let content: string | undefined;
    const look = (item: StreamObject) => {
      if (item.section !== section) return;
      seen++;
      for (const { name } of item.object) {
        if (!KNOWN.has(name.toLowerCase())) content ??= `${item.object.url} has ${name}`;
      }
    };
    for (const since of [await oldest(context), newest ?? 1]) {
      await receiveUpdate(await changesSession(context), since, look);
    }
    checkNone(content, `content in @${section.toUpperCase()}`, 'bookkeeping attributes only', printable);
    if (seen === 0) throw new NotApplicable(`the database has nothing for @${section.toUpperCase()}`);
  });
}

function counts({ delete: deleted, refresh, update, bare }: Transfer['bySection']): string {
  return `${deleted} objects in @DELETE, ${refresh} in @REFRESH, ${update} in @UPDATE, ${bare} outside`;
}
