// What the rules of queries say about the objects of the fixture: a plain scan for each vector of fixture-query.json, which
// uses neither the parser nor the matcher of the Broker.
import { FIXTURE } from '../../../protocols/fixture/index.js';

/** An object of the fixture as texts. */
interface Text {
  readonly url: string;
  /** The lines of all attributes and of the URL (BRK-2.18, BRK-2.20). */
  readonly lines: readonly string[];
  /** The lines of the attribute with a name in small letters (BRK-2.16). */
  readonly of: (name: string) => readonly string[];
  /** The values of the attribute, without one LF at the end (BRK-2.17). */
  readonly values: (name: string) => readonly string[];
}

/** BRK-1.10: UTF-8 if the bytes are valid, else windows-1252. */
function decode(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** BRK-2.20: lines end in LF or CR LF; an LF at the end of a value begins no line. */
function linesOf(value: string): string[] {
  return value
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
}

const OBJECTS: readonly Text[] = FIXTURE.map(({ url, attributes }) => {
  const all = [['url', url] as const, ...attributes].map(
    ([name, value]) => [name.toLowerCase(), decode(value)] as const,
  );
  const values = (name: string) => all.filter(([own]) => own === name).map(([, value]) => value);
  return {
    url,
    lines: all.flatMap(([, value]) => linesOf(value)),
    of: (name) => values(name).flatMap(linesOf),
    values: (name) => values(name).map((value) => value.replace(/\n$/, '')),
  };
});

/** The URLs of the objects for which a scan is true, sorted by their bytes. */
export function scan(matches: (object: Text) => boolean): string[] {
  return OBJECTS.filter(matches)
    .map(({ url }) => url)
    .sort();
}

type Scan = (object: Text) => boolean;

const any =
  (pattern: RegExp): Scan =>
  ({ lines }) =>
    lines.some((line) => pattern.test(line));
const tag =
  (name: string, pattern: RegExp): Scan =>
  ({ of }) =>
    of(name).some((line) => pattern.test(line));
const value =
  (name: string, test: (text: string) => boolean): Scan =>
  ({ values }) =>
    values(name).some(test);
const both =
  (...all: readonly Scan[]): Scan =>
  (object) =>
    all.every((one) => one(object));
const either =
  (...all: readonly Scan[]): Scan =>
  (object) =>
    all.some((one) => one(object));
const not =
  (one: Scan): Scan =>
  (object) =>
    !one(object);

/** BRK-2.25, for the letters of the fixture. */
const plain = (text: string): string =>
  text.toLowerCase().replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '');

/** Whether a line is at most `most` insertions, deletions and substitutions away from having the word (BRK-2.23). */
const near =
  (word: string, most: number): Scan =>
  ({ lines }) =>
    lines.some((line) => {
      // Sellers: the row of distances between the word's beginnings and what ends at the current character.
      let row = Array.from(word, (_, index) => index + 1);
      for (const character of line.toLowerCase()) {
        let diagonal = 0;
        let left = 0;
        row = row.map((above, index) => {
          const cost = Math.min(diagonal + (character === word[index] ? 0 : 1), above + 1, left + 1);
          diagonal = above;
          left = cost;
          return cost;
        });
        if ((row.at(-1) ?? 0) <= most) return true;
      }
      return false;
    });

const below = (text: string, other: string) => Buffer.from(text).compare(Buffer.from(other)) < 0;

const amber = any(/fxamber/i);
const basalt = any(/fxbasalt/i);
const cobalt = any(/fxcobalt/i);
const damask = any(/fxdamask/i);

/** For each vector, by its name, what the rules require. */
export const SCANS: Readonly<Record<string, Scan>> = {
  everything: () => true,
  'a word': amber,
  'a word in no object': () => false,
  'a word in another case': any(/fxebony/i),
  'a word of which case counts': any(/FXEBONY/),
  'a capital of which case counts': any(/Fxebony/),
  'the old spelling of insensitive': any(/fxebony/i),
  'a part of words': any(/fxhazel/i),
  'a whole word': any(/(?<![\p{L}\p{M}\p{N}_])fxhazel(?![\p{L}\p{M}\p{N}_])/iu),
  'a whole word that is long': any(/\bwitchfxhazelnut\b/i),
  'an end of a word is no whole word': () => false,
  'a phrase': any(/fxjasper\s+fxlapis/i),
  'a phrase of whole words': any(/\bfxjasper\s+fxlapis\b/i),
  'a phrase in the other order': any(/fxlapis\s+fxjasper/i),
  'two words without an operator': both(any(/fxjasper/i), any(/fxlapis/i)),
  'a phrase across a line end': any(/fxfirst\s+fxsecond/i),
  'a phrase within a line': any(/first\s+line/i),
  'words of different lines': both(any(/fxfirst/i), any(/fxthird/i)),
  'a run of blanks equals a blank': any(/fxblanks\s+of\s+a\s+title/i),
  'a CR within a line is a blank': any(/two\s+three/i),
  'a phrase in any case': any(/near\s+duplicate/i),
  'a phrase of which case counts': any(/near\s+duplicate/),
  'a blank at the end of a phrase counts': any(/duplicate\s/i),
  'a hyphen between two words equals a blank': any(/near[\s-]+duplicate/i),
  'a hyphen between blanks does not': any(/124\s+-\s+5/),
  'a comma must stand in the line': any(/line,\s+after/i),
  'a tag': tag('title', /fxamber/i),
  'a tag in capitals': tag('title', /fxamber/i),
  'another tag': tag('description', /fxamber/i),
  'a tag and a phrase': tag('title', /fxjasper\s+fxlapis/i),
  'a tag that no object has': () => false,
  'a tag that is part of a longer name': tag('title', /embedded/i),
  'a tag with marks': tag('embed<1>-title', /embedded/i),
  'a tag with a dot': tag('fixture_name.1', /below/i),
  'a structured term in one string': tag('title', /fxamber/i),
  'two tags': both(tag('title', /fxamber/i), tag('description', /fxbasalt/i)),
  'words of any attribute': both(amber, basalt),
  'a tag over a group': both(tag('title', /fxamber/i), tag('title', /fxbasalt/i)),
  'a tag over a group with or': either(tag('title', /fxamber/i), tag('title', /fxcobalt/i)),
  'a tag over a group ends with it': either(
    both(tag('title', /fxamber/i), tag('title', /fxbasalt/i)),
    damask,
  ),
  'a tag within a tagged group': both(tag('title', /fxamber/i), tag('description', /fxcobalt/i)),
  'a tag over not': both(amber, not(tag('title', /fxbasalt/i))),
  'not alone': not(any(/fxurl/i)),
  'and not': both(amber, not(cobalt)),
  'not of a group': both(amber, not(both(cobalt, basalt))),
  'not negates the next primary only': either(not(any(/fixture/i)), amber),
  except: both(amber, not(cobalt)),
  'except takes the whole rest': both(amber, not(either(cobalt, damask))),
  'operators group to the right': both(any(/fxebony/i), either(amber, cobalt)),
  'parentheses group otherwise': either(both(any(/fxebony/i), amber), cobalt),
  or: either(cobalt, any(/fxiris/i)),
  'an operator word in quotes is a word': any(/and/i),
  'the URL': any(/words.case/i),
  'the URL as an attribute': tag('url', /^https:/i),
  'marks in a URL': tag('url', /\/p\?a=1/i),
  'bookkeeping is searched': any(/conformance\s+fixture/i),
  'names of attributes are not searched': any(/fixture[\s-]+size/i),
  exact: value('title', (text) => text.toLowerCase() === 'fxhazel'),
  'exact: one LF at the end does not count': value(
    'title',
    (text) => text.toLowerCase() === 'near duplicate',
  ),
  'exact: case as the flags say': value('title', (text) => text === 'near duplicate'),
  'less-than compares numbers': value('fixture-size', (text) => Number(text) < 10),
  'greater-than compares numbers': value('fixture-size', (text) => Number(text) > 10),
  'greater-than a fraction': value('fixture-size', (text) => Number(text) > 9.5),
  'less-than compares other values by bytes': value('title', (text) => below(text, '5x')),
  'greater-than compares other values by bytes': value('title', (text) => below('witch', text)),
  'regexp at the start of a line': tag('title', /^fxlapis/i),
  'regexp at the end of a line': tag('title', /hazel$/i),
  'regexp of a whole line': tag('description', /^fxiris$/i),
  'a dot is any character': any(/fxhazel.ut/i),
  'a dot is also NUL': any(/before.after/is),
  'a number sign is any run': any(/fxh.*nut/i),
  'a class': any(/fx[ab]a/i),
  'a caret at the start': any(/^fxhazel/i),
  'a dollar at the end': any(/fxhazel$/i),
  alternatives: either(amber, any(/fxebony/i)),
  'a backslash takes a character literally': any(/fxmarks 100%25 &amp;/i),
  'a percent sign is literal': any(/100%25/i),
  'a misspelled word without errors': () => false,
  'one error': near('fxmarigald', 1),
  'two exchanged letters are two errors: one is too few': near('fxmargiold', 1),
  'two exchanged letters are two errors': near('fxmargiold', 2),
  'a missing and a surplus letter': near('fxmrigoldd', 2),
  'UTF-8': any(/größe/i),
  'the same query in Latin-1': any(/größe/i),
  'Latin-1 values': any(/été/i),
  'capitals beyond ASCII': any(/été/i),
  'characters of three bytes': any(/東京/),
  'a character of four bytes': any(/🦆/u),
  'without accents': ({ lines }) => lines.some((line) => plain(line).includes('grosse')),
  'a word behind 65 535 bytes': any(/\bw11000\b/i),
  'a phrase in a line of 9 000 bytes': any(/\bw100\s+w101\b/i),
  'a phrase across one of many line ends': any(/w5000\s+w5001/i),
  'lines that look like groups': any(/@DELETE\s+\{/i),
};
