import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { EXIT } from './exit.js';
import { integerOption } from './option-values.js';
import { readJobs } from './schedule/jobs.js';
import { cronLine, systemdUnits, type TimedJob } from './schedule/lines.js';
import { PERIODS, type Period, spreadTimes, type TimeOfDay } from './schedule/times.js';
import { StandardOutput } from './standard-output.js';
import { HARVEST_PROGRAM } from './start-program.js';

const HELP = `
Prints lines for cron, or units for systemd, that run Gatherers. FILE is a Gatherer's configuration file or a broker.conf. A
Broker among the files collects as soon as a Gatherer of its Collection.conf has finished, so new documents are searchable
before its next daily collection. Nothing is installed.

Documents that are not yet due (Refresh-Rate) are skipped, so a daily run requests each document at most once a week (the default
rate). The runs of several Gatherers are spread over --spread minutes.

Examples:
  harvest schedule site.cf broker/admin/broker.conf | crontab -      replaces your crontab
  harvest schedule --user harvest site.cf > /etc/cron.d/harvest
  harvest schedule --weekly --at 01:30 --systemd a.cf b.cf broker.conf
  harvest schedule --json site.cf                                    lines, units and times as JSON

Exit status: 0 done; 2 usage, or a file cannot be used.
`;

interface ScheduleOptions {
  readonly user?: string;
  readonly systemd: boolean;
  readonly cron: boolean;
  readonly json: boolean;
  readonly at: TimeOfDay;
  readonly spread: number;
  readonly daily: boolean;
  readonly weekly: boolean;
  readonly monthly: boolean;
}

/** `harvest schedule FILE...` (G-6, G-157). */
export function scheduleCommand(): Command {
  return new Command('schedule')
    .description('Prints cron lines or systemd units that run Gatherers and the following collections.')
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
    .action(async (files: string[], options: ScheduleOptions) => {
      process.exitCode = await schedule(files, options);
    });
}

async function schedule(files: readonly string[], options: ScheduleOptions): Promise<number> {
  const harvest = [process.execPath, HARVEST_PROGRAM];
  const jobs = readJobs(files);
  const period: Period = PERIODS.find((name) => options[name]) ?? 'daily';
  const times = spreadTimes(
    jobs.map(({ id }) => id),
    options.at,
    options.spread,
  );
  const timed = jobs.map(
    (job, i): TimedJob => ({ job, time: times[i] ?? options.at, period, user: options.user }),
  );
  for (const { file, directory } of jobs) {
    // Neither cron nor systemd can express a line break.
    if (/[\n\r]/.test(`${file}${directory}`)) throw new UsageError(`${file}: the path contains a line break`);
  }
  const output = new StandardOutput();
  if (options.json) {
    const entries = timed.map((entry) => ({
      ...entry.job,
      time: entry.time,
      period,
      cron: cronLine(entry, harvest),
      units: systemdUnits(entry, harvest),
    }));
    await output.write(`${JSON.stringify({ jobs: entries })}\n`);
  } else await output.write(options.systemd ? unitsText(timed, harvest) : cronText(timed, harvest));
  return EXIT.ok;
}

function cronText(timed: readonly TimedJob[], harvest: readonly string[]): string {
  return timed
    .map((entry) => {
      const { name, collections } = entry.job;
      const then = collections.map((collection) => `, then ${collection.name} collects`).join('');
      return `# ${name}${then}\n${cronLine(entry, harvest)}\n`;
    })
    .join('');
}

function unitsText(timed: readonly TimedJob[], harvest: readonly string[]): string {
  const texts = timed.flatMap((entry) =>
    systemdUnits(entry, harvest).map(({ name, content }) => `# /etc/systemd/system/${name}\n${content}`),
  );
  const timers = timed.map(({ job }) => `harvest-${job.id}.timer`).join(' ');
  return `${texts.join('\n')}\n# Then: systemctl daemon-reload && systemctl enable --now ${timers}\n`;
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
