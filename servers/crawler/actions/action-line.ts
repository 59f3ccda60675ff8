// One line of an action file that lists URIs.
import { type JournalUri, parseJournalLine } from '../journal/index.js';

const HOPS = /^(?:\d+\+)?[A-Z]*$/;

/**
 * Parses a line as the original does, a line of a journal with any tag, or a line with a URI alone and, optional, its hops path and the
 * URI that led to it.
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
