import { withoutUserInfo } from '../../protocols/urls/index.js';
import { redactLogins } from '../../protocols/visible-text.js';
import type { CrawlControl, QueueReport, RecentError, WaitingReport, WorkerReport } from './control.js';
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

/**
 * Wraps a crawl's control for the console, the terminal and the end reports: removes logins from its reports.
 */
export function redactControl(control: CrawlControl): CrawlControl {
  return {
    snapshot: () => control.snapshot(),
    queues: async (options) => (await control.queues(options)).map(redactQueue),
    hosts: (options) => control.hosts(options),
    retries: async (options) =>
      (await control.retries(options)).map((report) => ({
        ...redactUrl(report),
        reason: redactLogins(report.reason),
      })),
    workers: () => control.workers().map(redactUrl),
    recentErrors: () => control.recentErrors().map(redactUrl),
    chains: () => control.chains(),
    pause: () => control.pause(),
    resume: () => control.resume(),
    stop: () => control.stop(),
    checkpoint: () => control.checkpoint(),
    forceWake: () => control.forceWake(),
    reconsiderRetired: () => control.reconsiderRetired(),
    deleteUris: (pattern, queuePattern) => control.deleteUris(pattern, queuePattern),
    killWorker: (worker) => control.killWorker(worker),
  };
}

function redactUrl<R extends WorkerReport | RecentError | WaitingReport>(report: R): R {
  return { ...report, url: withoutUserInfo(report.url) };
}

function redactQueue(report: QueueReport): QueueReport {
  const { lastPeeked, lastQueued } = report;
  return { ...report, lastPeeked: withoutUserInfo(lastPeeked), lastQueued: withoutUserInfo(lastQueued) };
}
