// The clock of the system is for dates. What waits, and how long something took, is measured by a clock that cannot
// be set: otherwise a jump ends every wait at once, or prolongs it by as much.
import t from 'tap';
import { sourcesOf, textOf } from './sources.js';

/** Files that compare the clock with a stored date, each with its reason. */
const COMPARE: Readonly<Record<string, string>> = {
  'storage/blobs/directory-blobs.ts': 'the times of files, by the same clock',
  'clients/fetch/cache/disk-cache.ts': 'the times of files, by the same clock',
  'servers/gatherer/processors/extract.ts': 'the date after which a page says that it is not available',
};

/** Files that read the clock and wait, each with what the time is for. */
const WAIT: Readonly<Record<string, string>> = {
  'clients/gatherd/collect.ts': 'the date up to which an Update-Time counts',
  'clients/fetch/http-fetcher.ts': 'the date of a request',
  'clients/fetch/own-fetcher.ts': 'the date of a request',
  'servers/cli/gatherer/actions/gatherer.ts': 'the date of an export',
  'servers/crawler/actions/action-directory.ts': 'the name of a file that is done',
  'servers/crawler/controller.ts': 'the date of an event',
  'servers/crawler/disposition.ts': 'the difference between both clocks',
  'servers/crawler/logs/stored-events.ts': 'the date of an event',
  'servers/gatherd/session.ts': 'the date of a description',
};

const CLOCK = /\bDate\.now\b/;
/** A comparison, a sum or a difference, but not the unit of a result or an arrow. */
const ARITHMETIC = /\bDate\.now\(\) *[-+<>]|[^=][-+<>]=? *Date\.now\(\)/;
const WAITS = /\b(?:setTimeout|setTimer|sleep|pause|pauseFor)\(/;

t.test('waits and durations do not depend on the clock of the system', async (t) => {
  for (const path of ['protocols', 'storage', 'clients', 'servers'].flatMap(sourcesOf)) {
    const text = textOf(path);
    if (!CLOCK.test(text)) continue;
    const isExcused = path in COMPARE || path === 'servers/crawler/disposition.ts';
    if (!isExcused) t.notMatch(text, ARITHMETIC, `${path}: a date is compared with the clock; see COMPARE`);
    if (!(path in WAIT)) t.notMatch(text, WAITS, `${path}: reads the clock and waits; see WAIT`);
  }
});
