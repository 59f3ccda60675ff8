import { withoutUserInfo } from '../../protocols/urls/index.js';
import { redactLogins } from '../../protocols/visible-text.js';
import type { QueueReport, WaitingReport } from './control.js';
import type { RecordedEvent } from './events.js';

/*
 * G-81: a URL may contain a login, which only its server may see. The crawl needs it in the queues, in the
 * lists of links of documents and in the recovery journal; those files are readable by their owner only.
 * Everything else has URLs without logins: objects and their keys, links between documents, logs, reports and
 * the console.
 */

/**
 * Adds the login of a document's URL to its links to the same server (scheme, host and port), since the
 * document was processed without it. Other links, and links with a login of their own, are not changed.
 *
 * @param url canonical URL that was fetched
 */
export function withLoginOf<L extends { readonly url: string }>(
  url: string,
  links: readonly L[],
): readonly L[] {
  const redacted = withoutUserInfo(url);
  if (redacted === url) return links;
  const server = /^[a-z]+:\/\/[^/?#]*/.exec(redacted)?.[0] ?? redacted;
  const withLogin = url.slice(0, url.length - redacted.length + server.length);
  return links.map((link) => {
    const rest = link.url.startsWith(server) ? link.url.slice(server.length) : undefined;
    return rest === '' || rest?.startsWith('/') || rest?.startsWith('?')
      ? { ...link, url: withLogin + rest }
      : link;
  });
}

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
