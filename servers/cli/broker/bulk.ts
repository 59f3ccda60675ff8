import { Command, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { timeoutOption } from '../options/option-values.js';
import { peerAddress } from '../options/peer-address.js';
import { timestampOption } from '../options/timestamp-option.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Fetches the objects of a broker, as brokers do from each other, and writes them as SOIF in three groups: @DELETE (deleted
objects: their identity), @REFRESH (unchanged objects with newer times), @UPDATE (new and changed objects in full).
Standard error then shows how many objects were received, and the value of --since that fetches only later changes.

Examples:
  harvest bulk localhost:8501                     everything
  harvest bulk localhost --since 1735689600       what changed since the beginning of 2025
  harvest bulk localhost --query 'type : HTML'    only objects that match; the language is that of "harvest query"
  harvest bulk localhost --json | jq -r .url      one JSON object per line, as "harvest soif convert" writes it
  harvest bulk localhost --count                  only the counts, as one JSON line
  harvest bulk localhost --interface 2 --compress --output all.soif
                                                  over the interface proposed in 1995, compressed

Exit status: 0 complete; 1 the broker refused, or an object was left out because SOIF cannot hold its URL; 2 usage; 3 the broker cannot be reached or the transfer is not complete (the
objects received so far are written).
`;

/** `harvest bulk HOST[:PORT]` (BT-1 to BT-6, BP-29). */
export function bulkCommand(): Command {
  return new Command('bulk')
    .summary("fetch a broker's objects, or what changed of them")
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .option(
      '--since <timestamp>',
      'only what changed after this time, seconds since 1970-01-01 UTC',
      timestampOption,
      0,
    )
    .option('--query <query>', 'only objects that match (default: #ALLB, every object)')
    .option('--flags <flags>', "more flags of the message, e.g. '#index case insensitive'")
    .addOption(
      new Option('--interface <number>', 'result interface: 1 as shipped, 2 as proposed in 1995')
        .choices(['1', '2'])
        .default('1'),
    )
    .option('--compress', 'let the broker compress; needs --interface 2', false)
    .addOption(new Option('--json', 'one JSON object a line').default(false).conflicts('count'))
    .option('--count', 'print only the counts, as one JSON line', false)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--timeout <seconds>', 'give up if the transfer is not complete by then', timeoutOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/bulk.js')).bulk));
}
