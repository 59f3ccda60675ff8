// Tests the conversion of a Gatherer’s URL to its name in the link databases.
import fc from 'fast-check';
import t from 'tap';
import { canonicalUrl, referenceUrl } from '../../../protocols/urls/index.js';
import { assertProperty } from '../../helpers/property.js';

t.test('R-41: referenceUrl returns the name of a Gatherer’s URL in the link databases', (t) => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['http://a.example/', 'http://a.example/'],
    ['http://a.example/%7eanna/?b=%7Ec', 'http://a.example/~anna/?b=~c'],
    ['http://a.example/~anna/', 'http://a.example/~anna/'],
    ['http://a.example/%7E%7f%7', 'http://a.example/~%7f%7'],
    ['https://a.example:80/x', 'https://a.example:80/x'],
    ['ftp://f.example/a%20b', 'ftp://f.example/a%20b'],
    ['gopher://g.example/0/x', 'gopher://g.example/0/x'],
    ['file://h.example/x', 'file://h.example/x'],
    ['file:///etc/motd', undefined],
    ['file://localhost/etc/motd', undefined],
    ['news:comp.infosystems', undefined],
    ['telnet://t.example/', undefined],
    ['http://user:word@a.example/', undefined],
    ['http:///', undefined],
    ['', undefined],
  ];
  for (const [url, name] of names) t.equal(referenceUrl(url), name, url);
  t.end();
});

t.test('R-41: the conversion is idempotent, and unifies both spellings of the tilde', (t) => {
  const path = fc.string({
    unit: fc.constantFrom('/', '~', '%7e', '%7E', '%', 'a', '.', '?', '=', ' ', 'ü', '#'),
    maxLength: 12,
  });
  assertProperty(
    fc.property(path, (path) => {
      const url = `http://a.example/${path}`;
      const name = referenceUrl(canonicalUrl(url) ?? '');
      if (name === undefined) return false;
      return (
        referenceUrl(name) === name &&
        referenceUrl(canonicalUrl(url, undefined, { keepTilde: true }) ?? '') === name
      );
    }),
  );
  t.end();
});
