// CRAWL-11.3: the quotas of servers, hosts and queues.
import { z } from 'zod';
import { withNote } from './setting-notes.js';

/** -1: no limit. */
const limit = z.int().min(-1);

const QUOTA_UNITS = { Successes: 'URIs', SuccessKB: 'KB', Responses: 'URIs', AllKB: 'KB' } as const;

/** Returns the schema of a quota (CRAWL-11.3). */
function quota(unit: string, subject: string): z.ZodDefault<typeof limit> {
  return withNote(limit.default(-1), 'CRAWL-11.3', `Maximum ${subject}; -1: no limit`, unit);
}

const { Successes, SuccessKB, Responses, AllKB } = QUOTA_UNITS;

/** CRAWL-11.3. */
export const quotasSchema = z.strictObject({
  serverMaxSuccesses: quota(Successes, 'number of successful responses of one server'),
  serverMaxSuccessKB: quota(SuccessKB, 'size of the successful responses of one server'),
  serverMaxResponses: quota(Responses, 'number of responses of one server'),
  serverMaxAllKB: quota(AllKB, 'size of all responses of one server'),
  hostMaxSuccesses: quota(Successes, 'number of successful responses of one host'),
  hostMaxSuccessKB: quota(SuccessKB, 'size of the successful responses of one host'),
  hostMaxResponses: quota(Responses, 'number of responses of one host'),
  hostMaxAllKB: quota(AllKB, 'size of all responses of one host'),
  groupMaxSuccesses: quota(Successes, 'number of successful responses of one queue'),
  groupMaxSuccessKB: quota(SuccessKB, 'size of the successful responses of one queue'),
  groupMaxResponses: quota(Responses, 'number of responses of one queue'),
  groupMaxAllKB: quota(AllKB, 'size of all responses of one queue'),
});
