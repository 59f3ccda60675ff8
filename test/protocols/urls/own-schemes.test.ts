// Schemes that a program adds, and the line `Fetcher` that names them.
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { accessMethod, addScheme, canonicalUrl, isEnumerable } from '../../../protocols/urls/index.js';

t.test('G-57, G-59: the URLs of an added scheme are canonical as those of FTP are', (t) => {
  t.equal(canonicalUrl('x-one://A.Test:301/a'), undefined, 'unknown');
  t.notOk(isEnumerable('x-one://a.test/'));
  addScheme('x-one', 301);
  t.equal(canonicalUrl('X-One://A.Test:301/b/../a#part'), 'x-one://a.test/a');
  t.equal(canonicalUrl('../c?q', 'x-one://a.test/a/b'), 'x-one://a.test/c?q');
  t.equal(canonicalUrl('x-one://a.test:302/'), 'x-one://a.test:302/');
  t.equal(accessMethod('x-one://a.test/'), 'x-one');
  t.ok(isEnumerable('x-one://a.test/'));
  addScheme('x-two');
  t.equal(canonicalUrl('x-two://a.test:21/'), 'x-two://a.test:21/', 'no default port');
  for (const name of ['', 'X', '1a', 'a:b', 'ä'])
    t.throws(() => addScheme(name), { code: 'ERR_USAGE' }, name);
  addScheme('http', 8080);
  t.equal(canonicalUrl('http://a.test:80/'), 'http://a.test/', 'built-in schemes stay as they are');
  t.notOk(isEnumerable('telnet://a.test/'), 'G-60');
  t.notOk(isEnumerable('mailto:a@b'));
  t.end();
});

t.test('G-18: the URLs of the lists may have the schemes of Fetcher lines', (t) => {
  const conf = (lines: string) =>
    parseGathererConf(
      `Gatherer-Name: x\n${lines}<RootNodes>\nx-three://A.test:9 Access=x-three\n</RootNodes>\n`,
      'x.cf',
    );
  t.match(
    conf(''),
    { config: { rootNodes: { length: 0 } }, warnings: { length: 1 } },
    'unknown: passed over',
  );
  const { config, warnings } = conf('Fetcher: X-three own.mjs 9\nFetcher: gopher: better.mjs\n');
  t.same(warnings, []);
  t.same(config.fetchers, [
    { scheme: 'x-three', module: 'own.mjs', port: 9 },
    { scheme: 'gopher', module: 'better.mjs', port: 0 },
  ]);
  t.match(config.rootNodes, [{ url: 'x-three://a.test/', access: ['x-three'] }]);
  t.throws(() => conf('Fetcher: x-four own.mjs 65536\n'), {
    message: /Fetcher: the port must be 0 to 65535/,
  });
  t.throws(() => conf('Fetcher: x-four\n'), { message: /x\.cf:2: Fetcher: needs a scheme, a module/ });
  t.end();
});
