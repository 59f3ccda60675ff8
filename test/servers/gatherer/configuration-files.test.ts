// The files that a configuration names: annotations, secrets, the stop list of Essence, filters.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import type { ConfigError } from '../../../protocols/errors.js';
import { decodeSoif, encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { Annotations } from '../../../servers/gatherer/annotate/annotations.js';
import { essenceOptionsOf } from '../../../servers/gatherer/configuration/essence-options.js';
import { ftpProxyOf } from '../../../servers/gatherer/configuration/fetchers.js';
import { FilterFiles } from '../../../servers/gatherer/configuration/filters.js';
import { withSecrets } from '../../../servers/gatherer/configuration/secrets.js';

t.test('G-137, G-139 to G-142: annotations are merged as in the example; the first file wins', async (t) => {
  const top = t.testdir();
  const first = join(top, 'annotations');
  const second = join(top, 'annotations2');
  await writeFile(
    first,
    '@FILE { http://h.example/~x\nmy-manual-attribute:\tthis is a neat attribute\nTitle:\tBy hand\n}\n' +
      '@FILE { http://h.example/only\nTitle:\tNot gathered\n}\nnonsense\n',
  );
  await writeFile(second, '@FILE { http://h.example/%7Ex\ntitle:\tSecond\nAuthor:\tJoe\n}\n');
  const problems: string[] = [];
  const onProblem = (problem: ConfigError): void => void problems.push(problem.message);
  const annotations = await Annotations.load([first, second], { onProblem });
  t.same(problems, [`${first}:8: text between objects (SOIF-11.1)`]);
  t.equal(annotations.size, 2);

  const automatic = SoifObject.of('HTML', 'http://h.example/%7ex', [
    ['keywords', 'boulder\ncolorado'],
    ['TITLE', 'By machine'],
    ['file-size', '1034'],
    ['md5', 'c3d79dc037efd538ce50464089af2fb6'],
  ]);
  t.equal(
    Buffer.from(encodeSoif(annotations.merge(automatic))).toString(),
    '@HTML { http://h.example/%7ex\nmy-manual-attribute{24}:\tthis is a neat attribute\nTitle{7}:\tBy hand\nAuthor{3}:\tJoe\n' +
      'keywords{16}:\tboulder\ncolorado\nfile-size{4}:\t1034\nmd5{32}:\tc3d79dc037efd538ce50464089af2fb6\n}\n',
  );
  const other = decodeSoif(Buffer.from('@FILE { http://h.example/other\nTitle{1}:\tx\n}\n'));
  t.equal(annotations.merge(other), other);
  t.same(
    [...annotations.unmatched((url) => url === 'http://h.example/%7ex')].map(({ url }) => url),
    ['http://h.example/only'],
  );

  const reloaded = await Annotations.load([first, second]);
  t.equal(reloaded.digest, annotations.digest);
  await writeFile(second, '@FILE { http://h.example/~x\nAuthor:\tAnn\n}\n');
  const changed = await Annotations.load([first, second]);
  t.not(changed.digest, reloaded.digest);
  t.equal(changed.digestFor('http://h.example/only'), reloaded.digestFor('http://h.example/only'));
  t.not(changed.digestFor('http://h.example/~x'), reloaded.digestFor('http://h.example/~x'));
  t.equal(changed.digestFor('http://h.example/other'), undefined);
  await t.rejects(Annotations.load([first], { maxBytes: 20 }), { code: 'ERR_STORAGE' });
  await t.rejects(Annotations.load([join(top, 'none')]), {
    code: 'ERR_STORAGE',
    message: /none: the annotations cannot/,
  });
  t.equal((await Annotations.load([])).merge(automatic), automatic);
});

t.test('G-25, G-20: the logins of the secrets file follow those of the configuration', async (t) => {
  const top = t.testdir();
  const text = `Gatherer-Name: x\nTop-Directory: ${top}\nSecrets-File: secrets\nFTP-Auth: a.example joe one\n`;
  const { config } = parseGathererConf(text, 'x.cf');
  await t.rejects(withSecrets(config), {
    code: 'ERR_CONFIG',
    message: /secrets: Secrets-File: there is no such/,
  });
  const file = join(top, 'secrets');
  await writeFile(file, `FTP-Auth: b.example ann \${PW}\nHTTP-Basic-Auth: "My Realm" ann hunter2\n`, {
    mode: 0o600,
  });
  const { config: full, warnings } = await withSecrets(config, { PW: 'two' });
  t.same(warnings, []);
  t.same(full.ftpAuth, [
    { host: 'a.example', user: 'joe', password: 'one' },
    { host: 'b.example', user: 'ann', password: 'two' },
  ]);
  t.same(full.httpBasicAuth, [{ realm: 'My Realm', user: 'ann', password: 'hunter2' }]);
  await chmod(file, 0o644);
  t.match((await withSecrets(config, { PW: 'two' })).warnings, [{ message: /other users than its owner/ }]);
  await writeFile(file, 'FTP-Auth: hunter2\n');
  const error = await withSecrets(config).catch((problem: Error) => problem);
  t.match(error, { message: /secrets:1: FTP-Auth: needs/ });
  t.notMatch(String(error), /hunter2/);
});

t.test('E-116, E-22: Essence-Options sets the options of Essence', async (t) => {
  const top = t.testdir();
  await mkdir(join(top, 'lib2'));
  await writeFile(join(top, 'lib2', 'stop.cf'), 'HTML\n');
  const options = (value: string) =>
    essenceOptionsOf(
      parseGathererConf(`Gatherer-Name: x\nTop-Directory: ${top}\nEssence-Options: ${value}\n`, 'x.cf')
        .config,
    );
  const { libDirectory, stoplist, allowlist, fullText, gathererName } = options(
    '--libdir lib2 --stoplist lib2/stop.cf --allowlist allowlist.cf --full-text --gatherer-name other',
  );
  t.same(
    { libDirectory, stoplist, allowlist, fullText, gathererName },
    {
      libDirectory: join(top, 'lib2'),
      stoplist: join(top, 'lib2', 'stop.cf'),
      allowlist: 'allowlist.cf',
      fullText: true,
      gathererName: 'other',
    },
  );
  t.equal(options('--no-keywords').keywords, false);
  t.equal(options('--verbose').gathererName, 'x');
});

t.test('G-20, G-31, G-44: a default filter, none, or files in Lib-Directory and Top-Directory', async (t) => {
  const top = t.testdir({ lib: { 'in.lib': 'Deny ^/lib/\n' }, 'in.top': 'Deny ^bad:80\n' });
  const lists = [
    'http://h.example/',
    'http://h.example/ URL=250,/dev/null',
    'http://h.example/ URL=1,in.lib Host=2,in.top',
  ].join('\n');
  const text = `Gatherer-Name: x\nTop-Directory: ${top}\nLib-Directory: lib\n<RootNodes>\n${lists}\n</RootNodes>\n`;
  const { config } = parseGathererConf(text, 'x.cf');
  const files = new FilterFiles(config);
  const [defaults, none, custom] = await Promise.all(config.rootNodes.map((node) => files.rulesOf(node)));
  t.equal(defaults?.urlFilter?.allows('/picture.gif'), false);
  t.equal(defaults?.urlFilter?.allows('/page.html'), true);
  t.equal(defaults?.hostFilter, undefined);
  t.equal(none?.urlFilter, undefined);
  t.equal(custom?.urlFilter?.allows('/lib/x'), false);
  t.equal(custom?.hostFilter?.allows('bad:80', '1.2.3.4:80'), false);
  const missing = { ...config.rootNodes[0]!, urlFilter: 'nowhere' };
  const [first, second] = [
    await files.rulesOf(config.rootNodes[2]!),
    await files.rulesOf(config.rootNodes[2]!),
  ];
  t.equal(first.hostFilter, second.hostFilter, 'a file is read once per run');
  t.equal(first.urlFilter, second.urlFilter);
  await t.rejects(files.rulesOf(missing), { code: 'ERR_CONFIG', message: /nowhere:.*line 5/ });
});

t.test('G-152, G-54, E-61: programs are in bin of Top-Directory, then in Lib-Directory and its bin', (t) => {
  const top = t.testdir({ bin: {}, 'own-lib': {}, other: { lib: {}, bin: {} } });
  const directories = (...lines: string[]) =>
    essenceOptionsOf(
      parseGathererConf(['Gatherer-Name: x', `Top-Directory: ${top}`, ...lines, ''].join('\n'), 'x.cf')
        .config,
    ).programs?.directories;
  t.same(directories(), [join(top, 'bin')]);
  t.same(directories('Lib-Directory: own-lib'), [join(top, 'bin'), join(top, 'own-lib')]);
  t.same(directories(`Lib-Directory: ${top}/other/lib`), [
    join(top, 'bin'),
    join(top, 'other', 'lib'),
    join(top, 'other', 'bin'),
  ]);
  t.end();
});

t.test('G-31: URL-filter-default in Lib-Directory takes the place of the shipped one', async (t) => {
  const top = t.testdir({ lib: { 'URL-filter-default': 'Deny \\.txt$\nAllow .\n' } });
  const { config } = parseGathererConf(
    `Gatherer-Name: x\nTop-Directory: ${top}\nLib-Directory: lib\n<RootNodes>\nhttp://h.example/\n</RootNodes>\n`,
    'x.cf',
  );
  const { urlFilter } = await new FilterFiles(config).rulesOf(config.rootNodes[0]!);
  t.equal(urlFilter?.allows('/a.txt'), false);
  t.equal(urlFilter?.allows('/a.gif'), true);
});

t.test('G-84: the proxy for FTP is that of the environment if the configuration has no FTP-Proxy', (t) => {
  const problems: string[] = [];
  const proxy = (environment: Record<string, string>) =>
    ftpProxyOf(environment, ({ message }) => problems.push(message));
  t.equal(proxy({}), undefined);
  t.equal(proxy({ ftp_proxy: 'http://proxy.example:3128/', FTP_PROXY: 'other:1' }), 'proxy.example:3128');
  t.equal(proxy({ FTP_PROXY: 'proxy.example' }), 'proxy.example:80');
  t.same(problems, []);
  t.equal(proxy({ ftp_proxy: 'http://user:hunter2@proxy.example:99999/' }), undefined);
  t.match(problems, [/^\$ftp_proxy is ignored/]);
  t.notMatch(problems[0], /hunter2/);
  const { config } = parseGathererConf('Gatherer-Name: x\nFTP-Proxy: http://a.example:8080/\n', 'x.cf');
  t.equal(config.ftpProxy, 'a.example:8080');
  t.end();
});
