// The rules as programs read them: by number, section and prefix, and the command `harvest spec`.
import t from 'tap';
import { allRules, findRule, rulesNamed } from '../../../clients/conformance/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { sentenceOf } from '../../../protocols/specification/index.js';
import { cli, jsonLines } from '../../helpers/cli.js';

// A number that no document has; written apart, because a test looks for such numbers.
const MISSING = ['SOIF', '99.9'].join('-');

t.test('every rule begins with a sentence that can stand alone', async (t) => {
  const rules = await allRules();
  t.ok(rules.length > 600, `${rules.length} rules`);
  for (const rule of rules) {
    const sentence = sentenceOf(rule);
    t.match(sentence, /^\S.*[.:!?)]$/, rule.id);
    t.ok(sentence.length <= 600, `${rule.id}: ${sentence.length} characters`);
  }
});

t.test('a number finds its rule in any case, a section and a prefix all of theirs', async (t) => {
  t.equal((await findRule('soif-2.3'))?.id, 'SOIF-2.3');
  t.equal(await findRule(MISSING), undefined);
  t.equal(await findRule('RFC-1'), undefined);
  const section = (await rulesNamed('SOIF-2')).map(({ id }) => id);
  t.ok(section.includes('SOIF-2.3'));
  t.ok(section.every((id) => id.startsWith('SOIF-2.')));
  const bulk = (await rulesNamed('bp')).map(({ id }) => id);
  t.ok(bulk.length > 5);
  t.ok(bulk.every((id) => id.startsWith('BP-')));
  await t.rejects(rulesNamed(MISSING), UsageError);
  await t.rejects(rulesNamed('XYZ-1'), UsageError);
});

t.test('`harvest spec RULE` prints text, evidence and cases', async (t) => {
  const { code, stdout } = await cli('spec', 'GATHERD-3.7');
  t.equal(code, 0);
  t.match(stdout, /^GATHERD-3\.7 MUST\n/);
  t.match(stdout, /\nRests on:\n {2}\S/);
  t.match(stdout, /\nCases of harvest conformance:\n {2}gatherd/);
  t.match(stdout, /\nprotocols\/gatherd\/specification\.md, line \d+: /);
});

t.test('`harvest spec --list` filters by level and basis; --json gives objects', async (t) => {
  const { stdout } = await cli('spec', 'S', '--level', 'MUST', '--basis', 'choice', '--json');
  const rules = jsonLines<{ id: string; level: string; evidence: { basis: string }[]; sentence: string }>(
    stdout,
  );
  t.ok(rules.length > 5, `${rules.length} rules`);
  for (const { id, level, evidence, sentence } of rules) {
    t.match(id, /^S-/);
    t.equal(level, 'MUST');
    t.ok(evidence.some(({ basis }) => basis === 'choice'));
    t.ok(sentence);
  }
  const listed = await cli('spec', 'S', '--level', 'MUST', '--basis', 'choice', '--list');
  t.equal(listed.stdout.split('\n').filter((line) => line.startsWith('S-')).length, rules.length);
});

t.test('`harvest spec` says what is wrong with a number', async (t) => {
  for (const [args, message] of [
    [[], 'RULE is required'],
    [[MISSING], `has no rule ${MISSING}`],
    [['nonsense'], 'no specification has rules named nonsense'],
  ] as const) {
    const { code, stderr } = await cli('spec', ...args);
    t.equal(code, 2);
    t.match(stderr, message);
  }
});
