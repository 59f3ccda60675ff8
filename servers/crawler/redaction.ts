import { withoutUserInfo } from '../../protocols/urls/index.js';
import { redactLogins } from '../../protocols/visible-text.js';
import type { QueueReport, WaitingReport } from './control.js';
import type { RecordedEvent } from './events.js';

/*
 * G-81: the URLs of a crawl have no logins. Texts of servers and operators may quote one, and queues of earlier
 * versions have them.
 */

/** Removes logins from an event, so that it may be logged, counted and published. */
export function redactEvent<E extends RecordedEvent>(event: E): E {
  const { url, via, sourceTag, reason, warnings, annotations, uriErrors } = event;
  const texts = [url, via, sourceTag, reason, ...warnings, ...annotations];
  for (const error of uriErrors ?? []) texts.push(error.url);
  if (!texts.some((text) => text.includes('@'))) return event;
  return {
    ...event,
    url: withoutUserInfo(url),
    via: withoutUserInfo(via),
    sourceTag: withoutUserInfo(sourceTag),
    reason: redactLogins(reason),
    warnings: warnings.map(redactLogins),
    annotations: annotations.map(redactLogins),
    ...(uriErrors && { uriErrors: uriErrors.map((error) => ({ ...error, url: redactLogins(error.url) })) }),
  };
}

/** Removes the logins from the report of a URI that waits for a retry. */
export function redactWaiting(report: WaitingReport): WaitingReport {
  return { ...report, url: withoutUserInfo(report.url), reason: redactLogins(report.reason) };
}

/** Removes the logins from the report of a queue. */
export function redactQueue(report: QueueReport): QueueReport {
  const { lastPeeked, lastQueued } = report;
  return { ...report, lastPeeked: withoutUserInfo(lastPeeked), lastQueued: withoutUserInfo(lastQueued) };
}
