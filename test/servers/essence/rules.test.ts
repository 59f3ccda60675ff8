// Post-summarizing rules: parsing, conditions, and instructions with external programs.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { SoifObject } from '../../../protocols/soif/index.js';
import {
  applyPostRules,
  applyPostRulesToBytes,
  type PostRulesOptions,
} from '../../../servers/essence/rules/apply.js';
import { conditionHolds } from '../../../servers/essence/rules/model.js';
import { parsePostRules } from '../../../servers/essence/rules/parse.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const PLAIN: PostRulesOptions = { programs: { directories: [], path: '/usr/bin:/bin' } };

/** The example file of the manual (E-129), with its tabs. */
const MANUAL = `type == 'HTML'
	partial-text | cleanup-html-text.pl
URL ~ /users/
	time-to-live = "86400"
	partial-text ! extract-owner.sh
type == 'SOIFStream'
	delete()
`;

/** Returns the summary of an HTML page. */
function page(
  url = 'http://a.test/users/ann/',
  extraAttributes: readonly (readonly [string, string])[] = [],
): SoifObject {
  return SoifObject.of('FILE', url, [
    ['Time-to-Live', '2419200'],
    ['Type', 'HTML'],
    ['Partial-Text', 'Some   text\n'],
    ['city', 'New York\n'],
    ['state', 'NJ'],
    ...extraAttributes,
  ]);
}

function attributesOf(object: SoifObject | undefined): Record<string, string> {
  return Object.fromEntries(
    [...(object ?? [])].map(({ name, value }) => [name, Buffer.from(value).toString()]),
  );
}

/** Writes programs to a directory; returns options that find only these and the system's. */
async function optionsWith(t: Test, programs: Readonly<Record<string, string>>): Promise<PostRulesOptions> {
  const directory = await temporaryDirectory(t);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
  }
  return { programs: { directories: [directory], path: '/usr/bin:/bin' }, directory };
}

/** Tells whether a page fulfills a condition. */
function holds(condition: string, object = page()): boolean {
  return conditionHolds(parsePostRules(condition, 'rules').rules[0]!.condition, object);
}

t.test('E-125 the conditions of the manual are evaluated as printed', async (t) => {
  t.equal(holds("city == 'New York'"), true);
  t.equal(holds('city ~ /New York/'), true);
  t.equal(holds("city != 'New York'"), false);
  t.equal(holds('city !~ /New York/'), false);
  t.equal(holds("city == 'New York' && state != 'NY';"), true);
  t.equal(holds("city == 'New York' && state != 'NJ';"), false);
});

t.test('E-124, E-126, E-127 conditions: precedence, spelling, default attributes, delimiters', async (t) => {
  t.equal(holds("state == 'NJ' || state == 'NY' && city == 'no'"), true, '&& binds tighter');
  t.equal(holds("(state == 'NJ' || state == 'NY') && city == 'no'"), false);
  t.equal(holds("CITY=='New York'&&TYPE=='HTML'"), true);
  t.equal(holds("url == 'http://a.test/users/ann/'"), true);
  t.equal(holds('URL ~ /^http:\\/\\/a\\.test\\//'), true);
  t.equal(holds("URL ~ 'http://a'"), true, 'E-123 quotes around an expression');
  t.same(
    ["none == ''", 'none ~ /./', "none != 'x'", 'none !~ /x/'].map((text) => holds(text)),
    [false, false, true, true],
  );
  t.equal(holds("q == 'it\\'s'", page(undefined, [['q', "it's"]])), true);
  t.equal(holds("embed<1>-title == 'x'", page(undefined, [['Embed<1>-Title', 'x\n']])), true);
  t.equal(holds('city ~ /(a+)+b/', page(undefined, [['city', 'a'.repeat(50_000)]])), false, 'linear time');
});

t.test('E-126 conditions on the URL see unreserved characters without escapes', async (t) => {
  const object = page('http://a.test/%7eann/a-b.html');
  for (const path of ['/~ann/', '/%7eann/', '/%7Eann/', '/%61nn|/~a']) {
    t.equal(holds(`URL ~ '^http://a.test${path}'`, object), true, `~ ${path}`);
    t.equal(holds(`url !~ '^http://a.test${path}'`, object), false, `!~ ${path}`);
  }
  t.equal(holds("url == 'http://a.test/~ann/a%2Db.html'", object), true);
  t.equal(holds("url != 'http://a.test/~ann/a-b.html'", object), false);
  t.equal(holds("note == '~'", page(undefined, [['note', '%7e']])), false, 'other attributes are texts');
  t.equal(holds('note ~ /~/', page(undefined, [['note', '%7e']])), false);
});

t.test('E-122 to E-135 errors name file, line and column', async (t) => {
  const cases: [text: string, position: string][] = [
    ["type == 'a'\n        delete()", '2: column 1'],
    [' type == "a"', '1: column 1'],
    ['\tdelete()', '1: column 1'],
    ['delete()', '1: column 7'],
    ['city = "x"', '1: column 6'],
    ['city == "x"', '1: column 9'],
    ["city == 'x", '1: column 9'],
    ['city ~ New', '1: column 8'],
    ['city ~ /a**(/', '1: column 8'],
    ["city == 'x' and", '1: column 13'],
    ["(city == 'x'", '1: column 13'],
    ["a == 'x'\n\tdelete(1)", '2: column 9'],
    ["a == 'x'\n\ttitle = 'x'", '2: column 10'],
    ['a == \'x\'\n\ttitle = "x" y', '2: column 14'],
    ["a == 'x'\n\ta,b | tr", '2: column 6'],
    ['a == \'x\'\n\turl = "http://x/"', '2: column 1'],
    ["a == 'x'\n\turl ! x", '2: column 1'],
    ["a == 'x'\n\ttitle |", '2: column 9'],
    ["a == 'x'\n\ttitle", '2: column 7'],
  ];
  for (const [text, position] of cases) {
    t.throws(() => parsePostRules(text, 'myrules'), ConfigError, JSON.stringify(text));
    t.throws(
      () => parsePostRules(text, 'myrules'),
      { message: new RegExp(`^myrules:${position}\\b`) },
      position,
    );
  }
});

t.test('E-129 the file of the manual is parsed', async (t) => {
  const { rules } = parsePostRules(MANUAL, 'myrules');
  t.same(
    rules.map(({ line, instructions }) => [line, ...instructions]),
    [
      [1, { kind: 'filter', line: 2, attribute: 'partial-text', command: ['cleanup-html-text.pl'] }],
      [
        3,
        { kind: 'set', line: 4, attribute: 'time-to-live', value: '86400' },
        { kind: 'exchange', line: 5, attributes: ['partial-text'], command: ['extract-owner.sh'] },
      ],
      [6, { kind: 'delete', line: 7 }],
    ],
  );
});

t.test('vector 10, E-131 to E-133, E-136: the rules of the manual are applied', async (t) => {
  const options = await optionsWith(t, {
    'cleanup-html-text.pl': '#!/bin/sh\ntr -s " "',
    'extract-owner.sh': '#!/bin/sh\ncat >/dev/null; printf "Owner{3}:\\tann\\nPartial-Text{4}:\\tkept\\n"',
  });
  const rules = parsePostRules(MANUAL, 'myrules');
  const { object, warnings } = await applyPostRules(page(), rules, options);
  t.same(warnings, []);
  t.same(attributesOf(object), {
    'Time-to-Live': '86400',
    Type: 'HTML',
    'Partial-Text': 'kept',
    city: 'New York\n',
    state: 'NJ',
    Owner: 'ann',
  });
  const elsewhere = await applyPostRules(page('http://a.test/other'), rules, options);
  t.equal(attributesOf(elsewhere.object)['Partial-Text'], 'Some text\n');
  t.equal(attributesOf(elsewhere.object)['Time-to-Live'], '2419200');
  const exploded = await applyPostRules(page('http://a.test/x'), rules, { ...options, type: 'SOIFStream' });
  t.equal(exploded.object, undefined, 'E-47 rules can delete an object from an Exploder');
});

t.test('E-128 the four instructions of the manual: pipes read the value, final newlines stay', async (t) => {
  const rules = parsePostRules(
    "state ~ /./\n\tcity | tr a-z A-Z\n\tstate | sed 's/J/Y/'\n\tnone | tr a b",
    'r',
  );
  const { object, warnings } = await applyPostRules(page(), rules, PLAIN);
  t.same(warnings, []);
  t.equal(attributesOf(object).city, 'NEW YORK\n');
  t.equal(attributesOf(object).state, 'NY');
  t.notOk(object?.has('none'));
});

t.test('E-132 several attributes are passed as one object; those not returned are removed', async (t) => {
  const options = await optionsWith(t, {
    'cleanup-address.pl':
      '#!/bin/sh\ncat >&2; echo "@FILE { http://ignored/"; printf "CITY{2}:\\tNY\\nzip{5}:\\t10001\\n}\\n"',
    echo: '#!/bin/sh\ncat',
  });
  const rules = parsePostRules("type == 'HTML'\n\taddress,city,state,zip ! cleanup-address.pl", 'r');
  const { object } = await applyPostRules(page(), rules, options);
  t.equal(object?.url, 'http://a.test/users/ann/');
  t.same(attributesOf(object), {
    'Time-to-Live': '2419200',
    Type: 'HTML',
    'Partial-Text': 'Some   text\n',
    city: 'NY',
    zip: '10001',
  });
  const same = await applyPostRules(
    page(),
    parsePostRules("type == 'HTML'\n\tcity,state ! echo", 'r'),
    options,
  );
  t.same(attributesOf(same.object), attributesOf(page()), 'returned input changes nothing');
});

t.test('E-132, E-133 wrong sizes in the output of a program are read and logged', async (t) => {
  const options = await optionsWith(t, {
    object: '#!/bin/sh\nprintf "@FILE { http://ignored/\\nCity{3}:\\tBoulder\\nState{2}:\\tCO\\n}\\n"',
    list: '#!/bin/sh\nprintf "City{3}:\\tBoulder\\nState{2}:\\tCO\\n"',
    open: '#!/bin/sh\nprintf "@FILE { http://ignored/\\nState{2}:\\tCO\\n"',
    second: '#!/bin/sh\nprintf "@FILE { http://a/\\nState{2}:\\tCO\\n}\\n@FILE { http://b/\\n}\\n"',
    right: '#!/bin/sh\nprintf "State{2}:\\tCO\\n"',
  });
  const apply = async (program: string) => {
    const { object, warnings } = await applyPostRules(
      page(),
      parsePostRules(`type == 'HTML'\n\tcity,state ! ${program}`, 'r'),
      options,
    );
    return { city: object?.text('city'), state: object?.text('state'), warnings };
  };
  const sizeAt = (offset: number): string =>
    `the value of 3 bytes does not end at a line's end (SOIF-4.4, offset ${offset})`;
  const name = '"lder\\nState" is not an attribute name (E-69)';
  t.same(await apply('object'), {
    city: 'Bou',
    state: undefined,
    warnings: [`r:2: object: its output: ${sizeAt(36)}`, `r:2: object: ${name}`],
  });
  t.same(await apply('list'), {
    city: 'Bou',
    state: undefined,
    warnings: [`r:2: list: its output: ${sizeAt(12)}`, `r:2: list: ${name}`],
  });
  t.same(await apply('open'), {
    city: undefined,
    state: 'CO',
    warnings: ['r:2: open: its output: the input ends before the closing brace (SOIF-4.4, offset 37)'],
  });
  t.match((await apply('second')).warnings, [/^r:2: second wrote no SOIF: .*second object/]);
  t.same((await apply('right')).warnings, []);
});

t.test('E-130, E-134 the URL is rewritten by a pipe', async (t) => {
  const options = await optionsWith(t, {
    'fix-url.pl': "#!/bin/sh\nsed 's,file://localhost/web/htdocs/,http://www.my.domain/,'",
    'bad-url': '#!/bin/sh\necho "not a url"',
  });
  const rules = parsePostRules("url ~ 'file://localhost/web/htdocs/'\n\turl | fix-url.pl", 'r');
  const before = page('file://localhost/web/htdocs/a.html');
  const { object } = await applyPostRules(before, rules, options);
  t.equal(object?.url, 'http://www.my.domain/a.html');
  t.same(attributesOf(object), attributesOf(before));
  const unchanged = await applyPostRules(before, parsePostRules('url ~ /./\n\turl | bad-url', 'r'), options);
  t.equal(unchanged.object?.url, before.url);
  t.match(unchanged.warnings, [/^r:2: bad-url wrote no URL/]);
});

t.test('E-133 a filter that fails, hangs or writes nonsense changes nothing and is logged', async (t) => {
  const options = await optionsWith(t, {
    fails: '#!/bin/sh\necho wrong; echo "no license" >&2; exit 1',
    nonsense: '#!/bin/sh\necho "hello there"',
    hangs: '#!/bin/sh\nsleep 300',
  });
  const rules = parsePostRules("type == 'HTML'\n\tcity | fails\n\tcity ! nonsense\n\tcity | not-there", 'r');
  const { object, warnings } = await applyPostRules(page(), rules, options);
  t.same(attributesOf(object), attributesOf(page()));
  t.match(warnings, [
    /^r:2: fails failed: exit status 1: no license/,
    /^r:3: nonsense wrote no SOIF/,
    /^r:4: not-there failed: there is no such program/,
  ]);
  const limited = { ...options, programs: { ...options.programs, limits: { timeMs: 20 } } };
  const hanging = await applyPostRules(
    page(),
    parsePostRules("type == 'HTML'\n\tcity | hangs", 'r'),
    limited,
  );
  t.same(attributesOf(hanging.object), attributesOf(page()));
  t.match(hanging.warnings, [/^r:2: hangs failed: it took more than \d+ ms .* and was killed/]);
});

t.test('E-135 no shell runs: shell syntax is passed as arguments', async (t) => {
  const options = await optionsWith(t, { args: '#!/bin/sh\nprintf "[%s]" "$@"' });
  const rules = parsePostRules(
    "type == 'HTML'\n\tcity | args a | b; $(c) \"d e\" 'f\"g' h\\ i > j\n\tstate | ./args x",
    'r',
  );
  const { object } = await applyPostRules(page(), rules, options);
  t.equal(attributesOf(object).city, '[a][|][b;][$(c)][d e][f"g][h i][>][j]');
  t.equal(attributesOf(object).state, '[x]', 'a program name with a slash is relative to the directory');
});

t.test('E-131 each rule applies to the result of the last; unchanged objects keep their bytes', async (t) => {
  const rules = parsePostRules(
    '# comment\n\nstate == \'NJ\'\n\tstate = "NY"\nstate == \'NY\'\n\tnote = "say \\"hi\\""\n',
    'r',
  );
  const soif = Buffer.from('@FILE { http://a.test/\nstate{2}:\tNJ\n}\n');
  const changed = await applyPostRulesToBytes(soif, rules, PLAIN);
  t.equal(
    Buffer.from(changed.soif!).toString(),
    '@FILE { http://a.test/\nstate{2}:\tNY\nnote{8}:\tsay "hi"\n}\n',
  );
  const other = Buffer.from('@FILE { http://a.test/\nstate{2}:\tXX\n}\n');
  t.equal((await applyPostRulesToBytes(other, rules, PLAIN)).soif, other, 'unchanged bytes');
  const deleted = await applyPostRulesToBytes(soif, parsePostRules('url ~ /./\n\tdelete()', 'r'), PLAIN);
  t.same([deleted.soif, deleted.url], [undefined, 'http://a.test/']);
});
