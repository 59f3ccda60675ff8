// The level of a conformance case beside the levels of its rules: a case demands no more than they do, and no less
// without a reason.
import t from 'tap';
import { allRules, loadSuite, suiteNames } from '../../clients/conformance/index.js';
import { SHOULD_REASONS } from './should-reasons.js';

const levels = new Map((await allRules()).map(({ id, level }) => [id, level] as const));

t.test('a case that is a MUST rests on a rule that is one', async (t) => {
  for (const suite of await suiteNames())
    for (const { id, level, rules } of (await loadSuite(suite)).cases) {
      const found = rules.map((rule) => levels.get(rule));
      t.notOk(found.includes(undefined), `${suite} ${id}: its rules exist`);
      if (level === 'MUST') t.ok(found.includes('MUST'), `${suite} ${id}: ${rules.join(', ')}`);
    }
});

t.test('a case that is a SHOULD, all of whose rules are a MUST, has a reason', async (t) => {
  const lower: string[] = [];
  for (const suite of await suiteNames())
    for (const { id, level, rules } of (await loadSuite(suite)).cases)
      if (level === 'SHOULD' && rules.every((rule) => levels.get(rule) === 'MUST'))
        lower.push(`${suite} ${id}`);
  const reasons = SHOULD_REASONS.flatMap(([, cases]) =>
    Object.entries(cases).flatMap(([suite, ids]) => ids.map((id) => `${suite} ${id}`)),
  );
  t.same(lower.sort(), reasons.sort(), 'test/rules/should-reasons.ts has these cases and no others');
});
