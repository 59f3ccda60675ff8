import { Command, InvalidArgumentError, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { integerOption } from '../options/option-values.js';
import type { TimeOfDay } from './lines.js';

/** The commands of this file by name. */
export const DEFINITIONS = { schedule };

const HELP = `
Prints lines for cron, or units for systemd, that run Gatherers. FILE is a Gatherer's configuration
file or a broker.conf. A Broker among the files collects as soon as a Gatherer of its
Collection.conf has finished, so new documents are searchable before its next daily collection.
Nothing is installed.

Documents that are not yet due (Refresh-Rate) are skipped, so a daily run requests each document at
most once a week (the default rate). The runs of several Gatherers are spread over --spread minutes.

Examples:
  harvest schedule site.cf broker/admin/broker.conf | crontab -      replaces your crontab
  harvest schedule --user harvest site.cf > /etc/cron.d/harvest
  harvest schedule --weekly --at 01:30 --systemd a.cf b.cf broker.conf
  harvest schedule --json site.cf                                    lines, units and times as JSON

Exit status: 0 done; 2 usage, or a file cannot be used.
`;

/** `harvest schedule FILE...` (G-6, G-157). */
function schedule(): Command {
  return new Command('schedule')
    .description('Print cron lines or systemd units that run Gatherers and the following collections.')
    .argument('<file...>', "Gatherers' configuration files, and broker.conf files")
    .option('--user <name>', 'account for lines of /etc/cron.d, and User= of systemd', userOption)
    .addOption(new Option('--cron', 'lines of a crontab (the default)').default(false).conflicts('systemd'))
    .option('--systemd', 'a service and a timer for each Gatherer', false)
    .addOption(
      new Option('--at <time>', 'time of the first run, HH:MM')
        .argParser(timeOption)
        .default({ hour: 2, minute: 0 }, '02:00'),
    )
    .option('--spread <minutes>', 'minutes over which the runs are spread', integerOption, 60)
    .addOption(new Option('--daily', 'every day (the default)').default(false))
    .addOption(new Option('--weekly', 'on Sundays').default(false).conflicts(['daily', 'monthly']))
    .addOption(new Option('--monthly', 'on the first of a month').default(false).conflicts('daily'))
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/schedule.js')).schedule));
}

function timeOption(value: string): TimeOfDay {
  const match = /^(\d{1,2}):(\d{2})$/.exec(value);
  const [hour, minute] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || hour > 23 || minute > 59) throw new InvalidArgumentError('must be HH:MM');
  return { hour, minute };
}

function userOption(value: string): string {
  if (!/^[A-Za-z_][\w.-]{0,31}$/.test(value))
    throw new InvalidArgumentError('must be the name of an account');
  return value;
}
