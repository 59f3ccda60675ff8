// The level of a conformance case beside the levels of its rules: a case demands no more than they do.
import t from 'tap';
import { allRules, loadSuite, suiteNames } from '../../clients/conformance/index.js';

const levels = new Map((await allRules()).map(({ id, level }) => [id, level] as const));

t.test('a case that is a MUST rests on a rule that is one', async (t) => {
  for (const suite of await suiteNames())
    for (const { id, level, rules } of (await loadSuite(suite)).cases) {
      const found = rules.map((rule) => levels.get(rule));
      t.notOk(found.includes(undefined), `${suite} ${id}: its rules exist`);
      if (level === 'MUST') t.ok(found.includes('MUST'), `${suite} ${id}: ${rules.join(', ')}`);
    }
});
