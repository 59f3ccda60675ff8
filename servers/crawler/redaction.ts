import { withoutUserInfo } from '../../protocols/urls/index.js';
import type { CrawlControl, QueueReport, RecentError, WorkerReport } from './control.js';
import type { DocumentEvent } from './events.js';

/*
 * G-81: a login may be part of a URL, and nobody but its server shall see it. It stays where the crawl needs it to go on: in the
 * queues, in the lists of links of documents and in the recovery journal, in files that are their owner's alone. Everything else,
 * objects and what they are stored by, links between documents, logs, reports and the console, has URLs without it.
 */

/** Longer logins than any URL (CRAWL-2.1) are none. */
const LOGIN = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#\s@]{1,2083}@/gi;

/** Text of any kind: `ftp://user:password@host/` in it is shown as `ftp://host/` (G-81). */
export function redactLogins(text: string): string {
  return text.includes('@') ? text.replace(LOGIN, '$1') : text;
}

/**
 * Links of a document whose URL has a login: those to its own server (method, host and port) get it, for the document was read
 * without showing it to anybody. Others, and those that name a login themselves, stay as they are.
 *
 * @param url canonical, as it was fetched
 */
export function withLoginOf<L extends { readonly url: string }>(
  url: string,
  links: readonly L[],
): readonly L[] {
  const shown = withoutUserInfo(url);
  if (shown === url) return links;
  const server = /^[a-z]+:\/\/[^/?#]*/.exec(shown)?.[0] ?? shown;
  const withLogin = url.slice(0, url.length - shown.length + server.length);
  return links.map((link) => {
    const rest = link.url.startsWith(server) ? link.url.slice(server.length) : undefined;
    return rest === '' || rest?.startsWith('/') || rest?.startsWith('?')
      ? { ...link, url: withLogin + rest }
      : link;
  });
}

/** An event as it may be logged, counted and published. */
export function redactEvent(event: DocumentEvent): DocumentEvent {
  const { url, via, sourceTag, reason, warnings, annotations } = event;
  const texts = [url, via, sourceTag, reason, ...warnings, ...annotations];
  if (!texts.some((text) => text.includes('@'))) return event;
  return {
    ...event,
    url: withoutUserInfo(url),
    via: withoutUserInfo(via),
    sourceTag: withoutUserInfo(sourceTag),
    reason: redactLogins(reason),
    warnings: warnings.map(redactLogins),
    annotations: annotations.map(redactLogins),
  };
}

/** A crawl's control as the console, the terminal and the reports see it. */
export function shownControl(control: CrawlControl): CrawlControl {
  return {
    snapshot: () => control.snapshot(),
    queues: async (options) => (await control.queues(options)).map(shownQueue),
    hosts: (options) => control.hosts(options),
    workers: () => control.workers().map(shownUrl),
    recentErrors: () => control.recentErrors().map(shownUrl),
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

function shownUrl<R extends WorkerReport | RecentError>(report: R): R {
  return { ...report, url: withoutUserInfo(report.url) };
}

function shownQueue(report: QueueReport): QueueReport {
  const { lastPeeked, lastQueued } = report;
  return { ...report, lastPeeked: withoutUserInfo(lastPeeked), lastQueued: withoutUserInfo(lastQueued) };
}
