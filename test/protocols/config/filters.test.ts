// Tests the files of URL filters and host filters.
import t from 'tap';
import { type FilterEvent, filterChannel } from '../../../protocols/config/filter.js';
import { parseFilter, parseHostFilter } from '../../../protocols/config/index.js';

const allows = (filter: string, ...subjects: [string, ...string[]]) =>
  parseFilter(filter, 'f').allows(...subjects);

t.test('G-42, G-46: the first line that matches decides; without one all is allowed', async (t) => {
  t.equal(allows('Allow .*\nDeny x', 'x'), true, 'the second line is not reached');
  t.equal(allows('Deny x', 'y'), true, 'no line matches');
  t.equal(allows('', '/anything'), true, 'an empty filter');
  t.equal(allows('Deny \\.(gif|jpe?g)$', '/a.jpg'), false);
});

t.test('G-44, G-47: the published URL filters decide by path', async (t) => {
  const gatherers = '# G-44\n\nDeny /gatherers/\nAllow .\n';
  t.equal(allows(gatherers, '/gatherers/x'), false);
  t.equal(allows(gatherers, '/x/gatherers/y'), false);
  t.equal(allows(gatherers, '/gatherers'), true);
  t.equal(allows(gatherers, '/x'), true);
  const below = '# stay below\n\nAllow ^/my/cool/sutff/\ndeny .';
  t.equal(allows(below, '/my/cool/sutff/a'), true);
  t.equal(allows(below, '/my/cool/'), false);
  t.equal(allows(below, '/not/my/cool/sutff/'), false);
  const types = 'Allow \\.html\nAllow \\.ps\nDeny .*\n';
  t.equal(allows(types, '/a.html'), true);
  t.equal(allows(types, '/a.ps'), true);
  t.equal(allows(types, '/a.gif'), false);
});

t.test('G-45: a host filter decides by name or address', async (t) => {
  const hosts = 'Deny bcn.boulder.co.us:8080\nDeny bvsd.k12.co.us\nAllow ^128\\.138\\..*\nDeny .';
  t.equal(allows(hosts, 'bcn.boulder.co.us:8080', '128.138.1.1:8080'), false);
  t.equal(allows(hosts, 'bcn.boulder.co.us:80', '128.138.1.1:80'), true);
  t.equal(allows(hosts, 'a.example:80', '128.138.1.2:80'), true);
  t.equal(allows(hosts, 'a.example:80', '128.139.1.2:80'), false);
  t.equal(allows(hosts, 'www.example.com:80', '192.0.2.1:80'), false);
});

t.test('G-48: a filter and its expressions spell unreserved characters without escapes', async (t) => {
  const spellings = ['/~hardy/', '/%7ehardy/', '/%7Ehardy/'];
  for (const written of spellings) {
    for (const path of spellings) {
      t.equal(allows(`Allow ^${written}\nDeny .`, path), true, `Allow ^${written} sees ${path}`);
      t.equal(allows(`Deny ^${written}`, path), false, `Deny ^${written} sees ${path}`);
    }
  }
  t.equal(allows('Deny ^/private/', '/%70rivate/x'), false, 'an escaped letter does not avoid a Deny');
  t.equal(allows('Deny /a-b_c[.]d$', '/%61%2Db%5fc%2ed'), false, 'digits of an escape in either case');
  t.equal(allows('Deny ^/a%2Eb$', '/a.b'), false);
  t.equal(allows('Deny ^/a%2Eb$', '/aXb'), true, 'the escaped dot of an expression is a dot');
  t.equal(allows('Deny ^/%7[eE]x', '/~x'), false, 'both spellings of an escape');
  t.equal(allows('Deny ^/[%]x', '/%2Fx'), true);
  t.equal(allows('Deny ^/a%2Fb', '/a%2Fb'), false, 'other escapes stay');
  t.equal(allows('Deny ^/a/b', '/a%2Fb'), true, 'an escaped slash is not a slash');
  t.equal(allows('Deny ^/a%2fb', '/a%2Fb'), true, 'and keeps its digits');
  t.equal(allows('Deny ^/%257e', '/%257e'), false, 'an escaped per cent sign is not the start of an escape');
  t.equal(allows('Deny ^/~', '/%257e'), true);
  t.equal(allows('Deny ~', '/a?user=%7Eann'), false, 'the query too');
});

t.test('G-48: the event of a filter has the spelling that the filter sees', async (t) => {
  const seen: FilterEvent[] = [];
  const listen = (event: unknown): void => void seen.push(event as FilterEvent);
  filterChannel.subscribe(listen);
  t.teardown(() => filterChannel.unsubscribe(listen));
  allows('Deny ^/%7ehardy/', '/%7ehardy/a%20b');
  t.match(seen, [{ subjects: ['/~hardy/a%20b'], allowed: false, rule: { expression: '^/%7ehardy/' } }]);
});

t.test('G-45: a host filter ignores the case of names', async (t) => {
  const filter = parseHostFilter('Deny ^BCN[.]boulder\nAllow .', 'f');
  t.equal(filter.allows('bcn.boulder.co.us:80'), false);
  t.equal(filter.allows('www.boulder.co.us:80'), true);
  t.equal(allows('Deny ^/A', '/a'), true, 'a URL filter does not');
});

t.test('G-43: a malformed line or expression is a ConfigError with file and line', async (t) => {
  t.throws(() => parseFilter('Allow x\nDeny *abc', 'f'), {
    code: 'ERR_CONFIG',
    message: /^f:2: Deny: .*\.\*/,
  });
  t.throws(() => parseFilter('Allow', 'f'), { code: 'ERR_CONFIG', message: /^f:1: / });
  t.throws(() => parseFilter('Permit x', 'f'), { code: 'ERR_CONFIG' });
});

t.test('E-144: filters take linear time', async (t) => {
  // A backtracking engine would practically never end.
  t.equal(allows('Allow ^(a|a)*(a|aa)*b$\nDeny .', 'a'.repeat(5000)), false);
});
