import { openApiDocument } from '../../../crawler/console/openapi.js';
import { StandardOutput } from '../../output/standard-output.js';

/** The action of `harvest crawl openapi`. */
export async function openapi(): Promise<void> {
  await new StandardOutput().write(`${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
}
