import { z } from 'zod';
import { FETCH_STATUS } from '../crawl-uri.js';
import type { RecordedEvent } from '../events.js';

const count = z.int().min(0);

/** CRAWL-16.6, 11.3: counts of a server, a host or a queue. */
export const trafficSchema = z.strictObject({
  /** CRAWL-8.2: URIs with a positive status, a 404 too. */
  successes: count,
  failures: count,
  disregarded: count,
  /** Responses of any kind, including those of retried attempts. */
  responses: count,
  /** Attempts without a response. */
  nonResponses: count,
  robotsDenials: count,
  successBytes: count,
  totalBytes: count,
  /** CRAWL-18: new documents, those that the server reported as not modified, and those with a known digest. */
  novelUris: count,
  novelBytes: count,
  notModifiedUris: count,
  notModifiedBytes: count,
  duplicateUris: count,
  duplicateBytes: count,
});

export type Traffic = z.output<typeof trafficSchema>;

const NO_TRAFFIC = Object.fromEntries(Object.keys(trafficSchema.shape).map((name) => [name, 0])) as Traffic;

/** Returns counts of 0. */
export function noTraffic(): Traffic {
  return { ...NO_TRAFFIC };
}

/** The fields of an event that are counted. */
export type CountedEvent = Pick<RecordedEvent, 'status' | 'disposition' | 'bytes' | 'annotations'>;

/** CRAWL-8.4, 16.6: counts a URI that was returned to the frontier. */
export function countEvent(
  traffic: Traffic,
  { status, disposition, bytes, annotations }: CountedEvent,
): void {
  // A deferred URI counts neither as a response nor as a missing one: robots.txt was fetched instead.
  if (status > 0) {
    traffic.responses++;
    traffic.totalBytes += bytes;
  } else if (disposition === 'failed' || (disposition === 'retry' && status !== FETCH_STATUS.deferred)) {
    traffic.nonResponses++;
  }
  if (disposition === 'retry') return;
  if (status === FETCH_STATUS.robotsForbidden) traffic.robotsDenials++;
  if (status > 0) {
    traffic.successes++;
    traffic.successBytes += bytes;
    countNovelty(traffic, bytes, annotations);
  } else if (disposition === 'failed') {
    traffic.failures++;
  } else if (disposition === 'rejected') {
    traffic.disregarded++;
  }
}

/** CRAWL-16.2: counts by the annotations of de-duplication. */
function countNovelty(traffic: Traffic, bytes: number, annotations: readonly string[]): void {
  if (annotations.includes('duplicate:server-not-modified')) {
    traffic.notModifiedUris++;
    traffic.notModifiedBytes += bytes;
  } else if (annotations.includes('duplicate:digest')) {
    traffic.duplicateUris++;
    traffic.duplicateBytes += bytes;
  } else {
    traffic.novelUris++;
    traffic.novelBytes += bytes;
  }
}
