// docs/limits.md is what the schemas say.
import t from 'tap';
import { words } from '../helpers/words.js';
import { renderLimitsPage } from './limits-page.js';
import { textOf } from './sources.js';

t.test('docs/limits.md lists every limit with its default (after a change: npm run limits)', async (t) => {
  const page = await renderLimitsPage();
  t.equal(textOf('docs/limits.md'), page);
  for (const name of words`Max-Results Collection-Max-Size ReceiveLimits.maxReceivedBytes --max-connections`)
    t.ok(page.includes(`\`${name}`), `${name} is listed`);
});
