// Cases about `SET changes`, our extension (GATHERD-6.11).
import { BOOKKEEPING_NAMES } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import type { GatherdCase, GatherdContext } from './context.js';
import type { SectionName, StreamObject } from './stream-check.js';
import { receiveCompressed, receiveUpdate, type Transfer } from './transfer.js';
import { checkSectionOrder, TRANSFER_MS } from './update-cases.js';

/** Attributes that an object in @REFRESH or @DELETE may have in addition to its URL (GATHERD-4.4, 4.9; SOIF-8.4). */
const KNOWN = new Set([...BOOKKEEPING_NAMES, 'Gatherer-Port'].map((name) => name.toLowerCase()));

/** SET changes, an extension: section 6.11. All cases are skipped for a server without it. */
export const changesCases: readonly GatherdCase[] = [
  {
    id: 'changes/everything-complete',
    title: 'since 0 everything comes complete in @UPDATE',
    rules: ['GATHERD-4.4', 'GATHERD-4.9', 'GATHERD-6.11'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wire = await changesSession(context);
      const { digest, bySection } = await receiveUpdate(wire, 0);
      check(digest === transfer.digest, 'not the stream that comes without SET changes', {
        expected: `${transfer.objects} objects in @UPDATE, SHA-256 ${transfer.digest}`,
        received: `${counts(bySection)}, SHA-256 ${digest}`,
      });
    },
  },
  {
    id: 'changes/section-order',
    title: 'the sections come once each, in the order delete, refresh, update',
    rules: ['GATHERD-6.11', 'SOIF-8.1'],
    source: 'manual 1.2',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const since = await oldest(context);
      checkSectionOrder((await receiveUpdate(await changesSession(context), since)).sections);
    },
  },
  {
    id: 'changes/sections',
    title: 'the sections are written as SOIF-8.8 writes them',
    rules: ['GATHERD-6.11', 'SOIF-8.8'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const since = await oldest(context);
      const { misplaced, malformed } = await receiveUpdate(await changesSession(context), since);
      const problem = malformed ?? misplaced;
      check(problem === undefined, 'another layout', {
        expected: '@DELETE {\\n...}\\n@REFRESH {\\n...}\\n@UPDATE {\\n...}\\n',
        received: problem ?? '',
      });
    },
  },
  {
    id: 'changes/refreshed',
    title: 'a refreshed object has its URL and bookkeeping attributes only',
    rules: ['GATHERD-4.4', 'SOIF-8.4'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    run: (context) => checkWithoutContent(context, 'refresh'),
  },
  {
    id: 'changes/deleted',
    title: 'a deleted object has no content',
    rules: ['GATHERD-4.9', 'SOIF-8.4'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    run: (context) => checkWithoutContent(context, 'delete'),
  },
  {
    id: 'changes/nothing-lost',
    title: 'refreshed and updated objects together are those that come without SET changes',
    rules: ['GATHERD-4.4', 'GATHERD-6.11'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { newest } = await context.surveyWith(1);
      // Only a recent time stamp shows objects whose content is older than their Update-Time.
      for (const since of [await oldest(context), newest ?? 1]) {
        const without = await receiveUpdate(await context.session(), since);
        const { bySection } = await receiveUpdate(await changesSession(context), since);
        check(bySection.refresh + bySection.update === without.objects, 'another number of objects', {
          expected: `${without.objects} objects in @REFRESH and @UPDATE`,
          received: counts(bySection),
        });
      }
    },
  },
  {
    id: 'changes/compressed',
    title: 'SET changes and SET compression work together',
    rules: ['GATHERD-6.1', 'GATHERD-6.11'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const since = await oldest(context);
      const clear = await receiveUpdate(await changesSession(context), since);
      const wire = await changesSession(context);
      await context.set(wire, 'compression');
      const compressed = await receiveCompressed(wire, since);
      check(compressed.digest === clear.digest, 'not the stream that comes in clear', {
        expected: `${counts(clear.bySection)}, SHA-256 ${clear.digest}`,
        received: `${counts(compressed.bySection)}, SHA-256 ${compressed.digest}`,
      });
    },
  },
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

/** Checks that the objects of a section have no attribute that a collector would treat as content. */
async function checkWithoutContent(context: GatherdContext, section: SectionName): Promise<void> {
  const { newest } = await context.surveyWith(1);
  // A recently refreshed object has old content; the oldest time stamp would find only later objects.
  let seen = 0;
  let content = '';
  const look = (item: StreamObject) => {
    if (item.section !== section) return;
    seen++;
    for (const { name } of item.object) {
      if (!KNOWN.has(name.toLowerCase())) content ||= `${item.object.url} has ${name}`;
    }
  };
  for (const since of [await oldest(context), newest ?? 1]) {
    await receiveUpdate(await changesSession(context), since, look);
  }
  check(content === '', `content in @${section.toUpperCase()}`, {
    expected: 'bookkeeping attributes only',
    received: printable(content),
  });
  if (seen === 0) throw new NotApplicable(`the database has nothing for @${section.toUpperCase()}`);
}

function counts({ delete: deleted, refresh, update, bare }: Transfer['bySection']): string {
  return `${deleted} objects in @DELETE, ${refresh} in @REFRESH, ${update} in @UPDATE, ${bare} outside`;
}
