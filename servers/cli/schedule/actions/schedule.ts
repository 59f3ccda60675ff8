import { UsageError } from '../../../../protocols/errors.js';
import { EXIT } from '../../output/exit.js';
import { writeMessage } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';
import { HARVEST_PROGRAM } from '../../start-program.js';
import { PERIODS, type Period, readJobs } from '../jobs.js';
import { cronLine, spreadTimes, systemdUnits, type TimedJob, type TimeOfDay } from '../lines.js';

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

/** The action of `harvest schedule`; returns the exit status. */
export async function schedule(files: readonly string[], options: ScheduleOptions): Promise<number> {
  const harvest = [process.execPath, HARVEST_PROGRAM];
  const period: Period = PERIODS.find((name) => options[name]) ?? 'daily';
  const jobs = readJobs(files, period);
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
  for (const { warnings } of jobs) for (const warning of warnings) writeMessage(`warning: ${warning}`);
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
