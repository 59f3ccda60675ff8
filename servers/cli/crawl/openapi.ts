import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
A running crawl serves the same document at /api/openapi.json of its console. console.json below the crawl's directory has the
console's address and the token for the header "Authorization: Bearer TOKEN".

Examples:
  harvest crawl openapi > console.openapi.json
  curl -H "Authorization: Bearer $(jq -r .token DIR/crawl/console.json)" "$(jq -r .url DIR/crawl/console.json)api/snapshot"

Exit status: 0 done.
`;

/** `harvest crawl openapi`: prints the description of the console's interface for programs. */
export function openapiCommand(): Command {
  return new Command('openapi')
    .summary("print the OpenAPI document of the console's interface")
    .description("Prints the OpenAPI 3.1 document of the console's interface for programs.")
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/openapi.js')).openapi));
}
