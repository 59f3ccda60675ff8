// `npm run limits`: writes docs/limits.md.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderLimitsPage } from './limits-page.js';
import { ROOT } from './sources.js';

await writeFile(join(ROOT, 'docs/limits.md'), await renderLimitsPage());
