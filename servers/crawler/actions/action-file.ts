// The name of an action file, and a line of one that lists URIs (CRAWL-17.1.4).
import { type JournalUri, parseJournalLine } from '../journal/journal-line.js';

const HOPS = /^(?:\d+\+)?[A-Z]*$/;

/**
 * Parses a line as the original does, a line of a journal with any tag, or a line with a URI alone and,
 * optional, its hops path and the URI that led to it.
 *
 * @returns undefined for a line that is neither; `''` for one without a URI: a comment, a time mark, a note
 */
export function parseActionLine(line: string): JournalUri | '' | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return '';
  const event = parseJournalLine(text);
  if (event !== undefined) {
    if (!('url' in event)) return '';
    const { url } = event;
    return 'via' in event ? { url, pathFromSeed: event.pathFromSeed, via: event.via } : plain(url);
  }
  const [url = '', pathFromSeed = '', via = '', ...more] = text.split(/\s+/);
  if (more.length > 0 || !URL.canParse(url) || !HOPS.test(pathFromSeed)) return undefined;
  return { url, pathFromSeed, via };
}

function plain(url: string): JournalUri {
  return { url, pathFromSeed: '', via: '' };
}

/** What an action file does, by the ending of its name. */
const ACTIONS = ['seeds', 'recover', 'include', 'schedule', 'force'] as const;
type Action = (typeof ACTIONS)[number];

export interface ActionFile {
  readonly action: Action;
  /** Whether the URIs must be in scope: `.s` stands before the ending. Seeds always must. */
  readonly checkScope: boolean;
}

const NAME = new RegExp(`^(?!\\.).*?(\\.s)?\\.(${ACTIONS.join('|')})(?:\\.gz)?$`);

/**
 * Returns what a file asks for; undefined if its name does not say so, e.g. while it is written as `x.tmp` or
 * `.x`.
 */
export function parseActionName(name: string): ActionFile | undefined {
  const match = NAME.exec(name);
  const action = ACTIONS.find((known) => known === match?.[2]);
  return action === undefined ? undefined : { action, checkScope: match?.[1] !== undefined };
}

/**
 * CRAWL-17.1.4: the name in the directory of done files: the time as 17 digits, UTC to the millisecond, before
 * the name.
 */
export function doneName(name: string, time: number): string {
  return `${new Date(time).toISOString().replace(/\D/g, '')}.${name}`;
}
