// The list of hosts that may connect: shell patterns over addresses and names. Rules.
import fc from 'fast-check';
import t from 'tap';
import { AllowedHosts, HostnamePattern } from '../../../servers/refererd/index.js';
import { assertProperty } from '../../helpers/property.js';

t.test('R-36, C-05: a shell pattern matches the whole address or name', async (t) => {
  const rows: readonly (readonly [pattern: string, matching: readonly string[], other: readonly string[]])[] =
    [
      ['127.0.0.*', ['127.0.0.1', '127.0.0.255'], ['127.0.1.1', '1127.0.0.1']],
      ['*.turtle.ru', ['a.b.turtle.ru', '.turtle.ru'], ['turtle.ru', 'a.turtle.ru.example']],
      ['10.0.0.?', ['10.0.0.1'], ['10.0.0.', '10.0.0.12']],
      ['10.0.0.[1-35]', ['10.0.0.1', '10.0.0.3', '10.0.0.5'], ['10.0.0.4', '10.0.0.-']],
      ['10.0.0.[!1-3]', ['10.0.0.4'], ['10.0.0.2', '10.0.0.']],
      ['a[]b]c', ['a]c', 'abc'], ['ac', 'adc']],
      ['a[-b]', ['a-', 'ab'], ['aa']],
      ['a[b', ['a[b'], ['ab']],
      ['a\\*', ['a\\x'], ['a*']],
      ['*a*b*', ['ab', 'xaxbx'], ['ba']],
      ['Host', ['host'], ['hosts']],
    ];
  for (const [pattern, matching, other] of rows) {
    for (const text of matching)
      t.ok(new HostnamePattern(pattern).matches(text), `${pattern} matches ${text}`);
    for (const text of other)
      t.notOk(new HostnamePattern(pattern).matches(text), `${pattern} does not match ${text}`);
  }
});

t.test('R-36: the matcher agrees with the definition of * and ? for any pattern', async (t) => {
  const matchesByDefinition = (pattern: string, text: string): boolean => {
    if (pattern === '') return text === '';
    if (pattern.startsWith('*')) {
      return (
        matchesByDefinition(pattern.slice(1), text) ||
        (text !== '' && matchesByDefinition(pattern, text.slice(1)))
      );
    }
    const same = text !== '' && (pattern.startsWith('?') || pattern[0] === text[0]);
    return same && matchesByDefinition(pattern.slice(1), text.slice(1));
  };
  const stringsOf = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
  t.doesNotThrow(
    () =>
      assertProperty(
        fc.property(stringsOf('ab.*?'), stringsOf('ab.'), (pattern, text) => {
          return new HostnamePattern(pattern).matches(text) === matchesByDefinition(pattern, text);
        }),
        { numRuns: 2000 },
      ),
    '2000 pairs agree',
  );
});

t.test('R-35, R-36: a list has patterns and comments; only patterns with a letter need names', async (t) => {
  const lookups: string[] = [];
  const lookup = {
    reverse: async (address: string) => {
      lookups.push(address);
      return address === '192.0.2.1' ? ['Good.Turtle.RU.'] : ['liar.turtle.ru'];
    },
    forward: async (name: string) => (/^good/i.test(name) ? ['192.0.2.1'] : ['198.51.100.9']),
  };
  const numbers = new AllowedHosts('# a list\n\n 127.0.0.* # here\r\n10.0.0.1.\n', { lookup });
  t.equal(numbers.decide('127.0.0.9'), true);
  t.equal(numbers.decide('::ffff:10.0.0.1'), true, 'an IPv4 peer in IPv6 notation');
  t.equal(numbers.decide('192.0.2.1'), false, 'an address is refused without a lookup');
  const names = new AllowedHosts('127.0.0.1\n*.turtle.ru\n', { lookup });
  t.equal(names.decide('127.0.0.1'), true, 'an address is admitted without a lookup');
  t.same(lookups, []);
  t.equal(await names.decide('192.0.2.1'), true);
  t.equal(await names.decide('192.0.2.2'), false, 'a name that does not resolve back is ignored');
  t.equal(names.decide('192.0.2.1'), true, 'the result of a lookup is cached');
  t.same(lookups, ['192.0.2.1', '192.0.2.2']);
  t.equal(new AllowedHosts(undefined).decide('127.0.0.1'), false, 'without a list every host is refused');
  const silent = { reverse: () => new Promise<string[]>(() => {}), forward: async () => [] };
  t.equal(await new AllowedHosts('*.ru', { lookup: silent, nameTimeoutMs: 1 }).decide('192.0.2.1'), false);
});
