import { escapeField, parseDigitTime, time14 } from '../logs/line-fields.js';

/** CRAWL-17.1.1: events with a URI, its hops path and via. */
const WITH_PATH = ['F+', 'Fs', 'Ff'] as const;
/** CRAWL-17.1.1: events with a URI only. */
const URI_ONLY = ['Fe', 'Fd', 'Fr', 'Fi'] as const;

type PathTag = (typeof WITH_PATH)[number];
type UriTag = (typeof URI_ONLY)[number];

/** A URI of the journal, with the data to schedule it again. */
export interface JournalUri {
  readonly url: string;
  /** CRAWL-2.2; empty for a seed. */
  readonly pathFromSeed: string;
  /** The URI on which it was found; empty for a seed. */
  readonly via: string;
}

/** One line of a recovery journal (CRAWL-17.1.1). */
export type JournalEvent =
  /** `F+` queued, `Fs` finished with success, `Ff` failed. */
  | ({ readonly tag: PathTag } & JournalUri)
  /** `Fe` given to a worker, `Fd` disregarded, `Fr` to be retried, `Fi` included without a fetch. */
  | { readonly tag: UriTag; readonly url: string }
  /** A time mark, milliseconds since 1970; whole seconds in the file. */
  | { readonly tag: 'T'; readonly time: number }
  /** A note about an error. */
  | { readonly tag: 'E'; readonly text: string };

/**
 * Formats an event as a line without line end (CRAWL-17.1.1). Fields are separated by single spaces, so a
 * seed's line ends in two of them. Spaces and line ends within a field are percent-escaped; the URI stays the
 * same.
 */
export function formatJournalLine(event: JournalEvent): string {
  switch (event.tag) {
    case 'T':
      return `T ${time14(event.time)}`;
    case 'E':
      return `E ${event.text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ')}`;
    case 'F+':
    case 'Fs':
    case 'Ff':
      return `${event.tag} ${escapeField(event.url)} ${escapeField(event.pathFromSeed)} ${escapeField(event.via)}`;
    default:
      return `${event.tag} ${escapeField(event.url)}`;
  }
}

/**
 * Parses a line of this project or of the original; hops path and via may be missing.
 *
 * @returns undefined for a line that is not an event
 */
export function parseJournalLine(line: string): JournalEvent | undefined {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text.startsWith('T ')) {
    const time = parseDigitTime(text.slice(2).trim());
    return time === undefined ? undefined : { tag: 'T', time };
  }
  if (text.startsWith('E ')) return { tag: 'E', text: text.slice(2) };
  const [tag, url = '', pathFromSeed = '', via = '', ...more] = text.split(' ');
  if (url === '' || more.length > 0) return undefined;
  if (isOneOf(WITH_PATH, tag)) return { tag, url, pathFromSeed, via };
  // Later versions of the original have more fields after the URI.
  if (isOneOf(URI_ONLY, tag)) return { tag, url };
  return undefined;
}

function isOneOf<T extends string>(tags: readonly T[], tag: string | undefined): tag is T {
  return (tags as readonly (string | undefined)[]).includes(tag);
}
