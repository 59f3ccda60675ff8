import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
A disk may return other bytes than were written, and files may be cut or deleted. The servers compare checksums when they open a
store, and refuse a damaged one without changing it. DIR is the directory of a Gatherer or a Broker, or any directory below it.

What to do when a server reports damage:
  1. Stop the server, and copy DIR if you can: a failing disk gets worse.
  2. harvest store check DIR             what is damaged?
  3. harvest store repair DIR            how much can be saved?
  4. harvest store repair --replace DIR  use the repaired store
  5. Start the server. The Gatherer fetches, or the Broker collects, what was lost.

Exit status: 0 the stores are sound, or were repaired; 1 damage, or a failure; 2 usage; 130 interrupted.
`;

/** `harvest store check|repair`. */
export function storeCommand(): Command {
  return new Command('store')
    .summary('check the files of a gatherer or broker for damage, and repair them')
    .addHelpText('after', HELP)
    .addCommand(checkCommand())
    .addCommand(repairCommand());
}

const CHECK_HELP = `
Reads every file below DIR that has checksums: stores, published generations and references, closed indexes; checkpoints, recovery
journals, WARC files and seen filters of crawls. Then compares the tables of each store: objects with the Registry and the lists of URLs and times, summaries with their URLs, counters
with rows. Changes nothing. The server must not run; its published generations are checked all the same if you name their directory.

An index has checksums after its Broker was stopped in good order; otherwise the Broker compares its pages when it starts. A damaged
index needs no repair: the Broker makes it again.

--json prints a line for each store: directory, kind, bytes, objects, problems, advice.

Examples:
  harvest store check ./broker
  harvest store check ./gatherer/generations
  harvest store check --json ./gatherer | jq -r '.problems[]'

Exit status: 0 sound; 1 damage; 2 usage; 130 interrupted.
`;

function checkCommand(): Command {
  return new Command('check')
    .description('Reads all stores of a directory and compares them with their checksums.')
    .argument('<dir>', 'directory of a gatherer or a broker')
    .option('--json', 'print a JSON line for each store', false)
    .addHelpText('after', CHECK_HELP)
    .action(lazyAction(async () => (await import('./actions/store.js')).checkStore));
}

const REPAIR_HELP = `
Copies the rows that match their checksums into a new store beside the damaged one, DIR/store.repaired-TIME, makes its tables agree
with each other, and says how many objects were saved. The damaged files are only read. With --replace the repaired store takes the
place of the damaged one, which is kept as DIR/store.damaged-TIME; delete it when everything works.

Lost objects come back by themselves: a Broker collects everything at its next collection, a Gatherer fetches documents again that
have no summary. Stores without damage are left alone; --force also repairs those whose tables contradict each other. Generations,
references and indexes are not repaired, because they are made again from the store: generations and references at the next
publication, the index when the Broker starts.

Examples:
  harvest store repair ./broker
  harvest store repair --replace ./broker

Exit status: 0 done; 1 failure; 2 usage; 130 interrupted.
`;

function repairCommand(): Command {
  return new Command('repair')
    .description('Saves what can be read of damaged stores.')
    .argument('<dir>', 'directory of a gatherer or a broker')
    .option('--replace', 'put the repaired store in the place of the damaged one', false)
    .option('--force', 'also repair stores whose files are sound', false)
    .option('--json', 'print a JSON line for each store', false)
    .addHelpText('after', REPAIR_HELP)
    .action(lazyAction(async () => (await import('./actions/store.js')).repairStore));
}
