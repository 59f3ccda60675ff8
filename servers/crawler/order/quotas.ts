// CRAWL-11.3: the quotas of servers, hosts and queues.
import { z } from 'zod';
import type { QueueTraffic } from '../frontier/contract.js';
import { withNote } from './setting-notes.js';

/** What has quotas; an order of the 1.x line calls a queue a group. */
const SUBJECTS = { server: 'server', host: 'host', group: 'queue' } as const;

/** What a quota limits: its unit, its name in an order of the 1.x line, and the count that it limits. */
const KINDS = {
  MaxSuccesses: {
    text: 'number of successful responses',
    unit: 'URIs',
    original: 'max-fetch-successes',
    countOf: (traffic: QueueTraffic) => traffic.successes,
  },
  MaxSuccessKB: {
    text: 'size of the successful responses',
    unit: 'KB',
    original: 'max-success-kb',
    countOf: (traffic: QueueTraffic) => traffic.successBytes / 1024,
  },
  MaxResponses: {
    text: 'number of responses',
    unit: 'URIs',
    original: 'max-fetch-responses',
    countOf: (traffic: QueueTraffic) => traffic.responses,
  },
  MaxAllKB: {
    text: 'size of all responses',
    unit: 'KB',
    original: 'max-all-kb',
    countOf: (traffic: QueueTraffic) => traffic.totalBytes / 1024,
  },
} as const;

type Subject = keyof typeof SUBJECTS;
type QuotaName = `${Subject}${keyof typeof KINDS}`;

/** The quotas in the order in which they are checked. */
export const QUOTAS = (Object.keys(SUBJECTS) as Subject[]).flatMap((subject) =>
  Object.entries(KINDS).map(([kind, row]) => ({ ...row, subject, name: `${subject}${kind}` as QuotaName })),
);

/** -1: no limit. */
const limit = z.int().min(-1);

/** CRAWL-11.3. */
export const quotasSchema = z.strictObject(
  Object.fromEntries(
    QUOTAS.map(({ name, subject, text, unit, original }) => [
      name,
      withNote(limit.default(-1), 'CRAWL-11.3', `Maximum ${text} of one ${SUBJECTS[subject]}; -1: no limit`, {
        unit,
        original: `${subject}-${original}`,
      }),
    ]),
  ) as Record<QuotaName, z.ZodDefault<typeof limit>>,
);
