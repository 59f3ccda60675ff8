// Tests the files of URL filters and host filters.
import t from 'tap';
import { parseFilter } from '../../../protocols/config/index.js';

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
