import { z } from 'zod';
import type { DocumentEvent } from '../events.js';

const count = z.int().min(0);

/** CRAWL-16.6, 11.3: what is counted of a server, of a host, and of a queue. Bytes and URIs. */
export const trafficSchema = z.strictObject({
  /** CRAWL-8.2: URIs with a positive status, a 404 too. */
  successes: count,
  failures: count,
  disregarded: count,
  /** Answers of any kind, those of attempts that are repeated too. */
  responses: count,
  /** Attempts that brought no answer. */
  nonResponses: count,
  robotsDenials: count,
  successBytes: count,
  totalBytes: count,
  /** CRAWL-18: documents that were new, that the server said were not modified, whose digest was known. */
  novelUris: count,
  novelBytes: count,
  notModifiedUris: count,
  notModifiedBytes: count,
  duplicateUris: count,
  duplicateBytes: count,
});

export type Traffic = z.output<typeof trafficSchema>;

export function noTraffic(): Traffic {
  return {
    successes: 0,
    failures: 0,
    disregarded: 0,
    responses: 0,
    nonResponses: 0,
    robotsDenials: 0,
    successBytes: 0,
    totalBytes: 0,
    novelUris: 0,
    novelBytes: 0,
    notModifiedUris: 0,
    notModifiedBytes: 0,
    duplicateUris: 0,
    duplicateBytes: 0,
  };
}

/** CRAWL-8.1: the prerequisite was fetched instead, which is neither an answer nor the lack of one. */
const DEFERRED = -50;
const FORBIDDEN_BY_ROBOTS = -9998;

/** What of an event is counted. */
export type CountedEvent = Pick<DocumentEvent, 'status' | 'disposition' | 'bytes' | 'annotations'>;

/** CRAWL-8.4, 16.6: counts a URI that was handed back. */
export function countEvent(
  traffic: Traffic,
  { status, disposition, bytes, annotations }: CountedEvent,
): void {
  if (status > 0) {
    traffic.responses++;
    traffic.totalBytes += bytes;
  } else if (disposition === 'failed' || (disposition === 'retry' && status !== DEFERRED)) {
    traffic.nonResponses++;
  }
  if (disposition === 'retry') return;
  if (status === FORBIDDEN_BY_ROBOTS) traffic.robotsDenials++;
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

/** CRAWL-16.2: the annotations that de-duplication leaves. */
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
