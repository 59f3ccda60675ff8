import t from 'tap';
import { suggestCommands } from '../../../../servers/cli/commands.js';

t.test(
  'a wrong name: synonyms, exchanged and missing letters, original programs; nothing for a word that is like no name',
  async (t) => {
    const CASES: readonly (readonly [string, readonly string[]])[] = [
      ['search', ['query']],
      ['serach', ['query']],
      ['Serve', ['run']],
      ['gahter', ['gather']],
      ['quer', ['query']],
      ['gathered', ['gatherer', 'gatherd']],
      ['RunHarvst', ['RunHarvest']],
      ['zzzzzz', []],
      ['x'.repeat(10_000), []],
    ];
    for (const [word, expected] of CASES) t.same(suggestCommands(word), expected, word.slice(0, 20));
  },
);
