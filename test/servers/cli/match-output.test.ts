// How `harvest query` prints a match.
import t from 'tap';
import { TermFinder } from '../../../clients/broker/query-terms.js';
import { BrokerHit } from '../../../protocols/broker/index.js';
import { matchAsText } from '../../../servers/cli/broker/actions/match-output.js';

t.test('BRK-2.20: the words of a passage are marked as the text spells them', (t) => {
  const style = {
    title: (text: string) => text,
    word: (text: string) => `<${text}>`,
    url: (bytes: Uint8Array) => bytes,
  };
  const matching = { ignoreCase: true, matchWord: true, ignoreAccents: true, contentOnly: true } as const;
  const shown = (passage: string, ...terms: string[]) => {
    const hit = new BrokerHit({ url: 'http://a/', attributes: [], matchedLines: [] });
    const match = { hit, passage, lines: undefined };
    return Buffer.from(matchAsText(match, 1, style, TermFinder.of(terms, matching)))
      .toString()
      .split('\n')[1];
  };
  t.equal(shown('un caf\u00e9, deux CAFES', 'cafe'), '   un <caf\u00e9>, deux CAFES');
  t.equal(shown('a StringBuilder', 'builder'), '   a String<Builder>');
  t.equal(shown('plain words', 'words'), '   plain <words>');
  t.equal(shown('plain words', '\u200b'), '   plain words');
  t.end();
});
